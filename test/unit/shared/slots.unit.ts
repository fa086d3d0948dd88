import { expect, test } from '@jest/globals'
import { createSlots } from '../../../shared/slots.ts'

const never = new AbortController().signal
/** Lets everything that is due run. */
const turn = (): Promise<void> => new Promise(setImmediate)

test('at most so many tasks run at a time, in their order', async () => {
  const slots = createSlots(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const tasks = [0, 1, 2, 3].map((at) =>
    slots.run(async () => {
      begun.push(at)
      await new Promise<void>((resolve) => ends.push(resolve))
    }, never),
  )
  await turn()
  expect(begun).toEqual([0, 1])
  ends[1]?.()
  await tasks[1]
  await turn()
  expect(begun).toEqual([0, 1, 2])
  ends[0]?.()
  await tasks[0]
  await turn()
  expect(begun).toEqual([0, 1, 2, 3])
  for (const end of ends) end()
  await Promise.all(tasks)
})

test('a task that fails gives its slot back', async () => {
  const slots = createSlots(1)
  await expect(slots.run(() => Promise.reject(new Error('no')), never)).rejects.toThrow('no')
  expect(await slots.run(async () => 'done', never)).toBe('done')
})

test('one that waits gives up with the reason of its signal, and takes no slot', async () => {
  const slots = createSlots(1)
  const stop = new AbortController()
  let end = (): void => undefined
  const running = slots.run(() => new Promise<void>((resolve) => (end = resolve)), never)
  const waiting = slots.run(async () => 'never', stop.signal)
  stop.abort(new Error('shutting down'))
  await expect(waiting).rejects.toThrow('shutting down')
  end()
  await running
  expect(await slots.run(async () => 'done', never)).toBe('done')
})

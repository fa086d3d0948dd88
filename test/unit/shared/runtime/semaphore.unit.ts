import { expect, test } from 'vitest'
import { createSemaphore } from '../../../../shared/runtime/semaphore.ts'

const never = new AbortController().signal
/** Lets everything that is due run. */
const turn = (): Promise<void> => new Promise(setImmediate)

test('at most so many tasks run at a time, in their order', async () => {
  const semaphore = createSemaphore(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const tasks = [0, 1, 2, 3].map((at) =>
    semaphore.run(async () => {
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
  const semaphore = createSemaphore(1)
  await expect(semaphore.run(() => Promise.reject(new Error('no')), never)).rejects.toThrow('no')
  expect(await semaphore.run(async () => 'done', never)).toBe('done')
})

test('one that waits gives up with the reason of its signal, and takes no slot', async () => {
  const semaphore = createSemaphore(1)
  const stop = new AbortController()
  let end = (): void => undefined
  const running = semaphore.run(() => new Promise<void>((resolve) => (end = resolve)), never)
  const waiting = semaphore.run(async () => 'never', stop.signal)
  stop.abort(new Error('shutting down'))
  await expect(waiting).rejects.toThrow('shutting down')
  end()
  await running
  expect(await semaphore.run(async () => 'done', never)).toBe('done')
})

test('owners take turns; one of whose tasks none waits any more has none', async () => {
  const semaphore = createSemaphore(1)
  const begun: string[] = []
  const stop = new AbortController()
  const run = (name: string, owner: string, signal = never) =>
    semaphore.run(async () => void begun.push(name), signal, owner)
  const tasks = [run('a1', 'a'), run('a2', 'a'), run('b1', 'b', stop.signal), run('a3', 'a'), run('c1', 'c')]
  stop.abort(new Error('gone'))
  await Promise.allSettled([...tasks, run('a4', 'a'), run('c2', 'c')])
  expect(begun).toEqual(['a1', 'a2', 'c1', 'a3', 'c2', 'a4'])
})

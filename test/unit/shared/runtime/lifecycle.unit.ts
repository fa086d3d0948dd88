import { expect, test } from 'vitest'
import { type Service, startAll, stoppedTogether } from '../../../../shared/runtime/lifecycle.ts'

/** Services that note what is asked of them; a stop lasts until it is told to end. */
function servicesOf(names: readonly string[], failing = '') {
  const calls: string[] = []
  const ends: (() => void)[] = []
  const services = names.map(
    (name): Service => ({
      name,
      start: async () => void calls.push(`start ${name}`),
      stop: async (deadline) => {
        calls.push(`stop ${name} by ${deadline}`)
        await new Promise<void>((resolve) => void ends.push(resolve))
        if (name === failing) throw new Error(`${name} failed`)
      },
    }),
  )
  return { calls, end: () => ends.map((end) => end()), services }
}

test('services that are stopped together start in order and have the whole time to stop, each', async () => {
  const { calls, end, services } = servicesOf(['one', 'other'])
  const both = stoppedTogether('both', services)
  await both.start()
  const stopped = both.stop(7)
  expect(calls).toEqual(['start one', 'start other', 'stop one by 7', 'stop other by 7'])
  end()
  await stopped
})

test('one that fails to stop is told, after the others have stopped', async () => {
  const { end, services } = servicesOf(['one', 'other'], 'one')
  const stopped = stoppedTogether('both', services).stop(7)
  end()
  await expect(stopped).rejects.toThrow('one failed')
})

test('a service that does not start is told, even if one before it fails to stop', async () => {
  const stuck: Service = { name: 'stuck', start: async () => {}, stop: () => Promise.reject(new Error('stuck failed')) }
  const broken: Service = { name: 'broken', start: () => Promise.reject(new Error('no start')), stop: async () => {} }
  await expect(startAll([stuck, broken])).rejects.toThrow('no start')
})

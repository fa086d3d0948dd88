import { expect, test } from 'vitest'
import { backoffMs, pauseUnlessAborted } from '../../../../../shared/log-store/elasticsearch/retrying.ts'

test('the ceiling doubles from 200 ms to 30 s and stays there', () => {
  const ceilings = [1, 2, 3, 4, 7, 8, 9, 1_000].map((attempt) => backoffMs(attempt, () => 1))
  expect(ceilings).toEqual([200, 400, 800, 1_600, 12_800, 25_600, 30_000, 30_000])
})

test('the wait is anything below the ceiling', () => {
  expect([0, 0.25, 0.5].map((random) => backoffMs(2, () => random))).toEqual([0, 100, 200])
})

test('a pauseUnlessAborted that is aborted rejects with the reason of the signal', async () => {
  const stop = new AbortController()
  const paused = pauseUnlessAborted(60_000, stop.signal)
  stop.abort(new Error('shutting down'))
  await expect(paused).rejects.toThrow('shutting down')
  await expect(pauseUnlessAborted(60_000, stop.signal)).rejects.toThrow('shutting down')
})

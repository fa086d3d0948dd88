import { expect, test } from 'vitest'
import { AnswerTooLongError } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { askForFewer, backoffMs, pauseUnlessAborted } from '../../../../../shared/log-store/elasticsearch/retrying.ts'

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

test('after each answer that is too long a quarter is asked for, down to one; any other failure is thrown', async () => {
  const asked: number[] = []
  const ask = (fitting: number, failure: Error) => async (count: number) => {
    asked.push(count)
    if (count > fitting) throw failure
    return count
  }
  const tooLong = new AnswerTooLongError('it answers too much')
  expect(await askForFewer(250, ask(1, tooLong))).toBe(1)
  expect(asked.splice(0)).toEqual([250, 63, 16, 4, 1])
  expect(await askForFewer(5, ask(5, tooLong))).toBe(5)
  await expect(askForFewer(5, ask(1, new Error('no')))).rejects.toThrow('no')
  expect(asked).toEqual([5, 5])
})

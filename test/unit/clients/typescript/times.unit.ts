import { expect, test } from 'vitest'
import { createTimestamps } from '../../../../clients/typescript/src/times.ts'
import { compareTimestamps, parseTimestamp } from '../../../../shared/contract/timestamp.ts'

test('the entries of a millisecond have an order, and a millisecond has its own time', () => {
  const timestampOf = createTimestamps()
  const made = [5, 5, 5, 6, 6].map(timestampOf)
  expect(made).toEqual([
    '1970-01-01T00:00:00.005Z',
    '1970-01-01T00:00:00.005000001Z',
    '1970-01-01T00:00:00.005000002Z',
    '1970-01-01T00:00:00.006Z',
    '1970-01-01T00:00:00.006000001Z',
  ])
})

test('the server reads them as they are, in their order', () => {
  const timestampOf = createTimestamps()
  const read = Array.from({ length: 1_000 }, () => parseTimestamp(timestampOf(1_795_281_613_127.9) ?? '') ?? '')
  expect(read).toEqual(read.toSorted(compareTimestamps))
  expect(new Set(read).size).toBe(1_000)
})

test('the last time that the server takes is one', () => {
  const last = createTimestamps()(Date.UTC(2262, 0) - 1) ?? ''
  expect(parseTimestamp(last)).toBe(last)
})

test.each([Number.NaN, 1e300, Number.NEGATIVE_INFINITY, -1, Date.UTC(2262, 0), 1e15])('%p is no time', (number) => {
  expect(createTimestamps()(number)).toBeUndefined()
})

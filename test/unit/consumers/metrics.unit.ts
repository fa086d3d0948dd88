import { describe, expect, test } from 'vitest'
import { createLag } from '../../../consumers/metrics.ts'

describe('the wait of the oldest record', () => {
  test('is that of what is at hand, the longest of all partitions', () => {
    const lag = createLag()
    expect(lag.seconds(10_000)).toBe(0)
    lag.reading('a/0', 5, 7_000)
    lag.reading('a/1', 5, 9_000)
    expect(lag.seconds(10_000)).toBe(3)
    lag.idle('a/0')
    expect(lag.seconds(10_000)).toBe(1)
  })

  test('is never below zero, whatever a clock elsewhere says', () => {
    const lag = createLag()
    lag.reading('a/0', 5, 20_000)
    expect(lag.seconds(10_000)).toBe(0)
  })

  test('of a partition that nobody reads grows from when it was first seen to stand still', () => {
    const lag = createLag()
    lag.observed('a/0', 5, 2, 1_000)
    lag.observed('a/0', 5, 3, 4_000)
    expect(lag.seconds(4_000)).toBe(3)
    lag.observed('a/0', 6, 2, 5_000)
    expect(lag.seconds(5_000)).toBe(0)
    lag.observed('a/0', 8, 0, 6_000)
    expect(lag.seconds(9_000)).toBe(0)
  })

  test('of a position that stands still grows, although the clock of its record is ahead, until records after it are at hand', () => {
    const lag = createLag()
    lag.reading('a/0', 5, 3_600_000)
    lag.observed('a/0', 5, 2, 1_000)
    lag.observed('a/0', 5, 3, 4_000)
    expect(lag.seconds(4_000)).toBe(3)
    lag.reading('a/0', 6, 3_600_000)
    expect(lag.seconds(5_000)).toBe(0)
  })

  test('grows again at once after the clock was set back', () => {
    const lag = createLag()
    lag.observed('a/0', 5, 2, 86_400_000)
    lag.observed('a/0', 5, 2, 1_000)
    lag.observed('a/0', 5, 3, 4_000)
    expect(lag.seconds(4_000)).toBe(3)
  })

  test('of what is at hand is forgotten once another member has gone past it', () => {
    const lag = createLag()
    lag.reading('a/0', 5, 0)
    lag.observed('a/0', 5, 3, 1_000)
    expect(lag.seconds(2_000)).toBe(2)
    lag.observed('a/0', 6, 2, 2_000)
    expect(lag.seconds(3_000)).toBe(1)
    lag.observed('a/0', 8, 0, 3_000)
    expect(lag.seconds(4_000)).toBe(0)
  })
})

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LEVELS, type Level } from '../../../../../shared/contract/levels.ts'
import type { Histogram } from '../../../../../views/schemas/answers.ts'
import { barsOf, bucketAt, HEIGHT, rangeOf, ticksOf } from '../../../../../views/web/logs/bars.ts'

const START = Date.parse('2026-01-31T09:00:00Z')

function histogram(counts: readonly Partial<Record<Level, number>>[], interval = 60_000): Histogram {
  const buckets = counts.map((levels, index) => ({
    from: new Date(START + index * interval).toISOString(),
    levels,
    total: Object.values(levels).reduce((sum, count) => sum + count, 0),
  }))
  return { interval, buckets, total: buckets.reduce((sum, { total }) => sum + total, 0) }
}

const levels = fc.record(
  Object.fromEntries(LEVELS.map((level) => [level, fc.oneof(fc.nat(3), fc.nat(100_000))])) as Record<
    Level,
    fc.Arbitrary<number>
  >,
  { requiredKeys: [] },
)

describe('the bars of a histogram', () => {
  test('the tallest has the whole height, and its most severe level stands at the foot', () => {
    const [first, second, third] = barsOf(histogram([{ Information: 6, Error: 2 }, { Information: 4 }, {}]))
    expect(first).toEqual([
      { level: 'Error', y: 75, height: 25 },
      { level: 'Information', y: 0, height: 75 },
    ])
    expect(second).toEqual([{ level: 'Information', y: 50, height: 50 }])
    expect(third).toEqual([])
  })

  test('one error among a hundred thousand is seen', () => {
    const [bar] = barsOf(histogram([{ Information: 100_000, Error: 1 }]))
    expect(bar).toEqual([
      { level: 'Error', y: 97, height: 3 },
      { level: 'Information', y: 0, height: 97 },
    ])
  })

  test('any counts: segments follow each other from the foot, none out of the drawing, none too thin to see', () => {
    fc.assert(
      fc.property(fc.array(levels, { minLength: 1, maxLength: 8 }), (counts) => {
        for (const bar of barsOf(histogram(counts))) {
          let foot = HEIGHT
          for (const { y, height } of bar) {
            expect(y + height).toBeCloseTo(foot, 6)
            expect(height).toBeGreaterThan(1)
            foot = y
          }
          expect(foot).toBeGreaterThan(-0.000001)
        }
      }),
    )
  })
})

describe('the brush', () => {
  const three = histogram([{}, {}, {}])

  test.each([
    [0, 0],
    [0.3, 0],
    [0.34, 1],
    [0.99, 2],
    [1, 2],
    [1.5, 2],
    [-1, 0],
  ])('at %j of the width is bucket %j', (part, expected) => {
    expect(bucketAt(three, part)).toBe(expected)
  })

  test('covers whole buckets, in either direction', () => {
    const range = { from: '2026-01-31T09:01:00.000Z', to: '2026-01-31T09:03:00.000Z' }
    expect(rangeOf(three, 1, 2)).toEqual(range)
    expect(rangeOf(three, 2, 1)).toEqual(range)
    expect(rangeOf(three, 1, 1)).toEqual({ from: range.from, to: '2026-01-31T09:02:00.000Z' })
    expect(rangeOf(histogram([]), 0, 0)).toBeUndefined()
  })

  test('any drag covers what is under it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (a, b) => {
        const counts = histogram(Array.from({ length: 60 }, () => ({})))
        const range = rangeOf(counts, bucketAt(counts, a), bucketAt(counts, b))
        const width = 60 * 60_000
        expect(Date.parse(range?.from ?? '')).toBeLessThanOrEqual(START + Math.min(a, b) * width)
        expect(Date.parse(range?.to ?? '')).toBeGreaterThanOrEqual(START + Math.max(a, b) * width)
      }),
    )
  })
})

describe('the times below the drawing', () => {
  const counts = histogram(Array.from({ length: 48 }, () => ({})))
  const minutes = (now: number): readonly number[] => ticksOf(counts, now).map(({ at }) => (at - START) / 60_000)

  test('are those of buckets, evenly apart, and none sticks out', () => {
    expect(minutes(START + 1e9)).toEqual([0, 8, 16, 24, 32, 40])
    expect(ticksOf(counts, START + 1e9).map(({ part }) => part)).toEqual([0, 8, 16, 24, 32, 40].map((at) => at / 48))
  })

  test('are none of the future', () => {
    expect(minutes(START + 20 * 60_000)).toEqual([0, 8, 16])
  })

  test('are none of a drawing without buckets', () => {
    expect(ticksOf(histogram([]), START)).toEqual([])
  })
})

import { describe, expect, test } from 'vitest'
import { LEVELS, type Level } from '../../../../../shared/contract/levels.ts'
import type { Histogram } from '../../../../../views/schemas/answers.ts'
import { barsOf, HEIGHT } from '../../../../../views/web/logs/bars.ts'
import * as fc from '../../../../support/fast-check.ts'

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

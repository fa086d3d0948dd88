import { describe, expect, test } from 'vitest'
import { LEVELS, type Level } from '../../../../../shared/contract/levels.ts'
import type { Histogram } from '../../../../../views/schemas/answers.ts'
import { barsOf, HEIGHT, type Segment } from '../../../../../views/web/logs/bars.ts'
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

const heightOf = (bar: readonly Segment[]): number => bar.reduce((sum, { height }) => sum + height, 0)

describe('the bars of a histogram', () => {
  test('the tallest has the whole height, and its most severe level stands at the foot', () => {
    const [first, second, third] = barsOf(histogram([{ Information: 6, Error: 2 }, { Information: 4 }, {}])).bars
    expect(first).toEqual([
      { level: 'Error', y: 75, height: 25 },
      { level: 'Information', y: 0, height: 75 },
    ])
    expect(second).toEqual([{ level: 'Information', y: 50, height: 50 }])
    expect(third).toEqual([])
  })

  test('one error among a hundred thousand is seen', () => {
    const [bar] = barsOf(histogram([{ Information: 100_000, Error: 1 }])).bars
    expect(bar).toEqual([
      { level: 'Error', y: 97.5, height: 2.5 },
      { level: 'Information', y: 0, height: 97.5 },
    ])
  })

  test('bars of few logs are enlarged beside a burst, and are not as high as those of more', () => {
    const few = { Debug: 2, Information: 5, Warning: 1, Error: 1 }
    const uneven = barsOf(histogram([{ Information: 3_600 }, few, few, { Information: 36 }]))
    expect(uneven.areEnlarged).toBe(true)
    expect(uneven.bars.map(heightOf)).toEqual([100, 5, 5, 10])
    expect(barsOf(histogram([{ Information: 10 }, { Information: 1 }, {}])).areEnlarged).toBe(false)
  })

  test('bars that are enlarged stay so until they are clearly more even', () => {
    const areEnlarged = (highest: number, before: boolean): boolean =>
      barsOf(histogram([{ Debug: highest }, { Debug: 10 }, { Debug: 10 }]), before).areEnlarged
    expect([101, 99, 101].map((highest) => areEnlarged(highest, true))).toEqual([true, true, true])
    expect([areEnlarged(99, false), areEnlarged(49, true)]).toEqual([false, false])
  })

  test('any counts: more logs are never lower, segments follow each other from the foot, the worst can be seen', () => {
    fc.assert(
      fc.property(fc.array(levels, { minLength: 1, maxLength: 8 }), (counts) => {
        const { buckets, ...rest } = histogram(counts)
        const { bars } = barsOf({ buckets, ...rest })
        const heights = bars.map(heightOf)
        buckets.forEach(({ total }, index) => {
          for (const [other, { total: less }] of buckets.entries())
            if (less < total) expect(heights[other]).toBeLessThan((heights[index] ?? 0) + 1e-6)
          let foot = HEIGHT
          for (const { y, height } of bars[index] ?? []) {
            expect(y + height).toBeCloseTo(foot, 6)
            foot = y
          }
          expect(foot).toBeGreaterThan(-1e-6)
          if (total > 0) expect(bars[index]?.[0]?.height).toBeGreaterThan(2.4)
        })
      }),
    )
  })
})

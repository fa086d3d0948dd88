import { describe, expect, test } from 'vitest'
import { segmentsOf } from '../../../../../views/flow-layout/gaps.ts'
import { createTimeScale } from '../../../../../views/flow-layout/time-scale.ts'
import {
  clipSegments,
  panned,
  type TimeWindow,
  WINDOW_MIN_MS,
  windowAt,
  zoomed,
} from '../../../../../views/web/flow/time-window.ts'
import * as fc from '../../../../support/fast-check.ts'

const LAST = 100_000
const GAPS = [
  { from: 10_000, to: 50_000 },
  { from: 60_000, to: 90_000 },
]
/** Three times ten seconds of activity in a hundred. */
const SEGMENTS = segmentsOf(0, LAST, GAPS)
const FIT = createTimeScale(SEGMENTS, 1_000)
const WHOLE = { from: 0, to: LAST }

const near = (window: TimeWindow | undefined, from: number, to: number): void => {
  expect(window?.from).toBeCloseTo(from, 3)
  expect(window?.to).toBeCloseTo(to, 3)
}

describe('zooming', () => {
  test('keeps the time under the pointer where it is', () => {
    near(zoomed(FIT, { from: 2_000, to: 6_000 }, 0.5, 4_000), 3_000, 5_000)
    near(zoomed(FIT, { from: 2_000, to: 6_000 }, 0.5, 2_000), 2_000, 4_000)
    near(zoomed(FIT, { from: 2_000, to: 6_000 }, 2, 4_000), 0, 8_000)
  })

  test('out and in again comes back, and ends at the whole', () => {
    const inner = { from: 52_000, to: 56_000 }
    const out = zoomed(FIT, inner, 3, 54_000)
    near(zoomed(FIT, out!, 1 / 3, 54_000), inner.from, inner.to)
    expect(zoomed(FIT, inner, 1_000, 54_000)).toBeUndefined()
  })

  test('ends where a window is as short as one can be', () => {
    const { from, to } = zoomed(FIT, WHOLE, 1e-9, 55_000)!
    expect(to - from).toBeCloseTo(WINDOW_MIN_MS, 3)
    expect((from + to) / 2).toBeCloseTo(55_000, 0)
  })
})

describe('panning', () => {
  test('moves by shares of the window and stops at the ends', () => {
    near(panned(FIT, { from: 2_000, to: 4_000 }, 0.5), 3_000, 5_000)
    near(panned(FIT, { from: 2_000, to: 4_000 }, -9), 0, 2_000)
    near(panned(FIT, { from: 2_000, to: 4_000 }, 99), LAST - 2_000, LAST)
  })
})

describe('a window', () => {
  test('is none where it holds everything, or where no time passes', () => {
    expect(windowAt(FIT, -5, 1_005)).toBeUndefined()
    expect(windowAt(createTimeScale([{ from: 7, to: 7, folded: false }], 1_000), 500, 500)).toBeUndefined()
  })

  test('cuts the segments, folded ones as a whole or not at all', () => {
    expect(clipSegments(SEGMENTS, undefined)).toBe(SEGMENTS)
    expect(clipSegments(SEGMENTS, { from: 3_000, to: 55_000 })).toEqual([
      { from: 3_000, to: 10_000, folded: false },
      { from: 10_000, to: 50_000, folded: true },
      { from: 50_000, to: 55_000, folded: false },
    ])
    expect(clipSegments(SEGMENTS, { from: 20_000, to: 55_000 })).toEqual([{ from: 50_000, to: 55_000, folded: false }])
    expect(clipSegments(SEGMENTS, { from: 20_000, to: 30_000 })).toEqual([{ from: 20_000, to: 30_000, folded: false }])
  })

  test('lies within the flow, the right way round, and cuts segments that follow one another', () => {
    const places = fc.tuple(
      fc.double({ min: -100, max: 1_100, noNaN: true }),
      fc.double({ min: 0, max: 900, noNaN: true }),
    )
    fc.assert(
      fc.property(places, fc.double({ min: 0.05, max: 5, noNaN: true }), ([x, length], factor) => {
        const start = windowAt(FIT, x, x + length) ?? WHOLE
        for (const window of [start, zoomed(FIT, start, factor, start.from), panned(FIT, start, factor)]) {
          if (window === undefined) continue
          expect(window.to - window.from).toBeGreaterThan(0)
          expect(window.from).toBeGreaterThanOrEqual(-WINDOW_MIN_MS / 2)
          expect(window.to).toBeLessThanOrEqual(LAST + WINDOW_MIN_MS / 2)
          const clipped = clipSegments(SEGMENTS, window)
          for (const [index, { from, to }] of clipped.entries()) {
            expect(from).toBe(clipped[index - 1]?.to ?? from)
            expect(to).toBeGreaterThanOrEqual(from)
          }
        }
      }),
    )
  })
})

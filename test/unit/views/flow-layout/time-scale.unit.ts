import { describe, expect, test } from 'vitest'
import { findGaps, segmentsOf } from '../../../../views/flow-layout/gaps.ts'
import { createTimeScale, FOLDED_PX, type Segment } from '../../../../views/flow-layout/time-scale.ts'
import * as fc from '../../../support/fast-check.ts'
import { START } from '../web/flow/flow-fixture.ts'

const active = (from: number, to: number): Segment => ({ from, to, folded: false })
const folded = (from: number, to: number): Segment => ({ from, to, folded: true })

/** Bursts of logs with idle times between them, as segments with folds. */
const flows = fc
  .array(fc.integer({ min: 0, max: 3_600_000 }), { minLength: 1, maxLength: 60 })
  .map((steps) => {
    let at = START
    return steps.map((step) => (at += step))
  })
  .map((times) => ({ times, segments: segmentsOf(times[0]!, times.at(-1)!, findGaps(times)) }))

const widths = fc.integer({ min: 120, max: 4_000 })

describe('the time scale', () => {
  test('is linear within a segment and gives a fold its own width', () => {
    const scale = createTimeScale([active(0, 1_000), folded(1_000, 90_000), active(90_000, 93_000)], 1_000)
    const [first, fold, last] = scale.segments
    expect(fold!.x1 - fold!.x0).toBe(FOLDED_PX)
    expect(scale.project(500)).toBeCloseTo((first!.x0 + first!.x1) / 2)
    // Three times the time, three times the room, but for the margins.
    expect(scale.project(93_000) - scale.project(90_000)).toBeCloseTo(3 * (scale.project(1_000) - scale.project(0)))
    expect(scale.project(45_500)).toBeCloseTo((fold!.x0 + fold!.x1) / 2)
    expect(last!.x1).toBeCloseTo(1_000)
  })

  test('puts a single instant into the middle', () => {
    const scale = createTimeScale([active(5, 5)], 400)
    expect(scale.project(5)).toBe(200)
    expect(scale.unproject(13)).toBe(5)
  })

  test('draws times beyond at the ends', () => {
    const scale = createTimeScale([active(10, 20)], 400)
    expect(scale.project(0)).toBe(scale.project(10))
    expect(scale.project(99)).toBe(scale.project(20))
    expect(scale.project(Number.NEGATIVE_INFINITY)).toBe(scale.project(10))
    expect(scale.project(Number.POSITIVE_INFINITY)).toBe(scale.project(20))
  })

  test('finds every time again, wherever it is', () => {
    fc.assert(
      fc.property(flows, widths, fc.double({ min: 0, max: 1, noNaN: true }), ({ segments }, width, share) => {
        const scale = createTimeScale(segments, width)
        const from = segments[0]!.from
        const to = segments.at(-1)!.to
        const at = from + share * (to - from)
        const precision = Math.max(0.01, (to - from) * 1e-9)
        expect(Math.abs(scale.unproject(scale.project(at)) - at)).toBeLessThanOrEqual(precision)
      }),
    )
  })

  test('is monotone in both directions and stays within its width', () => {
    fc.assert(
      fc.property(
        flows,
        widths,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        ({ times, segments }, width, shares) => {
          const scale = createTimeScale(segments, width)
          const xs = times.map(scale.project)
          expect(xs).toEqual(xs.toSorted((a, b) => a - b))
          for (const x of xs) expect(x >= 0 && x <= width + 1e-6).toBe(true)
          const ats = shares.toSorted((a, b) => a - b).map((share) => scale.unproject(share * width))
          expect(ats).toEqual(ats.toSorted((a, b) => a - b))
        },
      ),
    )
  })

  test('leaves at least a third to what is not idle, however many folds there are', () => {
    fc.assert(
      fc.property(flows, widths, ({ segments }, width) => {
        const { segments: placed } = createTimeScale(segments, width)
        const room = placed.filter((one) => !one.folded).reduce((total, { x0, x1 }) => total + x1 - x0, 0)
        expect(room).toBeGreaterThanOrEqual(width / 3)
        expect(placed.at(-1)!.x1).toBeCloseTo(width, 4)
      }),
    )
  })
})

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { segmentsOf } from '../../../../../views/web/flow/gaps.ts'
import {
  clipSegments,
  isWhole,
  panWindow,
  WINDOW_MIN_MS,
  wholeOf,
  windowBetween,
  zoomWindow,
} from '../../../../../views/web/flow/time-window.ts'

const GAPS = [
  { from: 100, to: 5_000 },
  { from: 5_100, to: 9_000 },
]
/** 300 ms of activity in 9.1 s. */
const SEGMENTS = segmentsOf(0, 9_100, GAPS, () => true)
const WHOLE = { from: 0, to: 9_100 }

describe('zooming', () => {
  test('keeps the time under the pointer where it is', () => {
    expect(zoomWindow(SEGMENTS, WHOLE, 0.5, 0)).toEqual({ from: 0, to: 5_050 })
    expect(zoomWindow(SEGMENTS, WHOLE, 0.5, 9_100)).toEqual({ from: 5_050, to: 9_100 })
    expect(zoomWindow(SEGMENTS, { from: 0, to: 100 }, 0.5, 50)).toEqual({ from: 25, to: 75 })
  })

  test('out and in again comes back, and ends at the whole', () => {
    const inner = { from: 5_010, to: 5_060 }
    const out = zoomWindow(SEGMENTS, inner, 2, 5_035)
    expect(out).toEqual({ from: 4_985 - 4_900, to: 5_085 })
    expect(zoomWindow(SEGMENTS, out, 0.5, 5_035)).toEqual(inner)
    expect(isWhole(SEGMENTS, zoomWindow(SEGMENTS, inner, 1_000, 5_035))).toBe(true)
  })

  test('ends at a millisecond', () => {
    const { from, to } = zoomWindow(SEGMENTS, WHOLE, 1e-9, 5_050)
    expect(to - from).toBeCloseTo(WINDOW_MIN_MS)
  })
})

describe('panning', () => {
  test('crosses what is folded and stops at the ends', () => {
    expect(panWindow(SEGMENTS, { from: 0, to: 100 }, 1)).toEqual({ from: 5_000, to: 5_100 })
    expect(panWindow(SEGMENTS, { from: 0, to: 100 }, -1)).toEqual({ from: 0, to: 100 })
    expect(panWindow(SEGMENTS, { from: 0, to: 100 }, 99)).toEqual({ from: 9_000, to: 9_100 })
  })
})

describe('a window between two times', () => {
  test('takes them in either order and moves its ends out of what is folded', () => {
    expect(windowBetween(SEGMENTS, 60, 20)).toEqual({ from: 20, to: 60 })
    expect(windowBetween(SEGMENTS, 50, 3_000)).toEqual({ from: 50, to: 100 })
    expect(windowBetween(SEGMENTS, 3_000, 5_050)).toEqual({ from: 5_000, to: 5_050 })
  })

  test('is none where it holds everything, or where no time passes', () => {
    expect(windowBetween(SEGMENTS, -5, 99_999)).toBeUndefined()
    expect(windowBetween([{ from: 7, to: 7, folded: false }], 7, 7)).toBeUndefined()
  })
})

describe('every window', () => {
  const times = fc.double({ min: -1_000, max: 11_000, noNaN: true })

  test('lies within the flow, the right way round, with ends in active time', () => {
    fc.assert(
      fc.property(times, times, fc.double({ min: 0.01, max: 9, noNaN: true }), times, (a, b, factor, around) => {
        const start = windowBetween(SEGMENTS, a, b) ?? wholeOf(SEGMENTS)
        for (const { from, to } of [
          start,
          zoomWindow(SEGMENTS, start, factor, around),
          panWindow(SEGMENTS, start, factor),
        ]) {
          expect(from).toBeGreaterThanOrEqual(0)
          expect(to).toBeLessThanOrEqual(9_100)
          expect(to).toBeGreaterThan(from)
          for (const gap of GAPS) {
            expect(from > gap.from && from < gap.to).toBe(false)
            expect(to > gap.from && to < gap.to).toBe(false)
          }
        }
      }),
    )
  })

  test('cuts segments that still follow one another', () => {
    fc.assert(
      fc.property(times, times, (a, b) => {
        const window = windowBetween(SEGMENTS, a, b) ?? wholeOf(SEGMENTS)
        const clipped = clipSegments(SEGMENTS, window)
        expect(clipped[0]!.from).toBeCloseTo(window.from, 6)
        expect(clipped.at(-1)!.to).toBeCloseTo(window.to, 6)
        for (const [index, { from }] of clipped.entries()) expect(from).toBe(clipped[index - 1]?.to ?? from)
      }),
    )
  })
})

import { describe, expect, test } from 'vitest'
import { findGaps, IDLE_MIN_MS, segmentsOf } from '../../../../views/flow-layout/gaps.ts'
import { activeMs } from '../../../../views/flow-layout/time-scale.ts'
import * as fc from '../../../support/fast-check.ts'
import { HOUR, MINUTE, SECOND } from '../web/flow/flow-fixture.ts'

describe('idle times', () => {
  test('are gaps that stand out from the rhythm of the flow', () => {
    const times = [0, SECOND, 2 * SECOND, 2 * HOUR, 2 * HOUR + SECOND]
    expect(findGaps(times)).toEqual([{ from: 2 * SECOND, to: 2 * HOUR }])
  })

  test('are longer than a minute, whatever the rhythm', () => {
    expect(findGaps([0, 1, 2, 3, IDLE_MIN_MS + 3])).toEqual([])
    expect(findGaps([0, 1, 2, 3, IDLE_MIN_MS + 4])).toHaveLength(1)
  })

  test('are longer than ten times the median: a flow that always waits is not idle', () => {
    expect(findGaps([0, HOUR, 2 * HOUR, 3 * HOUR])).toEqual([])
    expect(findGaps([0, MINUTE, 2 * MINUTE, 12 * MINUTE])).toEqual([])
    expect(findGaps([0, MINUTE, 2 * MINUTE, 12 * MINUTE + 1])).toHaveLength(1)
  })

  test('make up a tenth of what is left to draw once longer ones are folded', () => {
    const burst = Array.from({ length: 50 }, (_, index) => index * SECOND)
    const later = (start: number, waitMs: number) => burst.map((at) => start + 49 * SECOND + waitMs + at)
    const second = later(0, 2 * MINUTE)
    const third = later(second[0]!, 100 * HOUR)
    // Two minutes are nothing beside a hundred hours, but much beside what remains without them.
    expect(findGaps([...burst, ...second, ...third])).toHaveLength(2)
    const slow = Array.from({ length: 400 }, (_, index) => index * 5 * SECOND)
    const late = slow.map((at) => slow.at(-1)! + 2 * MINUTE + at)
    expect(findGaps([...slow, ...late])).toEqual([])
  })

  test('are none where there is nothing between', () => {
    expect(findGaps([])).toEqual([])
    expect(findGaps([5])).toEqual([])
    expect(findGaps([5, 5, 5])).toEqual([])
  })

  test('are gaps between neighbours, in order and apart', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10_000_000 }), { maxLength: 80 }), (unsorted) => {
        const times = unsorted.toSorted((a, b) => a - b)
        const gaps = findGaps(times)
        for (const { from, to } of gaps) {
          expect(to - from).toBeGreaterThan(IDLE_MIN_MS)
          expect(times[times.lastIndexOf(from) + 1]).toBe(to)
        }
        for (const [index, gap] of gaps.entries()) expect(gap.from).toBeGreaterThanOrEqual(gaps[index - 1]?.to ?? 0)
      }),
    )
  })
})

describe('segments', () => {
  test('follow one another from the first to the last time, folded between', () => {
    const gaps = [
      { from: 2, to: 5 },
      { from: 6, to: 9 },
    ]
    expect(segmentsOf(0, 10, gaps.slice(1))).toEqual([
      { from: 0, to: 6, folded: false },
      { from: 6, to: 9, folded: true },
      { from: 9, to: 10, folded: false },
    ])
    expect(activeMs(segmentsOf(0, 10, gaps))).toBe(4)
    expect(segmentsOf(0, 10, [])).toEqual([{ from: 0, to: 10, folded: false }])
  })
})

import { describe, expect, test } from 'vitest'
import { clusterMarks } from '../../../../views/flow-layout/drawing.ts'
import * as fc from '../../../support/fast-check.ts'

const marks = (...xs: number[]) => xs.map((x) => ({ x, rank: 2 }))

describe('clusters', () => {
  test('gather marks within six pixels, and leave others alone', () => {
    expect(clusterMarks(marks(0, 5.9, 40, 46), 6).map(({ x, start, end }) => [x, start, end])).toEqual([
      [0, 0, 2],
      [40, 2, 3],
      [46, 3, 4],
    ])
  })

  test('have the worst level of those gathered', () => {
    const ranks = [2, 5, 3].map((rank, index) => ({ x: index, rank }))
    expect(clusterMarks(ranks, 6)).toEqual([{ x: 0, rank: 5, start: 0, end: 3 }])
  })

  test('take in what would stand on their count', () => {
    expect(clusterMarks(marks(0, 3, 22), 6)).toHaveLength(1)
    expect(clusterMarks(marks(0, 3, 30), 6)).toHaveLength(2)
    // 1k to 999k are as long as 12.3k at most.
    const many = Array.from({ length: 1_200 }, () => 0)
    expect(clusterMarks(marks(...many, 50), 6)).toHaveLength(1)
    expect(clusterMarks(marks(...many, 52), 6)).toHaveLength(2)
  })

  test('hold every mark once, in order, and are apart', () => {
    const lanes = fc
      .array(fc.record({ x: fc.double({ min: 0, max: 2_000, noNaN: true }), rank: fc.nat(5) }), { maxLength: 300 })
      .map((list) => list.toSorted((a, b) => a.x - b.x))
    fc.assert(
      fc.property(lanes, fc.double({ min: 6, max: 60, noNaN: true }), (lane, gapPx) => {
        const clusters = clusterMarks(lane, gapPx)
        expect(clusters.flatMap(({ start, end }) => lane.slice(start, end))).toEqual(lane)
        for (const [index, { x, rank, start, end }] of clusters.entries()) {
          const own = lane.slice(start, end)
          expect(rank).toBe(Math.max(...own.map((mark) => mark.rank)))
          expect(x).toBe(own[0]!.x)
          expect(x - (clusters[index - 1]?.x ?? -gapPx)).toBeGreaterThanOrEqual(gapPx)
          // One cluster is no wider than its gap or its count needs.
          expect(own.at(-1)!.x - x).toBeLessThan(Math.max(gapPx, 16 + 7 * String(own.length).length))
        }
      }),
    )
  })
})

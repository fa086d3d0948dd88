import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { createWatermark } from '../../../consumers/watermark.ts'

/** Ascending offsets with gaps, and an order in which some of them are settled. */
const readings = fc
  .uniqueArray(fc.nat(10_000), { minLength: 1, maxLength: 40 })
  .map((offsets) => offsets.toSorted((a, b) => a - b))
  .chain((offsets) => fc.record({ offsets: fc.constant(offsets), settled: fc.shuffledSubarray(offsets) }))

describe('the watermark', () => {
  test('is after the last record before the first one that is not settled', () => {
    fc.assert(
      fc.property(readings, ({ offsets, settled }) => {
        const watermark = createWatermark(offsets)
        const known = new Set<number>()
        for (const offset of settled) {
          watermark.settle(offset)
          known.add(offset)
          const firstOpen = offsets.findIndex((each) => !known.has(each))
          const run = firstOpen === -1 ? offsets : offsets.slice(0, firstOpen)
          const last = run.at(-1)
          expect(watermark.position()).toBe(last === undefined ? null : last + 1)
        }
      }),
    )
  })

  test('never goes back and ends after the last record, whatever the order', () => {
    fc.assert(
      fc.property(readings, ({ offsets, settled }) => {
        const watermark = createWatermark(offsets)
        const positions = [...settled, ...offsets].map((offset) => {
          watermark.settle(offset)
          return watermark.position() ?? -1
        })
        expect(positions).toEqual(positions.toSorted((a, b) => a - b))
        expect(watermark.position()).toBe((offsets.at(-1) ?? Number.NaN) + 1)
      }),
    )
  })

  test('is null while nothing is settled', () => {
    expect(createWatermark([5, 6]).position()).toBeNull()
    expect(createWatermark([]).position()).toBeNull()
  })

  test('refuses an offset that was not read', () => {
    expect(() => createWatermark([5, 7]).settle(6)).toThrow(RangeError)
  })
})

import { describe, expect, test } from 'vitest'
import { changesOf, rowHeights } from '../../../../../views/web/logs/row-heights.ts'
import * as fc from '../../../../support/fast-check.ts'

describe('the places of rows', () => {
  test('add up the heights, and those that a few have more', () => {
    const { topOf } = rowHeights(
      4,
      10,
      new Map([
        [2, 5],
        [0, 3],
      ]),
    )
    expect([0, 1, 2, 3, 4].map(topOf)).toEqual([0, 13, 23, 38, 48])
  })

  test('none are at no place', () => {
    const { topOf, indexAt } = rowHeights(0, 10, new Map())
    expect([topOf(0), indexAt(0), indexAt(50)]).toEqual([0, 0, 0])
  })

  test('any heights: every pixel of a row finds it, and places outside find the nearest', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.dictionary(fc.nat(49).map(String), fc.integer({ min: 1, max: 90 })),
        (count, more) => {
          const extra = new Map(Object.entries(more).map(([index, px]) => [Number(index), px]))
          const { topOf, indexAt } = rowHeights(count, 7, extra)
          for (let index = 0; index < count; index += 1) {
            expect(topOf(index + 1) - topOf(index)).toBe(7 + (extra.get(index) ?? 0))
            expect([indexAt(topOf(index)), indexAt(topOf(index + 1) - 1)]).toEqual([index, index])
          }
          expect([indexAt(-1), indexAt(topOf(count) + 1)]).toEqual([0, count - 1])
        },
      ),
    )
  })
})

describe('the changes of a value', () => {
  test('any values that stand together: where each begins', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 8 }), (runs) => {
        const values = runs.flatMap((length, value) => Array.from({ length }, () => value))
        expect(changesOf(values.length, (index) => values[index])).toEqual(
          runs.map((_, value) => values.indexOf(value)),
        )
      }),
    )
  })
})

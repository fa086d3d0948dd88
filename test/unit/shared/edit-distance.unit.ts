import { describe, expect, test } from 'vitest'
import { editDistance } from '../../../shared/nearest.ts'
import * as fc from '../../support/fast-check.ts'

/** The same by the definition. */
function slips(from: string, to: string): number {
  const table = Array.from({ length: from.length + 1 }, (_, row) => [row])
  const at = (row: number, column: number): number => table[row]?.[column] as number
  for (let column = 1; column <= to.length; column += 1) table[0]?.push(column)
  for (let row = 1; row <= from.length; row += 1)
    for (let column = 1; column <= to.length; column += 1)
      table[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1),
        ),
      )
  return at(from.length, to.length)
}

describe('the distance of two texts', () => {
  test('is that of the definition, up to the limit', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 })
    fc.assert(
      fc.property(texts, texts, fc.nat(8), (from, to, limit) => {
        const expected = slips(from, to)
        expect(editDistance(from, to, limit)).toBe(expected > limit ? Infinity : expected)
      }),
      { numRuns: 2_000 },
    )
  })

  test('costs in proportion to the length, not to its square', () => {
    const cost = (length: number): number => {
      const room = { cells: 1e9 }
      expect(editDistance(`${'a'.repeat(length)}b`, `b${'a'.repeat(length)}`, 6, room)).toBe(2)
      return 1e9 - room.cells
    }
    expect(cost(100_000)).toBeLessThan(11 * cost(10_000))
  })

  test('is not looked for beyond the room', () => {
    const room = { cells: 10_000 }
    expect(editDistance('a'.repeat(5_000), 'a'.repeat(5_000), 6, room)).toBe(Infinity)
    expect(room.cells).toBeGreaterThan(-100)
  })
})

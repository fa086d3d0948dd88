import { describe, expect, test } from 'vitest'
import { keyword, searchText } from '../../../../shared/contract/keyword.ts'
import * as fc from '../../../support/fast-check.ts'

const anyText = fc
  .string({ unit: 'binary', maxLength: 60 })
  .chain((text) =>
    fc
      .array(fc.constantFrom('\0', '\uD800', '\uDC00', 'é', '€', '😀', text), { maxLength: 20 })
      .map((parts) => parts.join('')),
  )

describe('a keyword', () => {
  test('is well-formed, has no NUL and fits, for any text', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, bytesMax) => {
        const result = keyword(text, bytesMax)
        expect(result.isWellFormed()).toBe(true)
        expect(result).not.toContain('\0')
        expect(Buffer.byteLength(result)).toBeLessThanOrEqual(bytesMax)
        expect(searchText(text).startsWith(result)).toBe(true)
      }),
    )
  })

  test('is cut only where one more code point would not fit', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, bytesMax) => {
        const clean = searchText(text)
        const result = keyword(text, bytesMax)
        const next = String.fromCodePoint(clean.codePointAt(result.length) ?? 0)
        expect(result === clean || Buffer.byteLength(result + next) > bytesMax).toBe(true)
      }),
    )
  })

  test('of a keyword is the same keyword, so a filter meets the document', () => {
    fc.assert(fc.property(anyText, (text) => void expect(keyword(keyword(text, 20), 20)).toBe(keyword(text, 20))))
  })

  test('of ordinary text is the text', () => {
    expect(keyword('order-placed.validate', 1_024)).toBe('order-placed.validate')
    expect(keyword('Überweisung', 12)).toBe('Überweisung')
    expect(keyword('Überweisung', 11)).toBe('Überweisun')
    expect(keyword('a\0b\uD800c', 100)).toBe('a\uFFFDb\uFFFDc')
  })
})

import { describe, expect, test } from 'vitest'
import { excerptOfJson, excerptOfText } from '../../../../gateway/refusals/excerpt.ts'
import { parseExactly } from '../../../../shared/contract/exact-json.ts'
import { REFUSED_BODY_BYTES_MAX } from '../../../../shared/contract/refusals.ts'
import * as fc from '../../../support/fast-check.ts'

describe('the beginning of a body', () => {
  test('is the whole of a short one', () => {
    expect(excerptOfText('{"a":1}')).toEqual({ body: '{"a":1}', bodyCut: false })
    expect(excerptOfText('x'.repeat(REFUSED_BODY_BYTES_MAX)).bodyCut).toBe(false)
  })

  test('ends before a character that does not fit', () => {
    const { body, bodyCut } = excerptOfText('😀'.repeat(REFUSED_BODY_BYTES_MAX))
    expect(bodyCut).toBe(true)
    expect(body).toBe('😀'.repeat(REFUSED_BODY_BYTES_MAX / 4))
    expect(excerptOfText(`x${'é'.repeat(REFUSED_BODY_BYTES_MAX)}`).body).not.toContain('\ufffd')
  })
})

describe('the beginning of an entry', () => {
  test('is its JSON, whatever it holds', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(Buffer.byteLength(text) <= REFUSED_BODY_BYTES_MAX)
        expect(excerptOfJson(value)).toEqual({ body: text, bodyCut: false })
      }),
    )
  })

  test('has each number as it was written', () => {
    const text = '{"id":12345678901234567890,"list":[-0,1.10,1E+400,9007199254740993],"top":7}'
    expect(excerptOfJson(parseExactly(text))).toEqual({ body: text, bodyCut: false })
    expect(excerptOfJson(parseExactly('12345678901234567890')).body).toBe('12345678901234567890')
    const digits = '7'.repeat(2 * REFUSED_BODY_BYTES_MAX)
    expect(excerptOfJson(parseExactly(digits))).toEqual({
      body: digits.slice(0, REFUSED_BODY_BYTES_MAX),
      bodyCut: true,
    })
  })

  test('is the beginning of its JSON where that is long, however it is long', () => {
    const long = 'x'.repeat(2_000_000)
    for (const value of [
      { message: long, after: 1 },
      { [long]: 1 },
      Array(100_000).fill(7),
      Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`name${n}`, n])),
      ['"'.repeat(9_000)],
      { message: '😀'.repeat(9_000) },
    ]) {
      const { body, bodyCut } = excerptOfJson(value)
      expect(bodyCut).toBe(true)
      expect(JSON.stringify(value).startsWith(body ?? '?')).toBe(true)
      expect(Buffer.byteLength(body ?? '')).toBeGreaterThan(REFUSED_BODY_BYTES_MAX - 8)
      expect(Buffer.byteLength(body ?? '')).toBeLessThanOrEqual(REFUSED_BODY_BYTES_MAX)
    }
  })

  test('of one that is nested too deep to be written by recursion is cut', () => {
    const text = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    expect(excerptOfJson(JSON.parse(text))).toEqual({ body: '['.repeat(100), bodyCut: true })
  })
})

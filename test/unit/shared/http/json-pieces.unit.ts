import { describe, expect, test, vi } from 'vitest'
import { parseExactly } from '../../../../shared/contract/exact-json.ts'
import { parseShortJson } from '../../../../shared/http/body.ts'
import { createValueHold, JSON_LIMITS, parseInPieces } from '../../../../shared/http/json-pieces.ts'
import * as fc from '../../../support/fast-check.ts'
import { runAtOnce } from '../../../support/run-at-once.ts'

const room = () => createValueHold({ hold: () => true })
const parse = (text: string, pieceCharacters?: number) => runAtOnce(parseInPieces(text, room(), pieceCharacters))
/** A value as text; numbers that were kept as they are written become those that JavaScript makes of them. */
const rounded = (value: unknown): string => JSON.stringify(JSON.parse(JSON.stringify(value)))

describe('JSON in pieces', () => {
  const text = fc
    .tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'))
    .map(([value, space]) => JSON.stringify(value, null, space))
  const slip = fc.tuple(fc.nat(), fc.constantFrom(...'[]{},"\\:1. ', ''))

  test('is read as JSON.parse reads it, however small the pieces are', () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 30 }), (json, pieceCharacters) => {
        expect(rounded(parse(json, pieceCharacters).value)).toBe(JSON.stringify(JSON.parse(json)))
      }),
      { numRuns: 2_000 },
    )
  })

  test('is refused exactly where JSON.parse refuses it', () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 30 }), slip, (json, pieceCharacters, [place, character]) => {
        const at = place % (json.length + 1)
        const other = json.slice(0, at) + character + json.slice(character === '' ? at + 1 : at)
        let expected: unknown
        try {
          expected = JSON.parse(other)
        } catch {
          expect(parse(other, pieceCharacters).problem?.code).toBe('malformed_json')
          return
        }
        expect(rounded(parse(other, pieceCharacters).value)).toBe(JSON.stringify(expected))
      }),
      { numRuns: 5_000 },
    )
  })

  test.each([
    '{"__proto__":{"a":[1,2,3]},"a":1,"__proto__":[1,2]}',
    '{"a":[1,2],"b":1,"a":2}',
    '{"2":[1,2],"1":1}',
    '[1{"a":1},2]',
    '{"a": 1{"b":2}}',
    '[[1,2][3,4]]',
    '["a" "long text"]',
    '{"a":1 "b":"long text"}',
    '{"long name":"long text","__proto__":"long text"}',
    '"long text" 1',
    '"long text".5',
    '["long text"e1,2]',
    '{"a":"long text"null}',
    ' "\\u0041\\\\\\"\\ud83d\\ude00\\n" ',
    '["long text","b",["long text"],{"a":"long text"}]',
    '["long text',
    '[1,2] [3,4]',
    ' [ [ ] , { } ] ',
  ])('%s', (json) => {
    let expected: string | undefined
    try {
      expected = JSON.stringify(JSON.parse(json))
    } catch {
      expected = undefined
    }
    for (let pieceCharacters = 0; pieceCharacters < 12; pieceCharacters += 1) {
      const { value, problem } = parse(json, pieceCharacters)
      expect(problem === undefined ? JSON.stringify(value) : undefined).toBe(expected)
    }
  })

  test.each([
    ['in an array', '[100, 200, 300 400]', 15],
    ['in an object', '{"a": 1, "bb": 2, "ccc": 3, d}', 28],
    ['in a name', '{"a": 1, "bb": 2, x"ccc": [100, 200, 300]}', 18],
    ['behind the end', '{"a": [100, 200, 300]} {}', 23],
    ['between two elements', '[[100, 200, 300] [400, 500, 600]]', 17],
    ['in a string', `["a", "${'b'.repeat(20)}\n"]`, 27],
  ])('tells where in the whole text the mistake is: %s', (_where, json, position) => {
    expect(() => JSON.parse(json)).toThrow()
    for (const pieceCharacters of [4, 8, 1_000])
      expect([pieceCharacters, parse(json, pieceCharacters).problem?.details]).toEqual([
        pieceCharacters,
        { reason: expect.stringMatching(new RegExp(`position ${position}\\b`)) },
      ])
  })

  test('keeps numbers that JavaScript would round', () => {
    const json = '{"a":[12345678901234567890,1],"b":[{"c":1e400},2]}'
    expect(JSON.stringify(parse(json, 3).value)).toBe(JSON.stringify(parseExactly(json)))
  })
})

describe('the work and the memory are bounded before anything is parsed', () => {
  const steps = (json: string): number => {
    let count = 0
    for (const work = parseInPieces(json, room()); work.next().done !== true; count += 1);
    return count
  }

  test('long texts are parsed in many steps', () => {
    expect(steps(`[${'{"a":1},'.repeat(200_000)}1]`)).toBeGreaterThan(20)
    expect(steps(JSON.stringify({ a: [{ b: 'x'.repeat(5_000_000) }] }))).toBeGreaterThan(50)
    expect(steps(`["${'\\"'.repeat(2_000_000)}"]`)).toBeGreaterThan(50)
  })

  test('no text is parsed that is longer than a piece', () => {
    const parsed = vi.spyOn(JSON, 'parse')
    const long = '\\u0000'.repeat(300_000)
    for (const text of [
      `"${long}"`,
      `{"a":{"b":"${long}"}}`,
      `["${long}","${long}"]`,
      `["${long}`,
      `[${'1,'.repeat(300_000)}`,
    ])
      parse(text)
    const lengths = parsed.mock.calls.map(([text]) => text.length)
    parsed.mockRestore()
    expect(lengths.length).toBeGreaterThan(50)
    expect(Math.max(...lengths)).toBeLessThan(140_000)
  })

  test('a name that is too long', () => {
    const message = 'must not hold a member whose name is longer than 1000000 characters'
    expect(parse(`{"${'a'.repeat(1_000_001)}" : 1}`).problem).toMatchObject({ details: [{ path: '', message }] })
    expect(Object.keys(parse(`{"${'a'.repeat(999_999)}" : 1}`).value as object)[0]).toHaveLength(999_999)
  })

  test('more values, members or levels than are allowed', () => {
    const { values, members, levels } = JSON_LIMITS
    const limit = { code: 'payload_too_large', details: { values }, retryable: false }
    expect(parse(`[${'{},'.repeat(values)}{}]`).problem).toMatchObject(limit)
    expect(parse('['.repeat(values + 1)).problem?.code).toBe('invalid_request')
    const wide = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`
    expect(parse(wide(members + 1)).problem).toMatchObject({
      code: 'invalid_request',
      details: [{ path: '', message: `must not hold an object of more than ${members} members` }],
    })
    expect(Object.keys(parse(wide(members)).value as object)).toHaveLength(members)
    const deep = (count: number) => '['.repeat(count) + ']'.repeat(count)
    expect(parse(deep(levels + 1)).problem).toMatchObject({
      code: 'invalid_request',
      details: [{ path: '', message: `must not be nested more than ${levels} levels deep` }],
    })
    expect(parse(deep(levels)).problem).toBeUndefined()
  })

  test('values for which there is no room', () => {
    let left = 1_000_000
    const hold = (bytes: number): boolean => {
      left -= bytes
      return left >= 0
    }
    const { problem } = runAtOnce(parseInPieces(`[${'{},'.repeat(100_000)}{}]`, createValueHold({ hold })))
    expect(problem).toMatchObject({ code: 'server_error', details: { outcome: 'not_written' }, retryable: true })
  })
})

describe('JSON of a short body', () => {
  const stepsOf = (text: string) => [...parseShortJson(text)].length

  test('keeps digits in steps of a few kilobytes, as that takes far longer than to lose them', () => {
    const numbers = '1,'.repeat(100_000)
    expect(stepsOf(`[${numbers}1]`)).toBe(0)
    expect(stepsOf(`[${numbers}12345678901234567890]`)).toBeGreaterThan(20)
    const { value } = runAtOnce(parseShortJson(`[${numbers}12345678901234567890]`))
    expect(JSON.stringify(value)).toBe(`[${numbers}12345678901234567890]`)
  })

  test('stays as JavaScript reads it where it is beyond the limits of pieces', () => {
    const levels = JSON_LIMITS.levels + 1
    const text = `{"id":12345678901234567890,"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`
    expect(runAtOnce(parseShortJson(text))).toEqual({ value: JSON.parse(text) })
  })
})

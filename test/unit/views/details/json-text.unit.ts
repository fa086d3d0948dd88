import { describe, expect, test } from 'vitest'
import { leaves } from '../../../../shared/query/leaves.ts'
import { isJson, prettyJson, jsonFields as readFields } from '../../../../views/details/json-text.ts'
import * as fc from '../../../support/fast-check.ts'

const whole = (text: string): string => prettyJson(text, Number.POSITIVE_INFINITY)
const jsonFields = (text: string, max: number) => readFields(text, max).fields

describe('JSON in a log', () => {
  test.each([
    ['{"a":1}', true],
    [' \n[1,2]', true],
    ['{}', true],
    ['"text"', false],
    ['4711', false],
    ['{"a":1', false],
    ['{a:1}', false],
    ['', false],
    ['[1] trailing', false],
  ])('%j is an object or array: %j', (text, expected) => {
    expect(isJson(text)).toBe(expected)
  })

  test('is laid out with a line for every value', () => {
    expect(whole('{"a":[1,{"b":"x, {y}: \\"z\\""}],"c":{},"d":[],"e":null}')).toBe(
      '{\n  "a": [\n    1,\n    {\n      "b": "x, {y}: \\"z\\""\n    }\n  ],\n  "c": {},\n  "d": [],\n  "e": null\n}',
    )
  })

  test('numbers stay as they are written', () => {
    const text = '{"id":12345678901234567890,"price":1.10,"big":1e400,"minus":-0.0}'
    expect(whole(text)).toBe('{\n  "id": 12345678901234567890,\n  "price": 1.10,\n  "big": 1e400,\n  "minus": -0.0\n}')
    expect(jsonFields(text, 9).map((one) => one.text)).toEqual(['12345678901234567890', '1.10', '1e400', '-0.0'])
  })

  test('a number is searched for as the stores know it', () => {
    expect(jsonFields('{"id":12345678901234567890,"price":1.10}', 9).map(({ value }) => value)).toEqual([
      '12345678901234567890',
      '1.1',
    ])
  })

  test('any value: the layout is that of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, noUnicodeString: false }), (value) => {
        expect(whole(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))
      }),
    )
  })

  test('any value: the fields are the leaves that the stores search', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value)
        const searched = jsonFields(text, 10_000).flatMap(({ path, value: found }) =>
          found === null ? [] : [[path, found]],
        )
        // The grammar has no way to write an empty value.
        const expected = leaves(JSON.parse(text)).filter(([, found]) => found !== '')
        expect(searched).toEqual(expected)
      }),
    )
  })

  test('values that no search finds are shown all the same', () => {
    const [none, long, empty] = jsonFields(JSON.stringify({ a: null, b: 'x'.repeat(2_000), c: '' }), 9)
    expect(none).toEqual({ path: 'a', text: 'null', value: null })
    expect(long?.text).toHaveLength(2_000)
    expect([long?.value, empty?.value]).toEqual([null, null])
  })

  test('a hundred thousand brackets are bounded', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(whole(deep).length).toBeLessThan(100_000 * 60 * 2)
    expect(prettyJson(deep, 1_000).length).toBeLessThan(1_100)
    expect(isJson(deep)).toBe(false)
    expect(jsonFields(deep, 10)).toEqual([])
  })

  test('a million keys are bounded', () => {
    const wide = `{${Array.from({ length: 100_000 }, (_, index) => `"k${index}":${index}`).join()}}`
    expect(jsonFields(wide, 50)).toHaveLength(50)
    expect(prettyJson(wide, 500).length).toBeLessThan(520)
  })

  test('says whether there are values beyond those that were asked for', () => {
    expect([2, 3, 4].map((max) => readFields('[1,{"a":2},[3,[]]]', max).more)).toEqual([true, false, false])
    expect(readFields(`[${'[],'.repeat(20_000)}1]`, 9)).toEqual({ fields: [], more: true })
  })

  test('a long path is not repeated with each value below it, nor searched for', () => {
    const name = 'k'.repeat(900_000)
    const fields = jsonFields(JSON.stringify({ [name]: { a: 1, b: [{ c: 2 }] } }), 9)
    expect(fields).toMatchObject([
      { text: '1', value: null },
      { text: '2', value: null },
    ])
    for (const { path } of fields) expect(path.length).toBeLessThan(1_100)
  })

  test('a text of a megabyte is one value', () => {
    const text = JSON.stringify({ text: '\\"x'.repeat(300_000) })
    expect(jsonFields(text, 9)).toHaveLength(1)
    expect(whole(text).length).toBeGreaterThan(1_000_000)
  })
})

import { describe, expect, test } from 'vitest'
import { pairsOf, valueText } from '../../../../views/flow-layout/payload.ts'
import * as fc from '../../../support/fast-check.ts'

describe('a payload on one line', () => {
  const line = (payload: string): string | undefined =>
    pairsOf(payload)
      ?.map(({ path, text }) => `${path}=${valueText(text)}`)
      .join(' ')

  test.each([
    ['{"order":4714,"outcome":"declined"}', 'order=4714 outcome=declined'],
    ['{"order":{"id":12345678901234567890},"tags":["a","b c"]}', 'order.id=12345678901234567890 tags=a tags="b c"'],
    ['{"empty":"","equal":"a=b","none":null}', 'empty="" equal="a=b" none=null'],
    ['{}', undefined],
    ['[1]', undefined],
    ['{not json', undefined],
    ['said', undefined],
  ])('the payload %j is read as %j', (payload, expected) => {
    expect(line(payload)).toBe(expected)
  })

  test('of a long payload the beginning is read, wherever it is cut', () => {
    for (let length = 560; length < 640; length += 1)
      expect(line(`{"a":1,"b":"${'x'.repeat(length)}","c":2}`)?.startsWith('a=1')).toBe(true)
    expect(line(`{${'"\\q":'.repeat(200)}`)).toBeUndefined()
  })

  test('a text that goes on after the beginning is cut, and a number that may go on is left out', () => {
    const note = `after six, ${'please call '.repeat(60)}`
    expect(line(`{"order":4711,"note":"${note}"}`)).toMatch(/^order=4711 note="after six, please call [^"]+"$/)
    for (let length = 560; length < 640; length += 1) {
      const [text, number] = pairsOf(`{"b":"${'x, \\\\'.repeat(length / 5)}","c":1234567890,"d":"${note}"}`) ?? []
      expect(text?.text).toMatch(/^(x, \\){100,}(x(, ?)?)?$/)
      expect([undefined, '1234567890']).toContain(number?.text)
    }
  })

  test('a text is cut before an escape that goes on after the beginning', () => {
    for (let length = 0; length < 8; length += 1) {
      const [, note] = pairsOf(`{"order":4711,"note":"${'x'.repeat(length)}${'\\u043f\\\\'.repeat(100)}"}`) ?? []
      expect(note?.text).toMatch(/^x*(п\\){70,}п?$/)
    }
  })

  test('any JSON object: every value that is neither an object nor an array', () => {
    const leaves = (value: unknown): readonly string[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [String(value)]
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }), (object) => {
        const text = JSON.stringify(object)
        fc.pre(text.length <= 600)
        expect((pairsOf(text) ?? []).map((pair) => pair.text)).toEqual(leaves(JSON.parse(text)))
      }),
    )
  })

  test('any text is read or left alone', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[],:"\\ua1 '), maxLength: 900 }),
        (text) => void pairsOf(`{${text}`),
      ),
    )
  })
})

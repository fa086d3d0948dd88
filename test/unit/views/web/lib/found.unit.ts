import { describe, expect, test } from 'vitest'
import { foundBy, soughtBy, soughtInFlow } from '../../../../../views/web/lib/found.ts'
import * as fc from '../../../../support/fast-check.ts'

const patternOf = (q: string, isFind: boolean) => foundBy((isFind ? soughtInFlow : soughtBy)(q))

const foundIn = (q: string, text: string, isFind = false) =>
  text.split(patternOf(q, isFind) ?? '\n').filter((_, index) => index % 2 === 1)

describe('what a search finds in a text', () => {
  test.each([
    ['timeout', 'Timeout, no timeouts: TIMEOUT', ['Timeout', 'TIMEOUT']],
    ['"SKU-42"', 'SKU-41 SKU-42 SKU-420 sku 42', ['SKU-42', 'sku 42']],
    ['sku-4*', 'SKU-41 SKU-42', ['SKU-4', 'SKU-4']],
    ['"order 47"*', 'order-4711', ['order-47']],
    ['id', 'order_id', ['id']],
    ['ber', 'über ber', ['ber']],
    ['(msg:no OR "not now") AND payload:maybe', 'no, not now or maybe', ['no', 'not now', 'maybe']],
    ['-health NOT check level:>=error scope.ms:5', 'health check of level error 5', []],
    ['-(health OR "not now" (check)) now', 'health check, not now', ['now']],
    ['eventId:[1 TO 5] scope.Request\\ Id:7 message:a\\"b', '1 to 5, request id 7, a"b', ['a"b']],
    ['items[0] [info]', 'items[0] of info', ['items[0', 'info']],
    ['支付', '支付失败', ['支付']],
    ['"no (end', 'no end', ['no end']],
    ['()', '()', []],
  ])('%j', (q, text, expected) => {
    expect(foundIn(q, text)).toEqual(expected)
  })

  test.each([
    ['pay', 'paynet', ['pay']],
    ['"no answer" error:time', 'no answer, {"error":"timeout"}', ['no answer', 'error":"time']],
  ])('%j, as part of a flow', (q, text, expected) => {
    expect(foundIn(q, text, true)).toEqual(expected)
  })

  test('is a pattern whatever is searched for, and leaves the text as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), fc.boolean(), (q, text, isFind) => {
        expect(text.split(patternOf(q, isFind) ?? '\n\n\n').join('')).toBe(text.replaceAll('\n\n\n', ''))
      }),
    )
  })
})

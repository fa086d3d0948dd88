import { describe, expect, test } from 'vitest'
import { hasLostDigits, parseExactly, parseKeepingDigits } from '../../../../shared/contract/exact-json.ts'
import * as fc from '../../../support/fast-check.ts'

describe('numbers that JavaScript cannot hold', () => {
  test.each(['9007199254740993', '[1,{"a":-12345678901234567890}]', '{"a":[[1e400]]}', '1e20'])(
    '%s is found',
    (text) => {
      expect(hasLostDigits(JSON.parse(text))).toBe(true)
    },
  )

  test.each(['9007199254740991', '-9007199254740991', '[0.1,1e-7,-0]', '"9007199254740993"', '{}', 'null'])(
    '%s is none',
    (text) => {
      expect(hasLostDigits(JSON.parse(text))).toBe(false)
    },
  )

  test.each(['{"id":9007199254740993}', '[1e400,-0,0.10,1E+2,12345678901234567890.123]', '{"__proto__":{"a":1e30}}'])(
    '%s comes back as it was written',
    (text) => {
      expect(JSON.stringify(parseExactly(text))).toBe(text)
    },
  )

  test('only what would lose digits costs the longer way', () => {
    expect(JSON.stringify(parseKeepingDigits('{"id":9007199254740993,"price":1.10}'))).toBe(
      '{"id":9007199254740993,"price":1.10}',
    )
    expect(parseKeepingDigits('{"id":1,"price":1.10}')).toEqual({ id: 1, price: 1.1 })
  })

  test('all other JSON is what JSON.parse makes of it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.stringify(JSON.parse(JSON.stringify(parseExactly(text))))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })
})

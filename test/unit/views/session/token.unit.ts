import { describe, expect, test } from 'vitest'
import { hashKeyHex } from '../../../../shared/registry/keys.ts'
import { keyTagOf, readToken, signToken, type Token } from '../../../../views/session/token.ts'
import * as fc from '../../../support/fast-check.ts'

const SECRET = 'a secret of 32 characters or more'

const token: fc.Arbitrary<Token> = fc.record({
  team: fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
  keyTag: fc.base64String(),
  startedAt: fc.nat(),
  renewedAt: fc.nat(),
})

describe('the token of a session', () => {
  test('is read by whoever has the secret, and fits into a cookie', () => {
    fc.assert(
      fc.property(token, (given) => {
        const cookie = signToken(given, SECRET)
        expect(cookie).toMatch(/^[\w.-]+$/)
        expect(readToken(cookie, SECRET)).toEqual(given)
      }),
    )
  })

  test('is nothing to another secret', () => {
    fc.assert(
      fc.property(token, fc.string(), (given, other) => {
        fc.pre(other !== SECRET)
        expect(readToken(signToken(given, other), SECRET)).toBeUndefined()
      }),
    )
  })

  test('is nothing once any of its characters is another', () => {
    fc.assert(
      fc.property(token, fc.nat(), fc.constantFrom(...'Aaz09-_.'), (given, at, character) => {
        const cookie = signToken(given, SECRET)
        const place = at % cookie.length
        const changed = cookie.slice(0, place) + character + cookie.slice(place + 1)
        // The last character of base64url carries bits that are none of the signature's.
        fc.pre(changed !== cookie && place !== cookie.length - 1)
        expect(readToken(changed, SECRET)).toBeUndefined()
      }),
    )
  })

  test('reading never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void expect(readToken(text, SECRET)).toBeUndefined()))
    for (const text of ['', '.', '..', 's1..', 's1.e30.', 's1']) expect(readToken(text, SECRET)).toBeUndefined()
  })

  test('tells keys apart without telling anything of them', () => {
    const [one, other] = [hashKeyHex('key one'), hashKeyHex('key two')]
    expect(keyTagOf(one, SECRET)).not.toBe(keyTagOf(other, SECRET))
    expect(keyTagOf(one, SECRET)).not.toBe(keyTagOf(one, `${SECRET}!`))
    expect(Buffer.from(one, 'hex').toString('base64url')).not.toContain(keyTagOf(one, SECRET))
  })
})

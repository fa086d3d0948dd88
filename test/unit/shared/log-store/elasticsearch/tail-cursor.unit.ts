import { expect, test } from 'vitest'
import { decodePosition, encodePosition } from '../../../../../shared/log-store/elasticsearch/tail.ts'
import * as fc from '../../../../support/fast-check.ts'

const key = fc.stringMatching(/^[\w-]{6}\d{1,2}$/)
const position = fc.record({
  kinds: fc.constantFrom(['event'] as const, ['application'] as const, ['event', 'application'] as const),
  seen: fc.dictionary(key, fc.nat(Number.MAX_SAFE_INTEGER)).map((seen) => new Map(Object.entries(seen))),
})

test('a position comes back from its cursor', () => {
  fc.assert(fc.property(position, (one) => void expect(decodePosition(encodePosition(one))).toEqual(one)))
})

test('a cursor fits a header: no blank, no line end, nothing beyond ASCII', () => {
  fc.assert(fc.property(position, (one) => void expect(encodePosition(one)).toMatch(/^[\x21-\x7e]+$/)))
})

test.each(['', '17', 'ea', '~', 'x~', 'e~abc', 'ea~dUs49b0.', 'ea~dUs49b0.0;', '2026-01-31T00:00:00.000Z'])(
  'what is no cursor of this store is not read as one: %p',
  (text) => {
    expect(decodePosition(text)).toBeUndefined()
  },
)

test('any text is either a position or none', () => {
  fc.assert(fc.property(fc.string(), (text) => void decodePosition(text)))
})

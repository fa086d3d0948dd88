import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  generateKey,
  hashKey,
  hashKeyHex,
  includesHash,
  isSendableKey,
  keyWeakness,
  shownPrefix,
} from '../../../../shared/registry/keys.ts'
import * as fc from '../../../support/fast-check.ts'

describe('generated keys', () => {
  const keys = Array.from({ length: 1_000 }, generateKey)

  test('have 192 random bits behind a mark', () => {
    for (const key of keys) expect(key).toMatch(/^sl_[A-Za-z0-9_-]{32}$/)
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('can be sent and are never taken for weak', () => {
    for (const key of keys) expect([isSendableKey(key), keyWeakness(key)]).toEqual([true, undefined])
  })

  test('differ in the characters that are shown', () => {
    expect(new Set(keys.map(shownPrefix)).size).toBeGreaterThan(900)
  })
})

test('keys are kept as SHA-256', () => {
  const expected = createHash('sha256').update('sl_ä', 'utf8')
  expect(hashKeyHex('sl_ä')).toBe(expected.copy().digest('hex'))
  expect(hashKey('sl_ä')).toEqual(expected.digest())
})

test('a hash is found wherever it stands among the others, and only then', () => {
  const keys = fc.uniqueArray(fc.string(), { maxLength: 4 })
  fc.assert(
    fc.property(keys, fc.string(), (live, presented) => {
      expect(includesHash(live.map(hashKey), hashKey(presented))).toBe(live.includes(presented))
      for (const key of live) expect(includesHash(live.map(hashKey), hashKey(key))).toBe(true)
    }),
  )
})

test('at most 6 characters are shown, and never more than a quarter of a key', () => {
  expect(shownPrefix('sl_abcdefghijklmnopqrstuvwxyz')).toBe('sl_abc')
  expect(shownPrefix('password1234')).toBe('pas')
  expect(shownPrefix('abc')).toBe('')
})

test('a key that a header cannot carry is no key', () => {
  expect(['', 'with blank', 'tab\t', 'ä', 'x'.repeat(257)].map(isSendableKey)).toEqual(Array(5).fill(false))
  expect(['x', 'x'.repeat(256), '!~'].map(isSendableKey)).toEqual([true, true, true])
})

describe('weak keys', () => {
  const tooShort = 'is too short for 128 bits of randomness, which take 22 letters and digits or 32 hexadecimal digits'
  test.each([
    ['secret', tooShort],
    ['12345678901234567890123456789012345678', tooShort],
    ['0123456789abcdef0123456789abcde', tooShort],
    ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'has fewer than 8 different characters'],
    ['abcabcdabcabcdabcabcdabcabcdabcabcd', 'has fewer than 8 different characters'],
    ['Passw0rd!Passw0rd!Passw0rd!', 'repeats itself'],
  ])('%s %s', (key, weakness) => {
    expect(keyWeakness(key)).toBe(weakness)
  })

  test.each([
    '3f2504e04f8911d39a0c0305e82c3301',
    '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    'Zm9vYmFyYmF6cXV4Cg9vYm',
    '/+pQ8x0Zk1u7VbNn2mD4sA==',
  ])('%s may be strong', (key) => {
    expect(keyWeakness(key)).toBeUndefined()
  })
})

import { describe, expect, test } from 'vitest'
import { tells } from '../../../../gateway/ingest/exception.ts'
import { scopeDataOf } from '../../../../gateway/ingest/foreign-fields.ts'

describe('whether a text tells a part', () => {
  const long = 'x'.repeat(1_000_000)

  test.each([
    ['at its beginning', `TypeError: no\n${long}`, 'TypeError: no', true],
    ['at its end', `${long}\nTypeError: no\n`, 'TypeError: no', true],
    ['in the middle of a short one', 'Caused by TypeError: no, at a', 'TypeError: no', true],
    ['nowhere', long, 'TypeError: no', false],
    ['across the place where its middle is left out', `${'x'.repeat(8_191)}a${long}b${'x'.repeat(8_191)}`, 'ab', false],
    ['a long part at its beginning', `${long}\n at a`, long, true],
    ['a long part at its end', `at a\n${long}\n`, long, true],
  ])('%s', (_name, text, part, told) => {
    expect(tells(text, part)).toBe(told)
  })

  test('a part on which a search would take minutes', () => {
    expect(tells('a'.repeat(2_000_000), `ab${'a'.repeat(900_000)}`)).toBe(false)
  })
})

describe('the scope data of an entry', () => {
  test('has its own properties first, then its trace, then those that others share', () => {
    const shared = { host: 'a', traceId: 'shared', spanId: 'shared' }
    expect(scopeDataOf('1f', undefined, { host: 'own' }, shared)).toEqual({
      host: 'own',
      traceId: '1f',
      spanId: 'shared',
    })
    expect(scopeDataOf('1f', '2f', { spanId: 7 })).toEqual({ traceId: '1f', spanId: 7 })
    expect(scopeDataOf(undefined, undefined, {})).toBeNull()
  })

  test('may have any name', () => {
    const rest = JSON.parse('{"__proto__":{"a":1},"constructor":2,"":3}')
    const scopeData = scopeDataOf(undefined, undefined, rest)
    expect(JSON.stringify(scopeData)).toBe('{"__proto__":{"a":1},"constructor":2,"":3}')
    expect(Object.getPrototypeOf(scopeData)).toBe(Object.prototype)
  })
})

import { describe, expect, test } from 'vitest'
import { tells } from '../../../../gateway/ingest/foreign-fields.ts'

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

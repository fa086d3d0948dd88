import { describe, expect, test } from 'vitest'
import { parseGuid } from '../../../../shared/contract/guid.ts'
import * as fc from '../../../support/fast-check.ts'

const CANONICAL = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'

describe('a GUID', () => {
  test.each([CANONICAL, CANONICAL.toUpperCase(), CANONICAL.replaceAll('-', ''), `{${CANONICAL}}`])(
    '%s is taken and made canonical',
    (text) => {
      expect(parseGuid(text)).toBe(CANONICAL)
    },
  )

  test.each([
    '',
    ` ${CANONICAL}`,
    `${CANONICAL}\n`,
    CANONICAL.slice(1),
    `{${CANONICAL}`,
    `(${CANONICAL})`,
    `{${CANONICAL.replaceAll('-', '')}}`,
    CANONICAL.replace('3', 'g'),
    CANONICAL.replace('-', ''),
  ])('%j is none', (text) => {
    expect(parseGuid(text)).toBeUndefined()
  })

  test('every one in any form and case has one canonical form', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.constantFrom('D', 'N', 'B'), fc.boolean(), (guid, form, upper) => {
        const written = { D: guid, N: guid.replaceAll('-', ''), B: `{${guid}}` }[form]
        expect(parseGuid(upper ? written.toUpperCase() : written)).toBe(guid)
      }),
    )
  })
})

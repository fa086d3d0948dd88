import { describe, expect, test } from 'vitest'
import { mayBeLong, ROW_TEXT_CHARACTERS_MAX, rowOf } from '../../../../shared/contract/rows.ts'
import { applicationRecord, eventRecord } from '../../../support/documents.ts'
import * as fc from '../../../support/fast-check.ts'

const MAX = ROW_TEXT_CHARACTERS_MAX

describe('the row of an entry', () => {
  test('is the entry itself where nothing is long', () => {
    for (const entry of [eventRecord({ payload: 'x'.repeat(MAX) }), applicationRecord({ scopeData: { a: 1 } })])
      expect(rowOf(entry)).toBe(entry)
  })

  test('names the texts that were cut, never within a character', () => {
    const smile = '\ud83d\ude00'
    expect(rowOf(eventRecord({ payload: 'x'.repeat(MAX - 1) + smile }))).toMatchObject({
      payload: 'x'.repeat(MAX - 1),
      truncated: ['payload'],
    })
    const long = 'x'.repeat(MAX + 1)
    expect(rowOf(applicationRecord({ message: long, exception: long }))).toMatchObject({
      message: 'x'.repeat(MAX),
      exception: 'x'.repeat(MAX),
      truncated: ['message', 'exception'],
    })
  })

  test('has the first members of long scope data', () => {
    const scopeData = { first: 'x'.repeat(MAX / 2), second: 2, third: 'x'.repeat(MAX), fourth: 4 }
    expect(rowOf(applicationRecord({ scopeData }))).toMatchObject({
      scopeData: { first: scopeData.first, second: 2 },
      truncated: ['scopeData'],
    })
  })

  test('is bounded, and an entry whose record is short has no other row', () => {
    const text = fc.string({ maxLength: 3 * MAX })
    const scope = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
    fc.assert(
      fc.property(text, fc.option(text), fc.option(scope), (message, exception, scopeData) => {
        const entry = applicationRecord({ message, exception, scopeData: scopeData as never })
        const row = rowOf(entry)
        const lengths = Object.entries(row).map(([name, value]) =>
          name === 'scopeData' ? JSON.stringify(value).length : String(value).length,
        )
        expect(Math.max(...lengths)).toBeLessThanOrEqual(MAX)
        if (!mayBeLong(JSON.stringify(entry))) expect(row).toBe(entry)
      }),
    )
  })
})

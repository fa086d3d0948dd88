import { describe, expect, test } from '@jest/globals'
import { applicationLogDocument } from '../../../../consumers/projections/application-logs.ts'
import { applicationLog, idOf } from '../../../support/consumers-records.ts'

describe('the document of an application log', () => {
  test('has the fields that are searched, and its source verbatim', () => {
    const entry = applicationLog(1, { exception: 'Boom\0 at X', scopeData: { user: { id: 7 } } })
    expect(applicationLogDocument(entry, 'the source')).toEqual({
      id: idOf(1),
      kind: 'application',
      team: 'payments',
      receivedAt: '2026-03-01T10:00:00.000Z',
      timestamp: '2026-03-01T10:00:00.000Z',
      level: 'Warning',
      environment: 'Production',
      correlationKey: 'order-1',
      event: null,
      step: null,
      project: '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
      category: 'Acme.Billing',
      eventId: 7,
      eventName: 'Charged',
      message: 'charged',
      exception: 'Boom\uFFFD at X',
      payload: null,
      payloadLeaves: [],
      scopeLeaves: [['user.id', '7']],
      source: 'the source',
    })
  })

  test('has null where there is nothing to find', () => {
    const entry = applicationLog(1, { eventName: '', exception: null, scopeData: null, correlationKey: null })
    expect(applicationLogDocument(entry, '')).toMatchObject({
      eventName: null,
      exception: null,
      scopeLeaves: [],
      correlationKey: null,
    })
  })

  test('has the numbers of its scope data with all their digits', () => {
    const source = JSON.stringify(applicationLog(1, { scopeData: { id: 'here' } })).replace(
      '"here"',
      '12345678901234567890',
    )
    expect(applicationLogDocument(JSON.parse(source), source).scopeLeaves).toEqual([['id', '12345678901234567890']])
  })

  test('has a category and a message that every store takes', () => {
    const entry = applicationLog(1, { categoryName: 'C'.repeat(5_000), message: 'half \uDC00 a character' })
    const document = applicationLogDocument(entry, '')
    expect(document.category).toBe('C'.repeat(4_096))
    expect(document.message).toBe('half \uFFFD a character')
  })
})

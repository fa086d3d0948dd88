import { describe, expect, test } from 'vitest'
import {
  applicationLogDocument,
  eventLogDocument,
  PAYLOAD_PARSE_LENGTH_MAX,
} from '../../../../consumers/projections/entries.ts'
import { FULL_TEXT_CHARACTERS_MAX } from '../../../../shared/contract/keyword.ts'
import { applicationLog, eventLog, idOf } from '../../../support/consumers-records.ts'
import * as fc from '../../../support/fast-check.ts'

describe('the document of an event log', () => {
  test('has the beginning of a long payload to search, and all of it to show', () => {
    const payload = `${'x'.repeat(FULL_TEXT_CHARACTERS_MAX)}end`
    const document = eventLogDocument(eventLog(1, { payload }), payload)
    expect([document.payload, document.source]).toEqual(['x'.repeat(FULL_TEXT_CHARACTERS_MAX), payload])
  })

  test('has the fields that are searched, and its source verbatim', () => {
    expect(eventLogDocument(eventLog(1), 'the source')).toEqual({
      id: idOf(1),
      kind: 'event',
      team: 'payments',
      receivedAt: '2026-03-01T10:00:00.000Z',
      timestamp: '2026-03-01T10:00:00.000Z',
      level: 'Information',
      environment: 'Production',
      correlationKey: 'order-1',
      event: 'order-placed',
      step: 'order-placed.validate',
      project: null,
      category: null,
      eventId: null,
      eventName: null,
      template: null,
      exceptionGroup: null,
      message: null,
      exception: null,
      payload: 'validated',
      payloadLeaves: [],
      scopeLeaves: [],
      source: 'the source',
    })
  })

  test('has the leaves of a payload that is a JSON object or array', () => {
    const payload = ' {"order":{"id":17,"lines":[{"sku":"A"},{"sku":"B"}]}}'
    const { payloadLeaves } = eventLogDocument(eventLog(1, { payload }), '')
    expect(payloadLeaves).toEqual(
      expect.arrayContaining([
        ['order.id', '17'],
        ['order.lines.sku', 'A'],
        ['order.lines.sku', 'B'],
      ]),
    )
  })

  test.each([
    ['plain text', 'hello'],
    ['text that only begins like JSON', '{hello}'],
    ['a JSON number', '17'],
    ['a JSON string', '"17"'],
    ['too long to parse', JSON.stringify({ a: 'x'.repeat(PAYLOAD_PARSE_LENGTH_MAX) })],
  ])('has no leaves where the payload is %s', (_, payload) => {
    expect(eventLogDocument(eventLog(1, { payload }), '')).toMatchObject({
      payload: payload.slice(0, FULL_TEXT_CHARACTERS_MAX),
      payloadLeaves: [],
    })
  })

  test.each([
    ['a break', JSON.stringify({ text: 'paid\nfailed' }), '{"text":"paid failed"}'],
    [
      'quotes, a path and a letter by its number',
      String.raw`{"a":"\"C:\\temp\" caf\u00e9"}`,
      '{"a":""C:\\temp" café"}',
    ],
    ['half of a pair', String.raw`["\ud83d!"]`, '["\ufffd!"]'],
    ['text that is no JSON', String.raw`paid\nfailed`, String.raw`paid\nfailed`],
  ])('is searched without the escapes of JSON: %s', (_, payload, searched) => {
    expect(eventLogDocument(eventLog(1, { payload }), '').payload).toBe(searched)
  })

  test('has the numbers of its payload with all their digits', () => {
    const payload = '{"id":12345678901234567890,"price":1.10,"ids":[-9007199254740993,7]}'
    const { payloadLeaves } = eventLogDocument(eventLog(1, { payload }), '')
    expect(payloadLeaves).toEqual([
      ['id', '12345678901234567890'],
      ['price', '1.1'],
      ['ids', '-9007199254740993'],
      ['ids', '7'],
    ])
  })

  test('can be made of a payload nested deeper than any stack', () => {
    const payload = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(eventLogDocument(eventLog(1, { payload }), '').payload).toBe(payload.slice(0, FULL_TEXT_CHARACTERS_MAX))
    const lost = `{"id":12345678901234567890,"deep":${payload}}`
    expect(eventLogDocument(eventLog(1, { payload: lost }), '').payloadLeaves).toHaveLength(1)
  })

  test('can be made of any payload', () => {
    const payloads = fc.oneof(fc.json(), fc.string({ unit: 'binary' }))
    fc.assert(
      fc.property(payloads, (payload) => {
        const document = eventLogDocument(eventLog(1, { payload }), '')
        expect(document.payload?.isWellFormed()).toBe(true)
        expect(document.payload).not.toContain('\0')
      }),
    )
  })

  test('has keywords that every store takes, cut at the limits of acceptance', () => {
    const document = eventLogDocument(
      eventLog(1, {
        event: `a\0${'é'.repeat(2_000)}`,
        step: `\uD800${'x'.repeat(1_200)}`,
        environment: '😀'.repeat(100),
        correlationKey: 'k'.repeat(600),
      }),
      '',
    )
    expect(document.event).toBe(`a\uFFFD${'é'.repeat(510)}`)
    expect(document.step).toBe(`\uFFFD${'x'.repeat(1_021)}`)
    expect(document.environment).toBe('😀'.repeat(64))
    expect(document.correlationKey).toBe('k'.repeat(512))
  })

  test('has null for a correlationKey without text', () => {
    expect(eventLogDocument(eventLog(1, { correlationKey: '' }), '').correlationKey).toBeNull()
  })
})

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
      template: 'dd523503463fe',
      exceptionGroup: '0d957bf5d5e02',
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

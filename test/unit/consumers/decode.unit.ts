import { describe, expect, test } from 'vitest'
import type { DeadLetterReason } from '../../../consumers/dead-letters.ts'
import { decodeApplicationLog, decodeEventLog, RECORD_BYTES_MAX, RECORD_LEVELS_MAX } from '../../../consumers/decode.ts'
import { LOST_VALUE } from '../../../shared/journal/journal.ts'
import { applicationLog, eventLog, readRecord } from '../../support/consumers-records.ts'
import * as fc from '../../support/fast-check.ts'

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

describe('a record is decoded', () => {
  test('with its text verbatim', () => {
    const text = ` ${JSON.stringify(eventLog(1, { payload: 'grüße 😀' }))}\n`
    expect(decodeEventLog(readRecord(text))).toEqual({
      outcome: 'decoded',
      entry: eventLog(1, { payload: 'grüße 😀' }),
      source: text,
    })
  })

  test('with fields that this version does not know', () => {
    const text = JSON.stringify({ ...applicationLog(1), tenantRegion: 'eu', nested: { a: [1] } })
    expect(decodeApplicationLog(readRecord(text))).toMatchObject({ outcome: 'decoded', source: text })
  })

  test('with scope data nested as deep as it is accepted', () => {
    const scopeData = JSON.parse(nested(64)) as Record<string, unknown>
    expect(decodeApplicationLog(readRecord(JSON.stringify(applicationLog(1, { scopeData })))).outcome).toBe('decoded')
  })

  test('with scope data that has a key __proto__, which stays a key', () => {
    const text = JSON.stringify(applicationLog(1)).replace('"scopeData":null', '"scopeData":{"__proto__":{"level":1}}')
    const decoded = decodeApplicationLog(readRecord(text))
    expect(decoded).toMatchObject({ outcome: 'decoded', entry: { level: 'Warning' } })
  })
})

const withField = (field: string, value: unknown): string => JSON.stringify({ ...eventLog(1), [field]: value })
const without = (field: string): string => JSON.stringify({ ...eventLog(1), [field]: undefined })

describe('a record is a dead letter', () => {
  test('that the journal has lost, and says so', () => {
    expect(decodeEventLog(readRecord(LOST_VALUE))).toEqual({
      outcome: 'deadLetter',
      reason: 'invalid_json',
      message: 'the file of the journal is damaged at this record',
    })
  })

  test.each<[DeadLetterReason, string, Buffer | string | null]>([
    ['empty_value', 'null', null],
    ['empty_value', 'no bytes', ''],
    ['too_large', 'one byte too many', Buffer.alloc(RECORD_BYTES_MAX + 1, 0x20)],
    ['not_utf8', 'bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['invalid_json', 'text', 'hello'],
    ['invalid_json', 'cut off', JSON.stringify(eventLog(1)).slice(0, -1)],
    ['invalid_json', 'blanks', '   '],
    ['too_deep', 'an object nested too deep', nested(RECORD_LEVELS_MAX + 1)],
    ['too_deep', 'an array nested far too deep', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['unknown_kind', 'null', 'null'],
    ['unknown_kind', 'a number', '7'],
    ['unknown_kind', 'an array', '[]'],
    ['unknown_kind', 'no kind', without('kind')],
    ['unknown_kind', 'another kind', withField('kind', 'metric')],
    ['unknown_kind', "the other topic's kind", JSON.stringify(applicationLog(1))],
    ['unknown_kind', 'all fields in __proto__', `{"__proto__":${JSON.stringify(eventLog(1))}}`],
    ['invalid_record', 'a missing field', without('payload')],
    ['invalid_record', 'a missing nullable field', without('correlationKey')],
    ['invalid_record', 'a number for text', withField('payload', 1)],
    ['invalid_record', 'null for text', withField('team', null)],
    ['invalid_record', 'an unknown level', withField('level', 'information')],
    ['invalid_record', 'an id that is no GUID', withField('id', 'x')],
    ['invalid_record', 'a time that is not canonical', withField('timestamp', '2026-03-01T10:00:00Z')],
    ['invalid_record', 'a date that does not exist', withField('receivedAt', '2026-02-30T10:00:00.000Z')],
    ['invalid_record', 'a Team with a control character', withField('team', 'a\nb')],
    ['invalid_record', 'a Team with half a character', withField('team', 'a\uD800')],
  ])('%s: %s', (reason, _, value) => {
    expect(decodeEventLog(readRecord(value))).toMatchObject({ outcome: 'deadLetter', reason })
  })

  test.each([
    ['a scope that is an array', { scopeData: [] }],
    ['an eventId that is no 32-bit integer', { eventId: 2 ** 31 }],
    ['an eventId with a fraction', { eventId: 1.5 }],
    ['a Project in capitals', { project: '3F2504E0-4F89-11D3-9A0C-0305E82C3301' }],
  ])('invalid_record: %s', (_, changes) => {
    const text = JSON.stringify({ ...applicationLog(1), ...changes })
    expect(decodeApplicationLog(readRecord(text))).toMatchObject({ reason: 'invalid_record' })
  })

  test('whose message names the field and no value', () => {
    const secret = 'hunter2'
    const messages = [withField('level', secret), withField('id', secret), `{"payload": ${secret}}`, `{"${secret}":1}`]
      .map((text) => decodeEventLog(readRecord(text)))
      .map((decoded) => (decoded.outcome === 'deadLetter' ? decoded.message : 'decoded'))
    expect(messages).toEqual([
      '/level must be equal to one of the allowed values',
      '/id must match pattern "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"',
      'the value is not JSON',
      'the record\'s kind is not "event"',
    ])
  })
})

describe('decoding never throws', () => {
  const decodeBoth = (value: Buffer): readonly string[] =>
    [decodeEventLog, decodeApplicationLog].map((decode) => decode(readRecord(value)).outcome)

  test('for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decodeBoth(Buffer.from(bytes))).toEqual(['deadLetter', 'deadLetter'])
      }),
    )
  })

  test('for any JSON, and for records with any field replaced by any JSON', () => {
    const field = fc.constantFrom(
      ...Object.keys(eventLog(1)),
      ...Object.keys(applicationLog(1)),
      '__proto__',
      'toString',
    )
    const damaged = fc
      .tuple(fc.constantFrom(eventLog(1), applicationLog(1)), field, fc.json())
      .map(([entry, name, json]) => `{${JSON.stringify(name)}:${json},${JSON.stringify(entry).slice(1)}`)
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged), (text) => {
        for (const outcome of decodeBoth(Buffer.from(text))) expect(['decoded', 'deadLetter']).toContain(outcome)
      }),
    )
  })
})

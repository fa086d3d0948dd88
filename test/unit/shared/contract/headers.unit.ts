import { describe, expect, test } from 'vitest'
import { validTraceparent } from '../../../../shared/contract/headers.ts'
import { recordHeaders } from '../../../support/consumers-records.ts'

const FACTS = {
  kind: 'event',
  id: 'id',
  subject: 'order-placed',
  time: '2026-01-31T09:30:00.000Z',
  key: null,
  originalKey: null,
  traceparent: undefined,
} as const

describe('the headers of a record', () => {
  test('are CloudEvents in binary mode; headers without a value are left out', () => {
    expect(recordHeaders(FACTS)).toEqual({
      ce_specversion: '1.0',
      ce_id: 'id',
      ce_source: 'urn:sluice:gateway',
      ce_type: 'sluice.event-log.v1',
      ce_subject: 'order-placed',
      ce_time: '2026-01-31T09:30:00.000Z',
      ce_dataschema: 'urn:sluice:schema:event-log-record:v1',
      'content-type': 'application/json',
    })
    expect(recordHeaders({ ...FACTS, kind: 'application' })).toMatchObject({
      ce_type: 'sluice.application-log.v1',
      ce_dataschema: 'urn:sluice:schema:application-log-record:v1',
    })
  })

  test('name the key, or the key that it would have had', () => {
    expect(recordHeaders({ ...FACTS, key: 'k' })).toMatchObject({ ce_partitionkey: 'k' })
    expect(recordHeaders({ ...FACTS, originalKey: 'k' })).toMatchObject({ 'x-original-key': 'k' })
  })
})

describe('traceparent (W3C Trace Context)', () => {
  const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

  test('a valid one is taken', () => {
    expect(validTraceparent(valid)).toBe(valid)
  })

  test.each([
    undefined,
    '',
    [valid],
    valid.slice(1),
    ` ${valid}`,
    valid.toUpperCase(),
    valid.replace('00-', '01-'),
    valid.replace('00-', 'ff-'),
    valid.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    valid.replace('00f067aa0ba902b7', '0'.repeat(16)),
    `${valid}-more`,
  ])('%p is not', (value) => {
    expect(validTraceparent(value)).toBeUndefined()
  })
})

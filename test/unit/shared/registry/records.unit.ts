import { describe, expect, test } from 'vitest'
import {
  decodeRecord,
  emptyState,
  encodeRecord,
  fold,
  ownedId,
  type RegistryRecord,
  splitOwnedId,
} from '../../../../shared/registry/records.ts'
import * as fc from '../../../support/fast-check.ts'

const HASH = 'ab'.repeat(32)
const GUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'

const RECORDS: RegistryRecord[] = [
  { kind: 'team', id: 'payments', value: { name: 'Payments' } },
  { kind: 'event', id: 'order-placed', value: { team: 'payments', name: 'Order placed' } },
  {
    kind: 'step',
    id: 'order/placed validate',
    value: { team: 'payments', event: 'order-placed', name: 'Validate', order: 1 },
  },
  { kind: 'step', id: 'alone', value: { team: 'payments', event: null, name: 'Alone', order: 1 } },
  { kind: 'project', id: GUID, value: { team: 'payments', name: 'Checkout API' } },
  { kind: 'team', id: 'shop', value: { name: 'Shop', defaultProject: GUID } },
  {
    kind: 'team',
    id: 'limited',
    value: { name: 'Limited', limits: { entriesPerSecond: 0, bytesPerSecond: 1, burstSeconds: 60, shadow: true } },
  },
  { kind: 'event', id: 'old', value: { team: 'payments', name: 'Old', archivedAt: '2026-01-01T00:00:00.000Z' } },
  {
    kind: 'key',
    id: `payments/${HASH}`,
    value: { prefix: 'sl_abc', createdAt: '2026-01-01T00:00:00.000Z', revokedAt: null },
  },
  {
    kind: 'search',
    id: `payments/${GUID}`,
    value: { name: 'Errors', page: 'event-logs', params: { level: 'Error' } },
  },
]

const bytes = (text: string | Uint8Array | null): Buffer | null => (text === null ? null : Buffer.from(text))
const decode = (key: string | Uint8Array | null, value: string | Uint8Array | null) =>
  decodeRecord({ key: bytes(key), value: bytes(value) })

describe('records', () => {
  test('the key is kind and id, the value JSON of the rest', () => {
    expect(RECORDS.map((record) => encodeRecord(record)).map(({ key, value }) => `${key} ${value}`)).toEqual([
      'team/payments {"name":"Payments"}',
      'event/order-placed {"team":"payments","name":"Order placed"}',
      'step/order/placed validate {"team":"payments","event":"order-placed","name":"Validate","order":1}',
      'step/alone {"team":"payments","event":null,"name":"Alone","order":1}',
      `project/${GUID} {"team":"payments","name":"Checkout API"}`,
      `team/shop {"name":"Shop","defaultProject":"${GUID}"}`,
      'team/limited {"name":"Limited","limits":{"entriesPerSecond":0,"bytesPerSecond":1,"burstSeconds":60,"shadow":true}}',
      'event/old {"team":"payments","name":"Old","archivedAt":"2026-01-01T00:00:00.000Z"}',
      `key/payments/${HASH} {"prefix":"sl_abc","createdAt":"2026-01-01T00:00:00.000Z","revokedAt":null}`,
      `search/payments/${GUID} {"name":"Errors","page":"event-logs","params":{"level":"Error"}}`,
    ])
  })

  test.each(RECORDS)('what is written is read: $kind $id', (record) => {
    const { key, value } = encodeRecord(record)
    expect(decode(key, value)).toEqual({ record })
  })

  test.each(RECORDS)('null deletes: $kind $id', ({ kind, id }) => {
    const record = { kind, id, value: null }
    const { key, value, headers } = encodeRecord(record)
    expect([value, headers]).toEqual([null, {}])
    expect(decode(key, value)).toEqual({ record })
  })

  test('the id of a key record names its Team and its hash', () => {
    expect(splitOwnedId(ownedId('payments', HASH))).toEqual({ team: 'payments', id: HASH })
  })

  test('fields of a later version are left out', () => {
    expect(decode('team/payments', '{"name":"Payments","colour":"red"}')).toEqual({ record: RECORDS[0] })
  })
})

describe('what cannot be read', () => {
  test.each([
    ['no key', null, 'invalid_key'],
    ['a key that is no UTF-8', Uint8Array.of(0x74, 0xff), 'invalid_key'],
    ['no kind', 'payments', 'unknown_kind'],
    ['an empty key', '', 'unknown_kind'],
    ['another kind', 'tenant/payments', 'unknown_kind'],
    ['a name that every object has', 'constructor/x', 'unknown_kind'],
    ['an empty id', 'event/', 'invalid_id'],
    ['a Team id with a slash', 'team/a/b', 'invalid_id'],
    ['a Project id that is no GUID', 'project/checkout', 'invalid_id'],
    ['a GUID that is not canonical', `project/${GUID.toUpperCase()}`, 'invalid_id'],
    ['a key without a Team', `key/${HASH}`, 'invalid_id'],
    ['a key without a hash', 'key/payments/secret', 'invalid_id'],
    ['a saved search without a Team', `search/${GUID}`, 'invalid_id'],
    ['a saved search without a GUID', 'search/payments/errors', 'invalid_id'],
  ])('%s says nothing about the registry', (_what, key, unreadable) => {
    expect(decode(key, '{"name":"x","team":"x"}')).toEqual({ unreadable })
  })

  test.each([
    ['no JSON', 'team/a', '{"name":', 'invalid_json'],
    ['no UTF-8', 'team/a', Uint8Array.of(0x22, 0xff, 0x22), 'invalid_json'],
    ['no object', 'team/a', '["a"]', 'invalid_json'],
    ['JSON null', 'team/a', 'null', 'invalid_json'],
    ['no name', 'team/a', '{}', 'invalid_value'],
    ['an empty name', 'team/a', '{"name":""}', 'invalid_value'],
    ['a defaultProject that is no GUID', 'team/a', '{"name":"A","defaultProject":"Checkout"}', 'invalid_value'],
    ['limits that are no object', 'team/a', '{"name":"A","limits":7}', 'invalid_value'],
    ['a limit that is no number', 'team/a', '{"name":"A","limits":{"entriesPerSecond":"7"}}', 'invalid_value'],
    ['a limit below zero', 'team/a', '{"name":"A","limits":{"bytesPerSecond":-1}}', 'invalid_value'],
    ['a mode that is no flag', 'team/a', '{"name":"A","limits":{"shadow":"yes"}}', 'invalid_value'],
    ['a name that is no text', 'event/a', '{"team":"t","name":1}', 'invalid_value'],
    ['no Team', 'event/a', '{"name":"A"}', 'invalid_value'],
    ['no Event', 'step/a', '{"team":"t","name":"A","order":1}', 'invalid_value'],
    ['an order that is no whole number', 'step/a', '{"team":"t","event":null,"name":"A","order":1.5}', 'invalid_value'],
    ['a Project without a Team', `project/${GUID}`, '{"name":"A"}', 'invalid_value'],
    ['a list that there is not', `search/t/${GUID}`, '{"name":"A","page":"team","params":{}}', 'invalid_value'],
    [
      'a parameter that is no text',
      `search/t/${GUID}`,
      '{"name":"A","page":"event-logs","params":{"q":1}}',
      'invalid_value',
    ],
    ['a key without its dates', `key/t/${HASH}`, '{"prefix":"abc"}', 'invalid_value'],
    [
      'a date that is none',
      `key/t/${HASH}`,
      '{"prefix":"abc","createdAt":"2026-01-01T00:00:00.000Z","revokedAt":"soon"}',
      'invalid_value',
    ],
  ])('a value with %s counts as deleted, as after compaction it would', (_what, key, value, unreadable) => {
    expect(decode(key, value)).toEqual({ unreadable, record: expect.objectContaining({ value: null }) })
  })

  test('never makes it throw, and never comes out as something else than it went in', () => {
    const part = fc.oneof(
      fc.constant(null),
      fc.uint8Array(),
      fc.string(),
      fc.constantFrom('team/', 'event/e', 'step/s', `project/${GUID}`, `key/t/${HASH}`),
      fc.json(),
    )
    const fields = fc.constantFrom(...RECORDS.flatMap(({ value }) => Object.keys(value ?? {})), 'more')
    const field = fc.oneof(fc.jsonValue(), fc.constantFrom(GUID, 0, { q: 'x' }, { shadow: true, more: 1 }))
    const changed = fc
      .tuple(fc.constantFrom(...RECORDS), fc.dictionary(fields, field, { maxKeys: 2 }))
      .map(([{ kind, id, value }, changes]) => [`${kind}/${id}`, JSON.stringify({ ...value, ...changes })] as const)
    let readable = 0
    fc.assert(
      fc.property(fc.oneof(fc.tuple(part, part), changed), ([key, value]) => {
        const { record } = decode(key, value)
        if (record === undefined || record.value === null) return
        readable += 1
        const written = encodeRecord(record)
        expect(decode(written.key, written.value)).toEqual({ record })
      }),
      { numRuns: 2_000 },
    )
    expect(readable).toBeGreaterThan(0)
  })
})

test('the state depends on the last record of each key alone, so compaction changes nothing', () => {
  const id = fc.constantFrom('a', 'b', 'c')
  const team = fc.record({ name: fc.constantFrom('x', 'y') })
  const record = fc.oneof(
    fc.record({ kind: fc.constant('team' as const), id, value: fc.option(team) }),
    fc.record({ kind: fc.constant('event' as const), id, value: fc.option(fc.constant({ team: 'a', name: 'n' })) }),
  )
  fc.assert(
    fc.property(fc.array(record), (records) => {
      const whole = emptyState()
      for (const each of records) fold(whole, each)
      const compacted = emptyState()
      const last = new Map(records.map((each) => [`${each.kind}/${each.id}`, each]))
      for (const each of last.values()) fold(compacted, each)
      expect(compacted).toEqual(whole)
    }),
  )
})

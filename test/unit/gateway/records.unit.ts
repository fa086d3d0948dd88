import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partitionOf } from '../../../shared/contract/partitioner.ts'
import { KEY, PROJECT, type RunningGateway, startGateway, TOPICS } from '../../support/gateway.ts'

const NOW = Date.UTC(2026, 0, 31, 9, 30)
const EVENT = { uniqueIdentifier: 'order-placed', payload: '{"paid":true}', level: 'warning' }
const APPLICATION = { uniqueIdentifier: PROJECT, categoryName: 'Acme', message: 'paid', level: 'Error' }
const ENTRY = { categoryName: 'Acme', message: 'paid', level: 'Error' }
const PARTITIONS = 12

let gateway: RunningGateway
beforeAll(async () => {
  gateway = await startGateway({ clock: { now: () => NOW }, config: { HOT_KEY_ENTRIES_PER_SECOND: 1_000 } })
})
afterAll(() => gateway.close())

async function publish(path: string, body: object, headers = {}) {
  const from = gateway.journal.batches.length
  const answer = await gateway.post(path, body, headers)
  expect(answer.body).toMatchObject({ success: true })
  const batches = gateway.journal.batches.slice(from)
  const records = batches.flatMap((batch) => batch.records.map((record) => ({ ...record, batch })))
  return { id: answer.body.data['id'], records, batches }
}
const one = async (path: string, body: object, headers = {}) => {
  const { id, records } = await publish(path, body, headers)
  expect(records).toHaveLength(1)
  const [record] = records
  if (record === undefined) throw new Error('no record')
  return { id, ...record, entry: JSON.parse(String(record.value)) }
}

describe('the record of an event log', () => {
  test('of an Event', async () => {
    const { id, key, value, headers, batch } = await one('/api/ExternalLogs', { ...EVENT, correlationKey: 'order-1' })
    expect(batch).toMatchObject({ topic: TOPICS[0], partition: partitionOf('order-1', PARTITIONS) })
    expect(key).toBe('order-1')
    expect(value).toBe(
      JSON.stringify({
        kind: 'event',
        id,
        receivedAt: '2026-01-31T09:30:00.000Z',
        timestamp: '2026-01-31T09:30:00.000Z',
        level: 'Warning',
        environment: 'Development',
        correlationKey: 'order-1',
        team: 'payments',
        event: 'order-placed',
        step: null,
        payload: '{"paid":true}',
      }),
    )
    expect(headers).toEqual({
      ce_specversion: '1.0',
      ce_id: id,
      ce_source: 'urn:sluice:gateway',
      ce_type: 'sluice.event-log.v1',
      ce_subject: 'order-placed',
      ce_time: '2026-01-31T09:30:00.000Z',
      ce_dataschema: 'urn:sluice:schema:event-log-record:v1',
      ce_partitionkey: 'order-1',
      'content-type': 'application/json',
    })
  })

  test('of a Step names its Event too; of a Step that stands alone, none', async () => {
    const step = await one('/api/ExternalLogs', { ...EVENT, uniqueIdentifier: 'order-placed.pay' })
    expect(step.entry).toMatchObject({ event: 'order-placed', step: 'order-placed.pay' })
    expect(step.headers['ce_subject']).toBe('order-placed.pay')
    const alone = await one('/api/ExternalLogs', { ...EVENT, uniqueIdentifier: 'lone-step' })
    expect(alone.entry).toMatchObject({ event: null, step: 'lone-step' })
  })
})

describe('the record of an application log', () => {
  test('has every field, null or the default where there is no value', async () => {
    const { id, key, value, headers, batch } = await one('/api/ApplicationLogs', APPLICATION)
    expect(batch.topic).toBe(TOPICS[1])
    expect(key).toBeNull()
    expect(value).toBe(
      JSON.stringify({
        kind: 'application',
        id,
        receivedAt: '2026-01-31T09:30:00.000Z',
        timestamp: '2026-01-31T09:30:00.000Z',
        level: 'Error',
        environment: 'Development',
        correlationKey: null,
        team: 'payments',
        project: PROJECT,
        categoryName: 'Acme',
        eventId: 0,
        eventName: '',
        message: 'paid',
        exception: null,
        scopeData: null,
      }),
    )
    expect(headers).toMatchObject({ ce_type: 'sluice.application-log.v1', ce_subject: PROJECT })
    expect(headers).not.toHaveProperty('ce_partitionkey')
    expect(headers).not.toHaveProperty('traceparent')
  })

  test('has the timestamp of its sender as ce_time', async () => {
    const { headers } = await one('/api/ApplicationLogs', {
      ...APPLICATION,
      timestamp: '2026-01-30T00:00:00.123456789Z',
    })
    expect(headers['ce_time']).toBe('2026-01-30T00:00:00.123456789Z')
  })
})

describe('traceparent', () => {
  const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

  test('is handed on where it is valid W3C Trace Context', async () => {
    const { records } = await publish(
      '/api/ApplicationLogs/batch',
      { uniqueIdentifier: PROJECT, logEntries: [ENTRY, ENTRY] },
      { traceparent: valid },
    )
    expect(records.map(({ headers }) => headers['traceparent'])).toEqual([valid, valid])
  })

  test('is left out where it is not', async () => {
    for (const traceparent of [
      'x',
      valid.toUpperCase(),
      `${valid}-x`,
      valid.replace(/^00/, 'ff'),
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`,
    ]) {
      const { headers } = await one('/api/ApplicationLogs', APPLICATION, { traceparent })
      expect(headers).not.toHaveProperty('traceparent')
    }
  })
})

describe('partitions', () => {
  const batch = (entries: readonly object[]) => ({ uniqueIdentifier: PROJECT, logEntries: entries })

  test('entries of one correlationKey meet in the partition that its murmur2 names', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => `flow-${index % 20}`)
    const { records } = await publish(
      '/api/ApplicationLogs/batch',
      batch(keys.map((correlationKey) => ({ ...ENTRY, correlationKey }))),
    )
    expect(records).toHaveLength(40)
    for (const { key, batch: sent } of records) expect(sent.partition).toBe(partitionOf(String(key), PARTITIONS))
  })

  test('entries without a key go together, and fill one partition after another', async () => {
    const seen: number[] = []
    for (let round = 0; round < PARTITIONS; round += 1) {
      const { batches } = await publish('/api/ApplicationLogs/batch', batch([ENTRY, ENTRY, ENTRY]))
      expect(batches).toHaveLength(1)
      seen.push(...batches.map(({ partition }) => partition))
    }
    expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: PARTITIONS }, (_, partition) => partition))
  })

  test('a key above its rate is spread: no key, the original one in a header', async () => {
    const hot = await startGateway({ config: { HOT_KEY_ENTRIES_PER_SECOND: 5 } })
    const entries = Array.from({ length: 20 }, () => ({ ...ENTRY, correlationKey: 'hot' }))
    await hot.post('/api/ApplicationLogs/batch', batch(entries))
    const spread = hot.records().filter(({ key }) => key === null)
    const { values } = await hot.metrics.counter('sluice_limited_total').get()
    expect(values).toContainEqual(expect.objectContaining({ labels: { reason: 'hot_key' }, value: spread.length }))
    expect(spread.length).toBeGreaterThanOrEqual(14)
    for (const { headers, value } of spread) {
      expect(headers).toMatchObject({ 'x-original-key': 'hot' })
      expect(headers).not.toHaveProperty('ce_partitionkey')
      expect(JSON.parse(String(value))).toMatchObject({ correlationKey: 'hot' })
    }
    await hot.close()
  })
})

describe('Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'retry-1' }
  const batch = { uniqueIdentifier: PROJECT, logEntries: [ENTRY, { ...ENTRY, correlationKey: 'flow' }, ENTRY] }
  const idsOf = async (path: string, body: object, given = {}) => {
    const { records } = await publish(path, body, given)
    return records.map(({ headers: { ce_id }, batch: { partition } }) => `${ce_id} in ${partition}`).sort()
  }

  test('the same request has the same ids, in the same partitions; UUIDs of version 8', async () => {
    const first = await idsOf('/api/ApplicationLogs/batch', batch, headers)
    expect(new Set(first).size).toBe(3)
    for (const id of first)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12} in /)
    for (let again = 0; again < 3; again += 1)
      expect(await idsOf('/api/ApplicationLogs/batch', batch, headers)).toEqual(first)
  })

  test('compressing the body changes nothing', async () => {
    const { gzipSync } = await import('node:zlib')
    const plain = await publish('/api/ExternalLogs', EVENT, headers)
    const compressed = await gateway.post('/api/ExternalLogs', gzipSync(JSON.stringify(EVENT)), {
      ...headers,
      'content-encoding': 'gzip',
    })
    expect(compressed.body.data['id']).toBe(plain.id)
  })

  test('another key, body or endpoint is another request', async () => {
    const ids = [
      (await publish('/api/ApplicationLogs', APPLICATION, headers)).id,
      (await publish('/api/ApplicationLogs', APPLICATION, { 'idempotency-key': 'retry-2' })).id,
      (await publish('/api/ApplicationLogs', { ...APPLICATION, logEntries: [ENTRY] }, headers)).id,
      (await publish('/api/ApplicationLogs/batch', { ...APPLICATION, logEntries: [ENTRY] }, headers)).records[0]
        ?.headers['ce_id'],
      (await publish('/api/ApplicationLogs', APPLICATION)).id,
      (await publish('/api/ApplicationLogs', APPLICATION)).id,
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('an empty key is none: ids are UUIDs of version 7, and rise', async () => {
    const ids: unknown[] = []
    for (let index = 0; index < 10; index += 1) {
      // fetch sends the empty header as it is.
      const response = await fetch(`http://127.0.0.1:${gateway.port}/api/ExternalLogs`, {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json', 'idempotency-key': '' },
        body: JSON.stringify(EVENT),
      })
      ids.push(((await response.json()) as { data: { id: string } }).data.id)
    }
    expect(ids).toEqual([...ids].sort())
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  })

  test('a refusal is not remembered', async () => {
    gateway.journal.fail('not_written')
    expect((await gateway.post('/api/ExternalLogs', EVENT, { 'idempotency-key': 'k' })).body.success).toBe(false)
    gateway.journal.fail(null)
    expect((await gateway.post('/api/ExternalLogs', EVENT, { 'idempotency-key': 'k' })).body.success).toBe(true)
  })
})

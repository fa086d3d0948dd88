import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRefusalRecorder } from '../../../gateway/refusals/recorder.ts'
import type { NotedRefusal } from '../../../shared/contract/refusals.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { type RunningGateway, startGateway } from '../../support/gateway.ts'
import { createGrpcClient, startGrpc } from '../../support/grpc.ts'
import { protobufOf, statusOf } from '../../support/otlp-protobuf.ts'
import { registryOf } from '../../support/registry-topic.ts'

const NONE_KEY = 'key-of-none-0123456789abcdef0123456789'
const SLOW_KEY = 'key-of-slow-0123456789abcdef0123456789'
const FREE_KEY = 'key-of-free-0123456789abcdef0123456789'
const BYTES_KEY = 'key-of-bytes-0123456789abcdef0123456789'
const SHARED_KEY = 'key-of-both-0123456789abcdef0123456789'
const project = (team: number): string => `3f2504e0-4f89-11d3-9a0c-0305e82c330${team}`

/** A Team of which nothing is taken, one with an entry a second, one with a thousand bytes, one without a quota. */
const registry = registryOf(`
teams:
  - { id: none, apiKeys: ["${NONE_KEY}"], limits: { entriesPerSecond: 0 } }
  - { id: slow, apiKeys: ["${SLOW_KEY}"], limits: { entriesPerSecond: 1, burstSeconds: 1 } }
  - { id: bytes, apiKeys: ["${BYTES_KEY}"], limits: { bytesPerSecond: 1000, burstSeconds: 1 } }
  - { id: free, apiKeys: ["${FREE_KEY}"] }
events:
  - { identifier: none, team: none }
  - { identifier: slow, team: slow }
  - { identifier: free, team: free }
projects:
  - { id: ${project(1)}, team: none, name: None }
  - { id: ${project(2)}, team: slow, name: Slow }
  - { id: ${project(3)}, team: free, name: Free }
  - { id: ${project(4)}, team: bytes, name: Bytes }
`)

const EVENT = { uniqueIdentifier: 'none', payload: 'x', level: 'Information' }
const ENTRY = { categoryName: 'c', message: 'm', level: 'Information' }
const LOGS = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'm' } }] }] }] }
const MESSAGE = /quota of 0 entries a second, so nothing of it is taken\. An operator/

let gateway: RunningGateway
let noted: NotedRefusal[] = []
beforeAll(async () => {
  const outbox = { push: (record: unknown) => noted.push(record as NotedRefusal) > 0, miss: () => undefined }
  const refusalRecorder = createRefusalRecorder({ registry, clock: systemClock, outbox })
  gateway = await startGateway({ registry, refusalRecorder })
})
beforeEach(() => {
  noted = []
})
afterAll(() => gateway.close())

async function send(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': NONE_KEY, 'content-type': 'application/json', ...headers },
    body: body as string,
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, retryAfter: Number(response.headers.get('retry-after')), bytes }
}

describe('a Team beyond its quota is answered 429 and when to come back', () => {
  test.each([
    ['/api/ExternalLogs', JSON.stringify(EVENT)],
    ['/api/ExternalLogs?strict=true', JSON.stringify(EVENT)],
    ['/api/ApplicationLogs', JSON.stringify({ uniqueIdentifier: project(1), ...ENTRY })],
    ['/api/ApplicationLogs/batch', JSON.stringify({ uniqueIdentifier: project(1), logEntries: [ENTRY] })],
    ['/ingest/clef', '{"@t":"2026-01-31T09:30:00Z","@m":"m"}'],
    ['/api/events/raw', '{"Events":[{"MessageTemplate":"m"}]}'],
    ['/ingest/json', '{"msg":"m"}'],
    ['/ingest/json', '[{"msg":"m"}]'],
    // The content makes no difference: it is not read.
    ['/api/ExternalLogs', '{'],
    ['/ingest/json', 'x'.repeat(6_000_000)],
  ])('at %s, in the envelope', async (path, body) => {
    const { status, retryAfter, bytes } = await send(path, body)
    const { success, error } = JSON.parse(bytes.toString())
    expect({ status, success, code: error.code, retryable: error.retryable }).toEqual({
      ...{ status: 429, success: false, code: 'rate_limited', retryable: true },
    })
    expect(error.message).toMatch(MESSAGE)
    expect(error.details).toEqual({ team: 'none', entriesPerSecond: 0, retryAfterSeconds: retryAfter })
    expect(retryAfter).toBeGreaterThanOrEqual(60)
    expect(retryAfter).toBeLessThanOrEqual(90)
    expect(noted).toMatchObject([{ team: 'none', code: 'rate_limited', body: null }])
  })

  test.each(['/v1/logs', '/ingest/otlp/v1/logs', '/projects/None/v1/logs'])(
    'at %s, in both encodings of OTLP',
    async (path) => {
      const json = await send(path, JSON.stringify(LOGS))
      const binary = await send(path, protobufOf(LOGS), { 'content-type': 'application/x-protobuf' })
      for (const [{ status, retryAfter }, body] of [
        [json, JSON.parse(json.bytes.toString())],
        [binary, statusOf(binary.bytes)],
      ] as const) {
        expect([status, retryAfter >= 60]).toEqual([429, true])
        expect(body).toMatchObject({ code: 8, message: expect.stringMatching(MESSAGE) })
        expect(body).toMatchObject({ details: [{ reason: 'rate_limited', domain: 'sluice' }] })
      }
    },
  )

  test('by gRPC, with RESOURCE_EXHAUSTED and RetryInfo, without which clients give up', async () => {
    const server = await startGrpc(gateway)
    const client = createGrpcClient(server.port, NONE_KEY)
    const { code, message, status } = await client.call(protobufOf(LOGS))
    expect([code, message]).toEqual([8, expect.stringMatching(MESSAGE)])
    const { details } = status as { details: readonly Record<string, unknown>[] }
    expect(details.map((detail) => detail['@type'])).toEqual([
      'type.googleapis.com/google.rpc.ErrorInfo',
      'type.googleapis.com/google.rpc.RetryInfo',
    ])
    expect(Number(Object(details[1]?.['retryDelay'])['seconds'])).toBeGreaterThanOrEqual(60)
    client.close()
    await server.stop()
  })
})

describe('a Team within its quota', () => {
  test('has its batch taken whole, and is refused until its debt is paid, also by another path; another Team is not', async () => {
    const entries = Array.from({ length: 100 }, () => ENTRY)
    const batch = (team: number) => ({ uniqueIdentifier: project(team), logEntries: entries })
    const before = gateway.records().length
    const taken = await gateway.post('/api/ApplicationLogs/batch', batch(2), { 'x-api-key': SLOW_KEY })
    expect(taken).toMatchObject({ status: 200, body: { success: true, data: { count: 100 } } })
    const refused = await gateway.post(
      '/api/ExternalLogs',
      { ...EVENT, uniqueIdentifier: 'slow' },
      { 'x-api-key': SLOW_KEY },
    )
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'rate_limited', details: { team: 'slow', entriesPerSecond: 1 } } },
    })
    for (let time = 0; time < 20; time += 1) {
      const free = await gateway.post('/api/ApplicationLogs/batch', batch(3), { 'x-api-key': FREE_KEY })
      expect(free).toMatchObject({ status: 200, body: { success: true } })
    }
    expect(gateway.records().length - before).toBe(2_100)
  })

  test('pays for the bytes of a body as they are after decompression', async () => {
    const body = gzipSync(JSON.stringify({ uniqueIdentifier: project(4), ...ENTRY, message: 'x'.repeat(40_000) }))
    expect(body.length).toBeLessThan(1_000)
    const headers = { 'x-api-key': BYTES_KEY, 'content-encoding': 'gzip' }
    expect(await gateway.post('/api/ApplicationLogs', body, headers)).toMatchObject({ body: { success: true } })
    const { status, body: refused } = await gateway.post('/api/ApplicationLogs', body, headers)
    expect([status, refused.error.message]).toEqual([429, expect.stringContaining('quota, 1,000 bytes a second')])
    expect(Object(refused.error.details)['retryAfterSeconds']).toBeGreaterThanOrEqual(30)
  })

  test('is told that a target is not its own, whatever the quota of its owner', async () => {
    const foreign = await gateway.post(
      '/api/ExternalLogs',
      { ...EVENT, uniqueIdentifier: 'none' },
      { 'x-api-key': FREE_KEY },
    )
    expect(foreign).toMatchObject({ status: 200, body: { error: { code: 'invalid_api_key' } } })
  })
})

test('a key that several Teams have is no way round the quota of one', async () => {
  const shared = registryOf(`
teams:
  - { id: none, apiKeys: ["${SHARED_KEY}"], limits: { entriesPerSecond: 0 } }
events: [{ identifier: none, team: none }]
`)
  // As with a key of several Teams, its head does not tell whose a request is.
  const own = await startGateway({ registry: { ...shared, ownerOfKey: () => 'hash', teamOfKey: () => undefined } })
  try {
    const refused = await own.post('/api/ExternalLogs', EVENT, { 'x-api-key': SHARED_KEY })
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited', details: { team: 'none' } } } })
    expect(own.records()).toEqual([])
  } finally {
    await own.close()
  }
})

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRefusalRecorder } from '../../../../gateway/refusals/recorder.ts'
import type { NotedRefusal, RefusalRecord } from '../../../../shared/contract/refusals.ts'
import { AppendError, unpacked } from '../../../../shared/journal/journal.ts'
import { type RunningGateway, startGateway } from '../../../support/gateway.ts'
import { registryOf } from '../../../support/registry-topic.ts'

const KEY = 'key-of-payments-0123456789abcdef'
const OTHER_KEY = 'kex-of-billing-0123456789abcdef0'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const AT = '2026-03-04T05:06:07.000Z'
const live = registryOf(`
teams: [{ id: payments, apiKeys: ["${KEY}"] }, { id: billing, apiKeys: ["${OTHER_KEY}"] }]
events:
  - { identifier: order-placed, team: payments }
  - { identifier: retired, team: payments, archived: true }
  - { identifier: invoiced, team: billing }
steps:
  - { identifier: retired.step, team: payments, event: retired }
  - { identifier: retired-step, team: payments, archived: true }
projects: [{ id: ${PROJECT}, team: payments }]
`)
const REVOKED = 'revoked-key-of-payments-0123456789'
const registry = { ...live, formerTeamOfKey: (key: string) => (key === REVOKED ? live.team('payments') : undefined) }

const EVENT_LOG = { uniqueIdentifier: 'order-placed', payload: 'x', level: 'Error' }
const ENTRY = { categoryName: 'Acme', message: 'hello', level: 'Error' }
const otlpOf = (text: string) => ({
  resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: text }, severityNumber: 9 }] }] }],
})

let gateway: RunningGateway
let records: RefusalRecord[] = []
let missed: string[] = []

beforeEach(async () => {
  records = []
  missed = []
  const refusalRecorder = createRefusalRecorder({
    registry,
    clock: { now: () => Date.parse(AT) },
    outbox: {
      push: (record) => {
        records.push(record)
        return true
      },
      miss: (team, code) => void missed.push(`${team} ${code}`),
    },
  })
  gateway = await startGateway({
    registry,
    refusalRecorder,
    config: { MAX_BODY_BYTES: 100_000, MAX_BATCH_ENTRIES: 50 },
  })
})
afterEach(() => gateway.close())

const noted = (): NotedRefusal => {
  expect(records).toHaveLength(1)
  return records[0] as NotedRefusal
}

describe('a refused entry is noted', () => {
  test.each([
    ['/api/ExternalLogs', { ...EVENT_LOG, payload: 'x'.repeat(70_000) }, '/payload', null],
    ['/api/ExternalLogs', { ...EVENT_LOG, payload: 'x'.repeat(2_000) }, undefined, null],
    [
      '/api/ApplicationLogs/batch',
      { uniqueIdentifier: PROJECT, logEntries: [{ ...ENTRY, scopeData: { a: 1, b: 'x'.repeat(70_000) } }] },
      '/scopeData/b',
      0,
    ],
    ['/v1/logs', otlpOf('x'.repeat(70_000)), undefined, 0],
  ])(
    'without its content as its topic never takes it, with the field to shorten if it has our names: %s',
    async (path, body, largest, index) => {
      const { append } = gateway.journal
      gateway.journal.append = async (batch) => {
        if (batch.records.map(unpacked).every(({ value }) => (value?.length ?? 0) <= 1_000)) return append(batch)
        throw new AppendError('too large', 'not_written', { isFinal: true, isOfTopic: true, bytesMax: 1_000 })
      }
      const headers = { 'X-Strict-Status': 'true', 'X-Project-Id': PROJECT }
      const answer = JSON.stringify((await gateway.post(path, body, headers)).body)
      expect(answer).toContain(largest === undefined ? 'Shorten the entry' : `Shorten its largest field, ${largest},`)
      const details = { limit: 1_000, ...(largest !== undefined && { largest }) }
      expect(noted()).toMatchObject({ team: 'payments', code: 'entry_too_large', details, index, body: null })
      expect(noted().identifier).toBe(body['uniqueIdentifier' as never] ?? null)
    },
  )

  test('with all that its sender needs to mend it', async () => {
    const body = { ...EVENT_LOG, correlationKey: 7 }
    const { body: answer } = await gateway.post('/api/ExternalLogs', body, {
      'x-api-key': KEY,
      'user-agent': 'acme/1.0',
    })
    expect(records).toEqual([
      {
        kind: 'refusal',
        team: 'payments',
        at: AT,
        endpoint: '/api/ExternalLogs',
        code: 'invalid_request',
        message: answer.error.message,
        details: [{ path: '/correlationKey', message: expect.any(String) }],
        index: null,
        identifier: 'order-placed',
        keyPrefix: 'key-of',
        userAgent: 'acme/1.0',
        body: JSON.stringify(body),
        bodyCut: false,
      },
    ])
  })

  test('each of a batch by itself, with its place and its own text', async () => {
    const logEntries = [ENTRY, { ...ENTRY, level: 'Loud' }, ENTRY, 'no entry']
    await gateway.post('/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries }, { 'x-api-key': KEY })
    expect(records).toMatchObject([
      { code: 'invalid_log_level', index: 1, identifier: PROJECT, body: JSON.stringify({ ...ENTRY, level: 'Loud' }) },
      { code: 'invalid_request', index: 3, body: '"no entry"' },
    ])
    expect(gateway.records()).toHaveLength(2)
  })

  test('each of a batch with the digits that were sent, where JavaScript has fewer', async () => {
    const entries = ['"eventId":12345678901234567890', '"id":9007199254740993', '"id":[1.50,1e999]'].map(
      (field) => `{"message":"hello",${field}}`,
    )
    const body = `{"uniqueIdentifier":"${PROJECT}","logEntries":[${entries.join()}, 9007199254740993]}`
    await gateway.post('/api/ApplicationLogs/batch', body, { 'x-api-key': KEY })
    expect(records.map((record) => (record as NotedRefusal).body)).toEqual([...entries, '9007199254740993'])
  })

  test('each of a batch as far as it can be read, where one is nested too deep to be read again', async () => {
    const deep = `{"message":"hello","scopeData":${'['.repeat(20_000)}9007199254740993${']'.repeat(20_000)}}`
    const body = `{"uniqueIdentifier":"${PROJECT}","logEntries":[${deep},{"eventId":9007199254740993}]}`
    await gateway.post('/api/ApplicationLogs/batch', body, { 'x-api-key': KEY })
    expect(records).toMatchObject([{ bodyCut: true }, { body: '{"eventId":9007199254740992}' }])
  })

  test('a batch as a whole where it is refused as a whole', async () => {
    const logEntries = Array(51).fill(ENTRY)
    await gateway.post('/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries }, { 'x-api-key': KEY })
    expect(noted()).toMatchObject({ code: 'batch_too_large', index: null, bodyCut: false })
  })

  test('and nothing that was accepted', async () => {
    await gateway.post('/api/ExternalLogs', EVENT_LOG, { 'x-api-key': KEY })
    const logEntries = [ENTRY, ENTRY]
    await gateway.post('/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries }, { 'x-api-key': KEY })
    expect(gateway.records()).toHaveLength(3)
    expect(records).toEqual([])
  })

  test('nor what is refused for a while only, until the registry is read', async () => {
    const push = vi.fn<() => boolean>()
    const clock = { now: () => Date.parse(AT) }
    const refusalRecorder = createRefusalRecorder({ registry, clock, outbox: { push, miss: push } })
    const starting = await startGateway({ registry, registryReady: () => false, refusalRecorder })
    const { body } = await starting.post('/api/ExternalLogs', EVENT_LOG, { 'x-api-key': KEY })
    await starting.close()
    expect(body.error.code).toBe('server_error')
    expect(push).not.toHaveBeenCalled()
  })

  test('nor what the journal did not confirm', async () => {
    gateway.journal.fail('not_written')
    const { body } = await gateway.post('/api/ExternalLogs', EVENT_LOG, { 'x-api-key': KEY })
    expect(body.error.code).toBe('server_error')
    expect(records).toEqual([])
  })

  test('bodies that are no JSON, with their bytes', async () => {
    await gateway.post('/api/ExternalLogs', '{"payload":', { 'x-api-key': KEY })
    expect(noted()).toMatchObject({ code: 'malformed_json', body: '{"payload":', identifier: null })
  })

  test('bodies that were not read, without', async () => {
    await gateway.post('/api/ExternalLogs', 'x'.repeat(100_001), { 'x-api-key': KEY })
    expect(noted()).toMatchObject({ code: 'payload_too_large', body: null, bodyCut: false })
  })

  test('long things from their beginning', async () => {
    const body = { ...EVENT_LOG, level: 'Loud', payload: 'p'.repeat(40_000), uniqueIdentifier: 'i'.repeat(40_000) }
    await gateway.post('/api/ExternalLogs', body, { 'x-api-key': KEY, 'user-agent': 'u'.repeat(2_000) })
    const { body: kept, bodyCut, identifier, userAgent } = noted()
    expect([kept?.length, bodyCut, identifier?.length, userAgent?.length]).toEqual([8_192, true, 256, 256])
  })
})

describe('a refusal belongs', () => {
  test.each([
    ['the Team of the key, where the identifier is unknown', { uniqueIdentifier: 'order-plced' }, KEY, 'payments'],
    ["the Team of the key, where the identifier is another Team's", { uniqueIdentifier: 'invoiced' }, KEY, 'payments'],
    ['the Team of the identifier, where the key opens nothing', {}, 'no-key-of-anyone-0123456789', 'payments'],
    ['the Team of the identifier, where there is no key', {}, '', 'payments'],
  ])('to %s', async (_what, fields, key, team) => {
    await gateway.post('/api/ExternalLogs', { ...EVENT_LOG, ...fields }, { 'x-api-key': key })
    expect(noted()).toMatchObject({ team, keyPrefix: key === '' ? null : key.slice(0, 6) })
  })

  test.each([
    ['/ingest/clef', { 'x-project-id': PROJECT }],
    [`/projects/${PROJECT}/ingest/json`, {}],
    [`/v1/logs?project=${PROJECT}`, {}],
  ])('to the Team of the Project that a request to %s names by its id', async (path, headers: object) => {
    await gateway.post(path, {}, { 'x-api-key': 'wrong-key-0123456789abcdef', ...headers })
    expect(noted()).toMatchObject({ team: 'payments', code: 'invalid_api_key', keyPrefix: 'wrong-' })
  })

  test('to the former Team of a revoked key', async () => {
    for (const path of ['/ingest/clef', '/v1/logs', '/api/ExternalLogs']) {
      records = []
      const { body } = await gateway.post(
        path,
        { ...EVENT_LOG, uniqueIdentifier: 'invoiced' },
        { 'x-api-key': REVOKED },
      )
      expect(noted()).toMatchObject({ team: 'payments', code: 'invalid_api_key', keyPrefix: 'revoke' })
      expect(JSON.stringify(body)).toContain('The key was revoked. Use a live key of the Team that ')
    }
  })

  test('to the Team of the Project, in any form of its GUID', async () => {
    const body = { ...ENTRY, uniqueIdentifier: `{${PROJECT.toUpperCase()}}` }
    await gateway.post('/api/ApplicationLogs', body, { 'x-api-key': 'wrong-key-0123456789abcdef' })
    expect(noted()).toMatchObject({ team: 'payments', code: 'invalid_api_key', keyPrefix: 'wrong-' })
  })

  test('to nobody, where neither is known', async () => {
    await gateway.post(
      '/api/ExternalLogs',
      { ...EVENT_LOG, uniqueIdentifier: 'nowhere' },
      { 'x-api-key': 'x'.repeat(40) },
    )
    await gateway.post('/api/ExternalLogs', 'no JSON', { 'x-api-key': '' })
    expect(records).toEqual([])
  })

  test('and shows of a short key less than six characters', async () => {
    await gateway.post('/api/ExternalLogs', EVENT_LOG, { 'x-api-key': 'secret12' })
    expect(noted().keyPrefix).toBe('se')
  })
})

test('a flood is noted in part, and the rest is counted', async () => {
  const logEntries = Array.from({ length: 50 }, () => ({ ...ENTRY, level: '' }))
  const { body } = await gateway.post(
    '/api/ApplicationLogs/batch',
    { uniqueIdentifier: PROJECT, logEntries },
    { 'x-api-key': KEY },
  )
  expect(body.error.details).toMatchObject({ rejected: 50 })
  expect(records).toHaveLength(20)
  expect(missed).toEqual(Array(30).fill('payments invalid_log_level'))
})

describe('what is archived', () => {
  const post = (uniqueIdentifier: string, key: string) =>
    gateway.post('/api/ExternalLogs', { ...EVENT_LOG, uniqueIdentifier }, { 'x-api-key': key })

  test('is refused as not found, and its Team is told why', async () => {
    for (const [identifier, what] of [
      ['retired', 'This Event'],
      ['retired-step', 'This Step'],
      // A Step cannot be restored without its Event.
      ['retired.step', 'The Event of this Step'],
    ] as const) {
      const { body } = await post(identifier, KEY)
      expect(body.error).toMatchObject({ code: 'entity_not_found', retryable: false })
      expect(body.error.message).toBe(
        `${what} is archived and takes no more logs. Restore it in the Team's settings, or send to another.`,
      )
    }
  })

  test('is to another Team as if it had never been', async () => {
    const { body } = await post('retired', OTHER_KEY)
    const { body: unknown } = await post('nowhere', OTHER_KEY)
    expect(body).toEqual(unknown)
  })

  test('is refused for Projects too, single and in batches', async () => {
    const archived = registryOf(`teams: [{ id: payments, apiKeys: ["${KEY}"] }]
projects: [{ id: ${PROJECT}, team: payments, archived: true }]`)
    const other = await startGateway({ registry: archived })
    for (const [path, body] of [
      ['/api/ApplicationLogs', { uniqueIdentifier: PROJECT, ...ENTRY }],
      ['/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries: [ENTRY] }],
    ] as const) {
      const { body: answer, status } = await other.post(path, body, { 'x-api-key': KEY, 'x-strict-status': 'true' })
      expect([status, answer.error.code]).toEqual([404, 'project_not_found'])
      expect(answer.error.message).toContain('This Project is archived')
    }
    expect(other.records()).toEqual([])
    await other.close()
  })
})

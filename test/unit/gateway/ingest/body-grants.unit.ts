import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createBodyGrants, UNKNOWN_BODY_BYTES_MAX } from '../../../../gateway/ingest/body-grants.ts'
import { createByteBudget } from '../../../../shared/runtime/byte-budget.ts'
import { loadConfig } from '../../../../shared/runtime/config.ts'
import { eventually } from '../../../support/eventually.ts'
import { createGatewayRegistry, KEY, PROJECT, type RunningGateway, startGateway } from '../../../support/gateway.ts'
import { openRaw } from '../../../support/raw-http.ts'

const EVENTS = '/api/ExternalLogs'
const BATCH = '/api/ApplicationLogs/batch'
const event = (bytes: number) => ({
  uniqueIdentifier: 'order-placed',
  payload: 'x'.repeat(bytes),
  level: 'Information',
})
const LARGE = JSON.stringify(event(UNKNOWN_BODY_BYTES_MAX))
const BOMB = gzipSync('['.repeat(19_900_000))

let gateway: RunningGateway
let sockets: Socket[]
beforeEach(async () => {
  sockets = []
  gateway = await startGateway()
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await gateway.close()
})

/** Sends the head of a request and a part of its body; gives back what is answered so far. */
function begin(path: string, headers: string, part: string, length: number): () => string {
  const { socket, send, received } = openRaw(gateway.port)
  sockets.push(socket)
  send(`POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${length}\r\n\r\n${part}`)
  return received
}

describe('a body of an unknown sender', () => {
  const STRICT = { 'x-strict-status': 'true' }

  test.each([
    ['without a key', '', 'missing_api_key', 401],
    ['with a key of nobody', 'key-of-nobody-0123456789abcdef', 'invalid_api_key', 403],
  ])('%s is read so far as it is small, and refused by the key beyond', async (_name, key, code, status) => {
    const headers = { 'x-api-key': key }
    const large = await gateway.post(EVENTS, LARGE, headers)
    expect([large.status, large.body.error.code]).toEqual([200, code])
    const strict = await gateway.post(BATCH, LARGE, { ...headers, ...STRICT })
    expect([strict.status, strict.body.error.code]).toEqual([status, code])
    const bomb = await gateway.post(EVENTS, BOMB, { ...headers, 'content-encoding': 'gzip' })
    expect([bomb.status, bomb.body.error.code]).toEqual([200, code])
    expect((await gateway.post(EVENTS, '{"a":', headers)).body.error.code).toBe('malformed_json')
    expect((await gateway.post(BATCH, {}, headers)).body.error.code).toBe('missing_project_id')
    expect(gateway.records()).toEqual([])
  })

  test('is refused before it is sent where the key alone says who sends', async () => {
    for (const [headers, status] of [
      ['', 401],
      ['X-API-Key: nobody\r\n', 403],
    ] as const)
      for (const path of ['/v1/logs', '/ingest/clef', '/api/events/raw?clef']) {
        const answered = begin(path, headers, '', 1_000)
        await eventually(() => expect(answered()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `)))
      }
  })

  test('may be sent again while the registry is being read', async () => {
    const starting = await startGateway({ registryReady: () => false })
    const { body } = await starting.post(EVENTS, LARGE, { 'x-api-key': 'new-key-0123456789abcdef' })
    expect(body.error).toMatchObject({ code: 'server_error', retryable: true, details: { outcome: 'not_written' } })
    await starting.close()
  })

  test('shares a small part of the budget with its like, however many there are', async () => {
    await gateway.close()
    gateway = await startGateway({ config: { BODY_BUFFER_BYTES: 9_000_000 } })
    const half = 'x'.repeat(30_000)
    const refused: (() => string)[] = []
    for (let count = 0; count < 60; count += 1) refused.push(begin(EVENTS, '', half, 60_000))
    await eventually(() => expect(refused.filter((answered) => answered().includes('server_error')).length).toBe(27))
    // Each of two Teams' bodies finds room, all the same.
    expect((await gateway.post(EVENTS, event(900_000))).body.success).toBe(true)
    const gzip = { 'content-encoding': 'gzip' }
    expect((await gateway.post(EVENTS, gzipSync(JSON.stringify(event(900_000))), gzip)).body.success).toBe(true)
  })
})

test('a Team has a share and a turn of its own, whatever its id', () => {
  const grants = createBodyGrants({
    registry: { ...createGatewayRegistry(), ownerOfKey: () => 'unknown' },
    registryReady: () => true,
    config: loadConfig({}),
    budget: createByteBudget(1_000),
    quotas: { refusal: () => undefined },
  })
  const [nobody, team] = [{}, { 'x-api-key': KEY }].map((headers) => grants.byTarget({ headers }).value)
  expect(team?.owner).not.toBe(nobody?.owner)
  expect(team?.share).not.toBe(nobody?.share)
})

describe('a long body of a known sender', () => {
  const entry = (more: object = {}) => ({ categoryName: 'Shop', message: 'm', level: 'Information', ...more })
  const batch = (...logEntries: readonly unknown[]) => `{"uniqueIdentifier":"${PROJECT}","logEntries":[${logEntries}]}`

  test('is judged like any other, its numbers as they were written', async () => {
    const filler = JSON.stringify(entry({ message: 'x'.repeat(20_000) }))
    const exact = '{"categoryName":"Shop","message":"m","level":"Information","scopeData":{"id":12345678901234567890}}'
    const bad = JSON.stringify(entry({ level: 'loud' }))
    const { body } = await gateway.post(BATCH, batch(...Array(40).fill(filler), exact, bad, '7'))
    expect(body.data).toMatchObject({
      count: 41,
      rejected: 2,
      errors: [
        { index: 41, code: 'invalid_log_level' },
        { index: 42, code: 'invalid_request' },
      ],
    })
    expect(String(gateway.records().at(-1)?.value)).toContain('"scopeData":{"id":12345678901234567890}')
  })

  test('that is no JSON, too deep or of too many values is refused as a whole', async () => {
    const filler = `"${'x'.repeat(300_000)}"`
    const send = async (text: string) => (await gateway.post(BATCH, text)).body.error
    expect((await send(`{"a":${filler}`)).code).toBe('malformed_json')
    expect((await send(`{"a":${filler},"b":${'['.repeat(600)}${']'.repeat(600)}}`)).details).toEqual([
      { path: '', message: 'must not be nested more than 512 levels deep' },
    ])
    const values = await gateway.post(BATCH, `{"a":[${'1,'.repeat(1_000_000)}1]}`)
    expect([values.status, values.body.error]).toMatchObject([413, { code: 'payload_too_large', retryable: false }])
  })

  test('an entry that is too large is told so before it is written', async () => {
    const scopeData = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`member-${index}`, 1]))
    const { body } = await gateway.post(
      BATCH,
      batch(...[entry(), entry({ scopeData })].map((one) => JSON.stringify(one))),
    )
    expect(body.data).toMatchObject({ count: 1, errors: [{ index: 1, code: 'entry_too_large' }] })
    const event = { uniqueIdentifier: 'order-placed', payload: 'x'.repeat(1_100_000), level: 'Information' }
    expect((await gateway.post(EVENTS, event)).body.error).toMatchObject({
      code: 'entry_too_large',
      details: { limit: 1_000_000 },
      message: expect.not.stringContaining('size'),
    })
  })

  test('gives back all that it took', async () => {
    for (const body of [batch(JSON.stringify(entry({ message: 'x'.repeat(400_000) }))), `{"a":${'x'.repeat(400_000)}`])
      await gateway.post(BATCH, body)
    expect(await gateway.metrics.registry.metrics()).toMatch(/^sluice_body_bytes 0$/m)
  })
})

test('bodies that are sent without end hold no more of the budget than their Team may', async () => {
  await gateway.close()
  gateway = await startGateway({ config: { BODY_BUFFER_BYTES: 9_000_000 } })
  const part = 'x'.repeat(1_000_000)
  const all = Array.from({ length: 12 }, () => begin(EVENTS, `X-API-Key: ${KEY}\r\n`, part, 3_000_000))
  await eventually(() => expect(all.filter((answered) => answered().includes('server_error'))).toHaveLength(6))
  const { body } = await gateway.post('/v1/logs', '{}')
  expect(body).toEqual({})
})

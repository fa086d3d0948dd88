import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { KEY, type RunningGateway, startGateway } from '../../support/gateway.ts'
import { openRaw } from '../../support/raw-http.ts'

const PATH = '/api/ExternalLogs'
const entry = (bytes: number) =>
  JSON.stringify({ uniqueIdentifier: 'order-placed', payload: 'x'.repeat(bytes), level: 'Information' })
const GZIP = { 'content-encoding': 'gzip' }
/** Three quarters of it are for one Team: 1.5 MB. */
const BUFFER = 2_000_000
const NO_ROOM = {
  success: false,
  error: {
    code: 'server_error',
    message: expect.stringMatching(/Too many bytes of request bodies .* Retry-After/),
    details: { outcome: 'not_written' },
    retryable: true,
  },
}

let gateway: RunningGateway
let sockets: Socket[]
beforeEach(async () => {
  sockets = []
  gateway = await startGateway({ config: { MAX_BODY_BYTES: 1_000_000, BODY_BUFFER_BYTES: BUFFER } })
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await gateway.close()
})

async function held(): Promise<number> {
  const text = await gateway.metrics.registry.metrics()
  return Number(/^sluice_body_bytes (\d+)$/m.exec(text)?.[1])
}
/** Waits until so much is held by two bodies at most; the last piece of each has a block of up to 64 KiB where it is tiny. */
const holds = (bytes: number) =>
  eventually(async () => {
    const more = (await held()) - bytes
    return more >= 0 && more < 2 * 66_000
  })
const holdsNothing = () => eventually(async () => (await held()) === 0)

/** Sends the beginning of a request; gives back the connection and what is answered on it. */
function begin(body: string, sent: number, headers = ''): { socket: Socket; rest: string; answered: () => string } {
  const { socket, send, received: answered } = openRaw(gateway.port)
  sockets.push(socket)
  send(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body.slice(0, sent)}`,
  )
  return { socket, rest: body.slice(sent), answered }
}

describe('the memory for bodies is bounded over all requests', () => {
  test('compressed bodies beyond it are refused, the others answered, and then there is room again', async () => {
    const body = gzipSync(entry(900_000))
    const send = () => gateway.post(PATH, body, GZIP)
    const answers = await Promise.all(Array.from({ length: 30 }, send))
    const refused = answers.filter((answer) => !answer.body.success)
    for (const answer of refused) {
      expect(answer.body).toEqual(NO_ROOM)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([200, '1'])
    }
    expect(refused.length).toBeGreaterThan(0)
    const limited = await gateway.metrics.counter('sluice_limited_total').get()
    expect(limited.values).toContainEqual(
      expect.objectContaining({ labels: { reason: 'body_buffer' }, value: refused.length }),
    )
    expect(gateway.records()).toHaveLength(30 - refused.length)
    expect(gateway.records().length).toBeGreaterThan(0)
    const { values } = await gateway.metrics.counter('sluice_requests_refused_total').get()
    expect(values.map(({ labels, value }) => [labels['code'], value])).toEqual([['server_error', refused.length]])
    expect(await held()).toBe(0)
    expect((await send()).body.success).toBe(true)
  })

  test('bodies that stall half way hold what came; one beyond is refused at once, on a connection that goes on', async () => {
    const body = entry(900_000)
    const stalled = begin(body, 700_000)
    await holds(700_000)
    const other = begin(body, 700_000)
    await holds(1_400_000)
    const beyond = begin(body, 700_000, 'X-Strict-Status: true\r\n')
    await eventually(() =>
      expect(beyond.answered()).toMatch(
        /^HTTP\/1\.1 503 [\s\S]*retry-after: 1\r\n[\s\S]*"code":"server_error"[\s\S]*"outcome":"not_written"/i,
      ),
    )
    await holds(1_400_000)
    expect((await gateway.post(PATH, gzipSync(body), GZIP)).body).toEqual(NO_ROOM)
    expect((await gateway.post(PATH, entry(100))).body.success).toBe(true)

    other.socket.resetAndDestroy()
    await holds(700_000)
    stalled.socket.write(stalled.rest)
    await eventually(() => expect(stalled.answered()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"success":true/))
    beyond.socket.write(`${beyond.rest}POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\n`)
    beyond.socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`)
    await eventually(() => expect(beyond.answered()).toMatch(/HTTP\/1\.1 200 [\s\S]*"success":true/))
    expect(await held()).toBe(0)
  })

  test('the endpoints of other clients share it, and refuse in their own words', async () => {
    begin(entry(900_000), 900_000)
    begin(entry(900_000), 450_000)
    await holds(1_350_000)
    const { status, body, headers } = await gateway.post('/v1/logs', gzipSync(entry(900_000)), GZIP)
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    expect(body).toMatchObject({ code: 14, details: [{ reason: 'server_error' }] })
  })

  test('a socket cut in the middle of a body gives back what it held', async () => {
    for (let count = 0; count < 5; count += 1) {
      const { socket } = begin(entry(900_000), 600_000)
      await holds(600_000)
      socket.resetAndDestroy()
      await holdsNothing()
    }
  })
})

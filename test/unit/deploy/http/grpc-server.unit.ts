import { once } from 'node:events'
import { connect } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CALLS_MAX, CANCELLED_MAX } from '../../../../deploy/http/http2.ts'
import { EXPORT_PATH } from '../../../../gateway/otlp/grpc.ts'
import { systemClock } from '../../../../shared/runtime/clock.ts'
import { loadConfig } from '../../../../shared/runtime/config.ts'
import { eventually } from '../../../support/eventually.ts'
import * as fc from '../../../support/fast-check.ts'
import { foreignRegistry, KEY, LONE_KEY } from '../../../support/foreign-gateway.ts'
import { type RunningGateway, startGateway } from '../../../support/gateway.ts'
import {
  beginRaw,
  connectRaw,
  createGrpcClient,
  DATA,
  framed,
  PREFACE,
  rawCall,
  rawCancel,
  rawFrame,
  startGrpc,
} from '../../../support/grpc.ts'

import { protobufOf } from '../../../support/otlp-protobuf.ts'
import { exchangeRaw, openRaw } from '../../../support/raw-http.ts'

const MIB = 1024 * 1024
const IDLE_MS = 200
const BODY_TIMEOUT_MS = 300

const messageOf = (text: string): Buffer =>
  protobufOf({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: text } }] }] }] })
/** The beginning of a message of a MiB. */
const partOf = (bytes: number): Buffer => framed(Buffer.alloc(MIB)).subarray(0, bytes)

let gateway: RunningGateway
let server: Awaited<ReturnType<typeof startGrpc>>
let opened: { close(): void }[] = []

async function start(settings = {}, options = {}): Promise<void> {
  const config = { ...loadConfig({}), ...settings }
  gateway = await startGateway({ registry: foreignRegistry, config })
  server = await startGrpc(gateway, { config, ...options })
}

/** The Team of this key has one Project, which need not be named. */
function client(key = LONE_KEY) {
  const made = createGrpcClient(server.port, key)
  opened.push(made)
  return made
}

function raw() {
  const session = connectRaw(server.port)
  opened.push({ close: () => session.destroy() })
  return session
}

const heldBytes = async (): Promise<number> => {
  const text = await gateway.metrics.registry.getSingleMetricAsString('sluice_body_bytes')
  return Number(/^sluice_body_bytes (\d+)/m.exec(text)?.[1])
}

/** The metric of requests that were refused; empty where none was. */
async function refusals(): Promise<string> {
  const text = await gateway.metrics.registry.getSingleMetricAsString('sluice_requests_refused_total')
  const counted = text.split('\n').slice(2)
  return counted.filter((line) => !line.endsWith(' 0')).join('\n')
}

/** The number of calls that have ended. */
async function callsEnded(): Promise<number> {
  const text = await gateway.metrics.registry.getSingleMetricAsString('sluice_http_request_seconds')
  const counts = [...text.matchAll(/_count\{.*\} (\d+)/g)].map(([, count]) => Number(count))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Whether the server does its work, whatever happened before. */
async function works(): Promise<void> {
  expect(await client().call(messageOf('works'))).toMatchObject({ code: 0 })
  await eventually(async () => expect(await heldBytes()).toBe(0))
}

beforeEach(() => {
  opened = []
})
afterEach(async () => {
  for (const one of opened) one.close()
  await server.stop()
  await gateway.close()
})

describe('what is no call for logs', () => {
  beforeEach(() => start())

  test.each([
    '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
    '/opentelemetry.proto.collector.logs.v1.LogsService/export',
    '/',
  ])('%s: the method that there is is named', async (path) => {
    expect(await client().call(Buffer.alloc(3 * MIB), { path })).toEqual({
      code: 12,
      message: expect.stringMatching(
        /takes logs, no traces .*\/opentelemetry\.proto\.collector\.logs\.v1\.LogsService\/Export/,
      ),
    })
  })

  test('HTTP/2 without gRPC: 415, which names the setting of the other port', async () => {
    const { stream, ended } = beginRaw(raw(), KEY, { 'content-type': 'application/x-protobuf' })
    stream.end(Buffer.alloc(3 * MIB))
    expect(await ended).toMatchObject({ headers: { ':status': 415 }, body: expect.stringContaining('PORT') })
  })

  test.each(['application/grpc', 'text/plain'])('%s, cancelled with its first bytes, harms nobody', async (type) => {
    const { send, socket } = openRaw(server.port)
    send(Buffer.concat([PREFACE, rawCall(KEY, 1, type), rawCancel()]))
    await eventually(async () => expect(await callsEnded()).toBe(1))
    socket.destroy()
    await works()
  })

  test('calls are counted by their method, others as such', async () => {
    await client().call(messageOf('counted'))
    await client().call(Buffer.alloc(1), { path: '/' })
    const { stream, ended } = beginRaw(raw(), KEY, { 'content-type': 'application/x-protobuf' })
    stream.end()
    await ended
    await eventually(async () => {
      const text = await gateway.metrics.registry.getSingleMetricAsString('sluice_http_request_seconds')
      const counts = [...text.matchAll(/_count\{route="([^"]*)",status_class="([^"]*)"\} (\d+)/g)]
      expect(counts.map(([, ...parts]) => parts.join(' '))).toEqual([
        `${EXPORT_PATH} 2xx 1`,
        'other 2xx 1',
        `${EXPORT_PATH} 4xx 1`,
      ])
    })
  })

  test('HTTP/1.1: 400, which names the setting of the other port', async () => {
    const answer = await exchangeRaw(server.port, 'POST /v1/logs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}')
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*gRPC.*PORT/)
  })

  test('arbitrary bytes close the connection, and harm nobody', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.boolean(), async (bytes, isBehind) => {
        const { socket, send, closed } = openRaw(server.port)
        send(isBehind ? Buffer.concat([PREFACE, bytes]) : bytes)
        socket.end()
        await closed
      }),
    )
    await works()
  })
})

describe('a message is bounded', () => {
  test('its sender is looked at before any of it is there', async () => {
    await start()
    const { ended } = beginRaw(raw(), '')
    expect((await ended).headers).toMatchObject({
      'grpc-status': '16',
      'grpc-message': expect.stringContaining('X-API-Key'),
    })
  })

  test('as sent, while it is being sent', async () => {
    await start({ MAX_BODY_BYTES: 100_000 })
    const { stream, ended } = beginRaw(raw(), KEY)
    stream.write(partOf(200_000))
    expect((await ended).headers).toMatchObject({
      'grpc-status': '8',
      'grpc-message': expect.stringMatching(/^The body has more than \d+ bytes\./),
    })
    await works()
  })

  test('once inflated, whatever it is as sent', async () => {
    await start({ MAX_INFLATED_BYTES: MIB, MAX_BODY_BYTES: 100_000 })
    const bomb = framed(gzipSync(Buffer.alloc(50 * MIB)), true)
    expect(bomb.length).toBeLessThan(100_000)
    const { stream, ended } = beginRaw(raw(), KEY, { 'grpc-encoding': 'gzip' })
    stream.end(bomb)
    expect((await ended).headers).toMatchObject({
      'grpc-status': '8',
      'grpc-message': expect.stringContaining('1048576 bytes after decompression'),
    })
    await works()
  })

  test('in the number of its pieces', async () => {
    await start()
    const { send, socket } = openRaw(server.port)
    send(PREFACE, rawCall(KEY), ...Array.from({ length: 20_000 }, () => rawFrame(DATA, 0, Buffer.alloc(1))))
    await eventually(async () => expect(await refusals()).toContain('{code="malformed_request"} 1'))
    socket.destroy()
    await works()
  })

  test('by time', async () => {
    await start({ BODY_TIMEOUT_MS })
    const { stream, ended } = beginRaw(raw(), KEY)
    const dribble = setInterval(() => stream.write(Buffer.alloc(1)), 20)
    const { headers } = await ended
    clearInterval(dribble)
    expect(headers).toMatchObject({
      'grpc-status': '14',
      'grpc-message': expect.stringContaining('did not arrive in time'),
    })
    await works()
  })

  test('with all others that are being read', async () => {
    const budget = 8 * MIB
    await start({ MAX_BODY_BYTES: 2 * MIB, MAX_INFLATED_BYTES: 2 * MIB, BODY_BUFFER_BYTES: budget })
    const calls = Array.from({ length: 4 }, raw).flatMap((session) =>
      Array.from({ length: CALLS_MAX }, () => {
        const call = beginRaw(session, KEY)
        call.stream.write(partOf(MIB - 1))
        return call
      }),
    )
    const ends = calls.map(({ ended }) => ended)
    const first = await Promise.race(ends)
    expect(first.headers).toMatchObject({
      'grpc-status': '14',
      'grpc-message': expect.stringContaining('Too many bytes'),
    })
    let refused = 0
    for (const end of ends) void end.then(({ headers }) => (refused += Number(headers['grpc-status'] === '14')))
    await eventually(() => refused > 50)
    expect(await heldBytes()).toBeLessThanOrEqual(budget)
    // Another Team finds room all the while.
    expect(await client().call(messageOf('works'))).toMatchObject({ code: 0 })
    for (const { stream } of calls) stream.close()
    await works()
  })

  test('in its metadata', async () => {
    await start()
    const session = raw()
    await once(session, 'remoteSettings')
    const { ended } = beginRaw(session, KEY, { 'x-large': 'x'.repeat(17_000) })
    expect(await ended).toMatchObject({ headers: {}, rstCode: 11 })
    await works()
  })
})

describe('calls are bounded', () => {
  test('a thousand at once are answered, a few of a connection at a time', async () => {
    await start()
    const one = client()
    const ends = await Promise.all(Array.from({ length: 1_000 }, (_, index) => one.call(messageOf(`call ${index}`))))
    expect(ends.every(({ code }) => code === 0)).toBe(true)
    expect(new Set(gateway.stored().map(({ message }) => message)).size).toBe(1_000)
    expect(gateway.records()).toHaveLength(1_000)
    const session = raw()
    await once(session, 'remoteSettings')
    expect(session.remoteSettings).toMatchObject({ maxConcurrentStreams: CALLS_MAX, maxHeaderListSize: 16_384 })
  })

  test('one that is cancelled leaves nothing behind', async () => {
    await start()
    const { send, socket } = openRaw(server.port)
    const streams = Array.from({ length: CALLS_MAX }, (_, index) => 2 * index + 1)
    send(PREFACE, ...streams.flatMap((one) => [rawCall(KEY, one), rawFrame(DATA, 0, partOf(2_000), one)]))
    await eventually(async () => expect(await heldBytes()).toBeGreaterThanOrEqual(CALLS_MAX * 2_000))
    send(...streams.map(rawCancel))
    await works()
    socket.destroy()
    expect(gateway.records()).toHaveLength(1)
    expect(await refusals()).toBe('')
  })

  test('those that are cancelled end their connection where they are too many', async () => {
    await start()
    const { send, closed } = openRaw(server.port)
    const streams = Array.from({ length: 2 * CANCELLED_MAX.streamResetBurst }, (_, index) => 2 * index + 1)
    send(PREFACE, ...streams.flatMap((one) => [rawCall(KEY, one), rawCancel(one)]))
    await closed
    await works()
    expect(await refusals()).toBe('')
  })

  test('one that is cancelled while the journal has its records is no fault', async () => {
    await start()
    gateway.journal.hold()
    const { stream } = beginRaw(raw(), LONE_KEY)
    stream.end(framed(messageOf('late')))
    await eventually(() => gateway.journal.attempts.length > 0)
    stream.close(8)
    await once(stream, 'close')
    gateway.journal.release()
    await works()
    expect(gateway.records()).toHaveLength(2)
  })

  test('a connection whose client takes no answer is cut', async () => {
    await start({}, { stallTimeoutMs: 100 })
    const session = connect(`http://127.0.0.1:${server.port}`, { settings: { initialWindowSize: 0 } })
    opened.push({ close: () => session.destroy() })
    session.on('error', () => undefined)
    const closed = once(session, 'close')
    beginRaw(session, LONE_KEY).stream.end(framed(messageOf('taken')))
    await closed
    await works()
  })
})

describe('connections are bounded', () => {
  const config = { ...loadConfig({}), IDLE_TIMEOUT_MS: IDLE_MS }

  test.each([
    ['nothing', ''],
    ['the beginning of a preface', 'PRI * HTTP'],
    ['a preface alone', PREFACE],
    ['half of its metadata', Buffer.concat([PREFACE, rawCall(KEY).subarray(0, 20)])],
  ])('in time: one that sends %s is closed', async (_name, bytes) => {
    await start({}, { config })
    const { send, closed } = openRaw(server.port)
    send(bytes)
    await closed
  })

  test('not in time while a call waits for the journal; then it is closed', async () => {
    await start({}, { config })
    gateway.journal.hold()
    const session = raw()
    const { stream, ended } = beginRaw(session, LONE_KEY)
    stream.end(framed(messageOf('slow')))
    // A connection that was opened later is closed before.
    await openRaw(server.port).closed
    await openRaw(server.port).closed
    gateway.journal.release()
    expect((await ended).trailers).toMatchObject({ 'grpc-status': '0' })
    await once(session, 'close')
  })

  test('in number, a quarter of all; idle ones make room, and those with a call do not', async () => {
    await start({}, { config: { ...loadConfig({}), MAX_CONNECTIONS: 40 } })
    gateway.journal.hold()
    const { stream, ended } = beginRaw(raw(), LONE_KEY)
    stream.end(framed(messageOf('slow')))
    await eventually(() => gateway.journal.attempts.length > 0)
    const idle = Array.from({ length: 9 }, () => openRaw(server.port))
    await Promise.all(idle.map(({ socket }) => once(socket, 'connect')))
    await openRaw(server.port).closed
    await Promise.all(idle.map(({ closed }) => closed))
    gateway.journal.release()
    expect((await ended).trailers).toMatchObject({ 'grpc-status': '0' })
    expect(await gateway.metrics.registry.getSingleMetricAsString('sluice_connections_refused_total')).toMatch(
      /_total 1$/m,
    )
  })
})

describe('the server', () => {
  test('that stops ends the calls that it took, and takes no others', async () => {
    await start()
    gateway.journal.hold()
    const session = raw()
    const { stream, ended } = beginRaw(session, LONE_KEY)
    const half = beginRaw(session, LONE_KEY)
    stream.end(framed(messageOf('slow')))
    half.stream.write(framed(messageOf('half')).subarray(0, 10))
    await eventually(() => gateway.journal.attempts.length > 0)
    const goaway = once(session, 'goaway')
    const stopped = server.stop(systemClock.now() + 10_000)
    await goaway
    expect(await client().call(messageOf('late'))).toMatchObject({ code: 14 })
    half.stream.end(framed(messageOf('half')).subarray(10))
    gateway.journal.release()
    for (const one of [ended, half.ended]) expect((await one).trailers).toMatchObject({ 'grpc-status': '0' })
    await stopped
  })

  test('that has to stop cuts what is left', async () => {
    await start()
    const idle = openRaw(server.port)
    const { stream, ended } = beginRaw(raw(), KEY)
    stream.write(partOf(10))
    await eventually(async () => expect(await heldBytes()).toBeGreaterThan(0))
    await server.stop(systemClock.now() + 50)
    expect((await ended).trailers).toEqual({})
    await idle.closed
  })

  test('that finds its port taken names the setting', async () => {
    await start()
    await expect(startGrpc(gateway, { port: server.port })).rejects.toThrow(
      `port ${server.port} on 127.0.0.1 is taken; set OTLP_GRPC_PORT to another one`,
    )
  })
})

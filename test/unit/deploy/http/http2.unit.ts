import { once } from 'node:events'
import express from 'express'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { REFUSED_AT_ONCE_MAX } from '../../../../deploy/http/http2.ts'
import type { ListeningServer } from '../../../../deploy/http/listening.ts'
import { createHttpServer } from '../../../../deploy/http/server.ts'
import { createListener } from '../../../../shared/http/listener.ts'
import { loadConfig } from '../../../../shared/runtime/config.ts'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { eventually } from '../../../support/eventually.ts'
import { beginRaw, connectRaw, createGrpcClient, rawCall, rawCancel } from '../../../support/grpc.ts'
import { exchangeRaw, openRaw } from '../../../support/raw-http.ts'

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const SETTINGS = '\0\0\0\x04\0\0\0\0\0'

let server: ListeningServer
let port: number

beforeEach(async () => {
  const listener = createListener(express(), createLogger('silent', 'test'))
  const address = { host: '127.0.0.1', port: 0, setting: 'PORT' } as const
  server = createHttpServer({ name: 'http', ...address, listener, config: loadConfig({}), metrics: createMetrics() })
  await server.start()
  port = Number(new URL(server.url()).port)
})
afterEach(() => server.stop(0))

describe('HTTP/2 sent to the port of HTTP/1.1', () => {
  test('a client of gRPC reads which setting it needs, for each of its calls', async () => {
    const client = createGrpcClient(port, 'key')
    const ends = await Promise.all([client.call(Buffer.alloc(100_000)), client.call(Buffer.alloc(0))])
    client.close()
    for (const end of ends) expect(end).toEqual({ code: 12, message: expect.stringContaining('OTLP_GRPC_PORT') })
  })

  test('any other client gets the answer that it would get in HTTP/1.1', async () => {
    const session = connectRaw(port)
    const { stream, ended } = beginRaw(session, 'key', { 'content-type': 'application/json' })
    stream.end('{}')
    const { headers, body } = await ended
    session.close()
    expect(headers).toMatchObject({ ':status': 505 })
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: 'http_version_not_supported' } })
  })

  test('one that asks nothing is let go', async () => {
    const session = connectRaw(port)
    await once(session, 'close')
  })

  test.each([
    ['nonsense', 'nonsense'.repeat(100)],
    ['a frame without an end', '\0\xff\xff\0\0\0\0\0\x01'],
    ['a stream that is not open', '\0\0\x01\0\0\0\0\0\x01x'],
  ])('%s behind the preface closes the connection', async (_name, bytes) => {
    const answer = await exchangeRaw(port, Buffer.from(PREFACE + SETTINGS + bytes, 'latin1'))
    expect(answer).not.toContain('HTTP/1.1')
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
  })

  test.each(['application/grpc', 'text/plain'])('%s, cancelled with its first bytes, harms nobody', async (type) => {
    const call = [Buffer.from(PREFACE + SETTINGS, 'latin1'), rawCall('key', 1, type), rawCancel()]
    const { send, received, socket } = openRaw(port)
    send(Buffer.concat(call))
    await eventually(() => received() !== '')
    socket.destroy()
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
  })

  test('beyond so many connections at a time it is refused in HTTP/1.1', async () => {
    const opening = Buffer.from(PREFACE + SETTINGS, 'latin1')
    const others = Array.from({ length: REFUSED_AT_ONCE_MAX }, () => openRaw(port))
    for (const { send } of others) send(opening)
    await eventually(() => others.every(({ received }) => received() !== ''))
    expect(others.map(({ received }) => received()).join()).not.toContain('HTTP/1.1')
    expect(await exchangeRaw(port, opening)).toMatch(/^HTTP\/1\.1 505 [\s\S]*OTLP_GRPC_PORT/)
    for (const { socket } of others) socket.destroy()
    await eventually(async () => !(await exchangeRaw(port, opening)).startsWith('HTTP/1.1'))
  })

  test('behind a request it is refused in HTTP/1.1', async () => {
    const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
    expect(await exchangeRaw(port, request + PREFACE + SETTINGS)).toMatch(
      /^HTTP\/1\.1 404 [\s\S]*HTTP\/1\.1 505 [\s\S]*OTLP_GRPC_PORT/,
    )
  })
})

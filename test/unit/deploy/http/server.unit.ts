import type { RequestListener } from 'node:http'
import express from 'express'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ListeningServer } from '../../../../deploy/http/listening.ts'
import { createHttpServer } from '../../../../deploy/http/server.ts'
import { createListener } from '../../../../shared/http/listener.ts'
import { type Config, loadConfig } from '../../../../shared/runtime/config.ts'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import { createMetrics, type Metrics } from '../../../../shared/runtime/metrics.ts'
import { eventually } from '../../../support/eventually.ts'
import { answersIn, exchangeRaw, openRaw } from '../../../support/raw-http.ts'

let server: ListeningServer
let metrics: Metrics
afterEach(() => {
  vi.restoreAllMocks()
  return server.stop(0)
})

/** A server with these settings; `listener` answers unless it is left out, and then nothing is found. */
async function start(listener?: RequestListener, settings: Partial<Config> = {}): Promise<number> {
  metrics = createMetrics()
  server = createHttpServer({
    name: 'http',
    host: '127.0.0.1',
    port: 0,
    setting: 'PORT',
    listener: listener ?? createListener(express(), createLogger('silent', 'test')),
    config: { ...loadConfig({}), ...settings },
    metrics,
  })
  await server.start()
  return Number(new URL(server.url()).port)
}

const metric = (name: string): Promise<string> => metrics.registry.getSingleMetricAsString(name)

const POST = 'POST / HTTP/1.1\r\nHost: x\r\n'

describe('a request that cannot be taken as it is', () => {
  test.each([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['two Hosts in HTTP/1.0', 'GET / HTTP/1.0\r\nHost: x\r\nhost: y\r\n\r\n', 400, 'malformed_request'],
    ['a Host that is none', 'GET / HTTP/1.1\r\nHost: x y\r\n\r\n', 400, 'malformed_request'],
    ['a coding of chunks', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 400, 'malformed_request'],
    ['chunks of chunks', `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`, 400, 'malformed_request'],
    ['a target that is no URL', 'GET http://x:1http://x/ HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['an expectation', 'POST / HTTP/1.1\r\nHost: x\r\nExpect: foo\r\n\r\n', 417, 'expectation_failed'],
    ['a tunnel', 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n', 405, 'method_not_allowed'],
    ['a trace', 'TRACE /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 405, 'method_not_allowed'],
    ['HTTP/0.9', 'GET / HTTP/0.9\r\n\r\n', 505, 'http_version_not_supported'],
    ['HTTP/2 without a preface', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n', 505, 'http_version_not_supported'],
    ['HTTP/3', 'GET / HTTP/3.0\r\nHost: x\r\n\r\n', 505, 'http_version_not_supported'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505, 'http_version_not_supported'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
  ])('%s: is told what to change', async (_name, request, status, code) => {
    const answers = answersIn(await exchangeRaw(await start(), request))
    expect(answers).toHaveLength(1)
    expect(answers[0]?.status).toBe(status)
    expect(answers[0]?.head).toMatch(/^connection: close/im)
    expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({ success: false, error: { code, retryable: false } })
    if (status === 405) expect(answers[0]?.head).toMatch(/^allow: \w/im)
  })

  test.each([
    ['/a/b?c=d', '/a/b?c=d'],
    ['http://elsewhere.example/a/b?c=d#e', '/a/b?c=d'],
    ['http://user:x@elsewhere.example', '/'],
    ['*', '*'],
  ])('not: a target %s, which is read as %s', async (target, read) => {
    const port = await start((request, response) => response.end(request.url))
    const request = `OPTIONS ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    expect(answersIn(await exchangeRaw(port, request))[0]?.body).toBe(read)
  })

  test.each(['', 'x', 'logs.example.com:8080', '[::1]:8080', 'a_b', '10.0.0.1'])('not: Host: %s', async (host) => {
    const request = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    expect(await exchangeRaw(await start(), request)).toMatch(/"code":"not_found"/)
  })

  test('not: HTTP/1.0 without a Host', async () => {
    expect(await exchangeRaw(await start(), 'GET / HTTP/1.0\r\n\r\n')).toMatch(/"code":"not_found"/)
  })

  test('one that expects to be told to go on is', async () => {
    const port = await start((request, response) => void request.resume().on('end', () => response.end('taken')))
    const { send, received, closed } = openRaw(port)
    send('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n')
    await eventually(() => received() === 'HTTP/1.1 100 Continue\r\n\r\n')
    send('{}')
    expect(await closed).toContain('taken')
  })
})

test('a sender of too many small pieces gets to the answer, however much it still sends before it reads', async () => {
  const port = await start((request, response) => void request.resume().on('end', () => response.end('ok')))
  const { send, closed, failure } = openRaw(port)
  // More than the system takes at once.
  const pieces = '1\r\nx\r\n'.repeat(100_000)
  send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n', ...Array<string>(40).fill(pieces))
  expect(answersIn(await closed)).toMatchObject([{ status: 400 }])
  expect(failure()).toBeUndefined()
})

describe('a client that closes its half of the connection', () => {
  test('gets its answer', async () => {
    const port = await start((_request, response) => void setTimeout(() => response.end('late'), 20))
    const { socket, closed } = openRaw(port)
    socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(answersIn(await closed).map(({ body }) => body)).toEqual(['late'])
  })
})

describe('an answer in HTTP/1.0 that ends with its connection', () => {
  const ask = async (listener: RequestListener) => {
    const connection = openRaw(await start(listener))
    connection.send('GET / HTTP/1.0\r\n\r\n')
    return connection
  }

  test('is not taken for whole where it is cut', async () => {
    const { received, closed, failure } = await ask((_request, response) => {
      response.write('a part')
      void eventually(() => expect(received()).toMatch(/a part$/)).then(() => response.destroy())
    })
    await closed
    expect(failure()).toBe('ECONNRESET')
  })

  test('is whole where it is not', async () => {
    const { closed, failure } = await ask((_request, response) => {
      response.write('a part, ')
      response.end('and the rest')
    })
    expect(await closed).toMatch(/a part, and the rest$/)
    expect(failure()).toBeUndefined()
  })
})

describe('a server that stops', () => {
  test('answers a request that has arrived on an idle connection, and then closes the connection', async () => {
    const port = await start((_request, response) => void response.end('ok'))
    const { send, received, closed } = openRaw(port)
    send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually(() => received().endsWith('ok'))
    // The system has it at once; the server reads it in a later turn of the event loop.
    send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await server.stop(Number.POSITIVE_INFINITY)
    const connections = answersIn(await closed).map(({ head }) => /^connection: (.*)/im.exec(head)?.[1])
    expect(connections).toEqual(['keep-alive', 'close'])
  })

  test('lets an answer end that its client takes slowly', async () => {
    // More than the system takes at once.
    const body = 'x'.repeat(30_000_000)
    let isAnswered = false
    const port = await start((_request, response) => {
      response.end(body)
      isAnswered = true
    })
    const { send, socket, closed } = openRaw(port, { paused: true })
    send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually(() => isAnswered)
    const unasked = openRaw(port)
    await eventually(async () => expect(await metric('sluice_connections')).toMatch(/ 2$/m))
    const stopped = server.stop(Number.POSITIVE_INFINITY)
    await unasked.closed
    socket.resume()
    expect(answersIn(await closed)[0]?.body).toHaveLength(body.length)
    await stopped
  })

  test('closes connections on which nothing was asked', async () => {
    const { closed } = openRaw(await start())
    await eventually(async () => expect(await metric('sluice_connections')).toMatch(/ 1$/m))
    await server.stop(Number.POSITIVE_INFINITY)
    expect(await closed).toBe('')
  })

  test('cuts off at its deadline what is not answered, also where the time of day is set back meanwhile', async () => {
    const asked = vi.fn()
    const { send, closed } = openRaw(await start(asked))
    send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually(() => expect(asked).toHaveBeenCalled())
    const now = Date.now()
    const stopped = server.stop(now + 100)
    vi.spyOn(Date, 'now').mockReturnValue(now - 3_600_000)
    await stopped
    expect(await closed).toBe('')
  })
})

describe('limits of connections', () => {
  test('so many are open at a time, and those beyond are closed at once and counted', async () => {
    const port = await start((_request, response) => response.flushHeaders(), { MAX_CONNECTIONS: 10 })
    const open = Array.from({ length: 10 }, () => openRaw(port))
    for (const { send } of open) send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually(() => open.every(({ received }) => received() !== ''))
    expect(await exchangeRaw(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('')
    expect(await metric('sluice_connections')).toMatch(/ 10$/m)
    expect(await metric('sluice_connections_refused_total')).toMatch(/ 1$/m)
    open[0]?.socket.destroy()
    await eventually(async () => expect(await metric('sluice_connections')).toMatch(/ 9$/m))
    const { send, received } = openRaw(port)
    send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually(() => received() !== '')
  })

  test.each([
    ['after a refusal', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n', 404],
    ['to a GET', 'GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n', 404],
  ])('a body that dribbles %s ends with the time of the request', async (_name, head, status) => {
    const port = await start(undefined, { REQUEST_TIMEOUT_MS: 1_500, BODY_TIMEOUT_MS: 500 })
    const { send, closed, socket } = openRaw(port)
    send(head)
    const dribble = setInterval(() => send('1\r\n \r\n'.slice(0, head.includes('chunked') ? 6 : 1)), 20)
    socket.on('close', () => clearInterval(dribble))
    expect(answersIn(await closed).map((answer) => answer.status)).toEqual([status])
  })

  test('headers that dribble end in 408', async () => {
    const port = await start(undefined, { REQUEST_TIMEOUT_MS: 200, BODY_TIMEOUT_MS: 100 })
    const { send, closed, socket } = openRaw(port)
    send('GET / HTTP/1.1\r\n')
    const dribble = setInterval(() => send('a'), 20)
    socket.on('close', () => clearInterval(dribble))
    expect(answersIn(await closed).map(({ status }) => status)).toEqual([408])
  })

  test('a connection on which nothing was asked is kept for the idle time', async () => {
    const settings = { REQUEST_TIMEOUT_MS: 200, BODY_TIMEOUT_MS: 100, IDLE_TIMEOUT_MS: 60_000 }
    const port = await start((_request, response) => void response.end('ok'), settings)
    const silent = openRaw(port)
    expect(answersIn(await exchangeRaw(port, 'GET / HTTP/1.1\r\n'))[0]?.status).toBe(408)
    silent.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(answersIn(await silent.closed).map(({ body }) => body)).toEqual(['ok'])
  })

  test('a connection on which nothing was asked is closed after the idle time, without an answer', async () => {
    const settings = { REQUEST_TIMEOUT_MS: 200, BODY_TIMEOUT_MS: 100, IDLE_TIMEOUT_MS: 400 }
    expect(await openRaw(await start(undefined, settings)).closed).toBe('')
  })

  test('a connection without a request is kept for the idle time', async () => {
    const port = await start((_request, response) => void response.end('ok'), { IDLE_TIMEOUT_MS: 50 })
    const { send, closed } = openRaw(port)
    send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(answersIn(await closed)[0]?.head).toMatch(/^connection: keep-alive/im)
  })
})

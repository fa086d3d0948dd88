import type { Server } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { answerClientError, refuseTunnel } from '../../../../deploy/http/client-error.ts'
import { inTurn, limitPipelining } from '../../../../deploy/http/connection.ts'
import { limitPieces } from '../../../../deploy/http/pieces.ts'
import { eventually } from '../../../support/eventually.ts'
import { answersIn, exchangeRaw, openRaw, startBare } from '../../../support/raw-http.ts'

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** Sends the parts and gives back everything that came until the server closed. */
async function exchange(options: object, parts: readonly string[]): Promise<string> {
  const { port, server: own } = await startBare(
    (_request, response) => response.end('answered'),
    (one) => one.on('clientError', answerClientError),
    options,
  )
  server = own
  return exchangeRaw(port, ...parts)
}

describe('what is no valid HTTP', () => {
  test('is answered with the envelope, and the connection ends', async () => {
    const text = await exchange({}, ['what is this\r\n\r\n'])
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(head).toMatch(/connection: close/)
    expect(head).toContain(`content-length: ${body.length}`)
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: 'malformed_request', retryable: false } })
  })

  test('headers that are too large: 431, also when the sender goes on sending', async () => {
    const filler = `X-Filler: ${'x'.repeat(1_000)}\r\n`
    const text = await exchange({}, ['GET / HTTP/1.1\r\nHost: x\r\n', ...Array<string>(200).fill(filler)])
    expect(text).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n[\s\S]*"code":"headers_too_large"/)
  })

  test('an address that is too long: 431 as well, and the refusal says that it counts', async () => {
    const text = await exchange({}, [`GET /?q=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`])
    expect(text).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"headers_too_large","message":"[^"]* a shorter address/)
  })

  test('a request that does not come to its end: 408, with Retry-After', async () => {
    const text = await exchange({ requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 10 }, [
      'GET / HTT',
    ])
    expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*retry-after: 1\r\n[\s\S]*"code":"request_timeout"/)
  })

  test('after a good request leaves the answer to that one whole', async () => {
    const text = await exchange({}, ['GET / HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n'])
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nansweredHTTP\/1\.1 400 Bad Request\r\n/)
  })

  test('says what the parser did not take', async () => {
    const [, body = ''] = (await exchange({}, ['GET / HTTP/1.1\r\nHost: x\r\nbad name: x\r\n\r\n'])).split('\r\n\r\n')
    expect(JSON.parse(body).error.details).toEqual({ reason: expect.stringMatching(/header/i) })
  })

  test('a line break without CR is not taken for another version', async () => {
    const text = await exchange({}, ['GET / HTTP/1.1\nHost: x\n\n'])
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(JSON.parse(body).error).toMatchObject({
      code: 'malformed_request',
      details: { reason: expect.stringContaining('CRLF') },
    })
  })

  test.each([
    ['an unknown version', 'GET / HTTP/3.0\r\nHost: x\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s of HTTP: 505, which names the one that is spoken', async (_name, request) => {
    const text = await exchange({}, [request])
    expect(text).toMatch(/^HTTP\/1\.1 505 HTTP Version Not Supported\r\n/)
    expect(text).toMatch(/"code":"http_version_not_supported".*HTTP\/1\.1/)
  })
})

describe('on a connection that owes answers', () => {
  const POST = 'POST / HTTP/1.1\r\nHost: x\r\n'
  const CHOPPED = `${POST}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(8_000)}`
  const LATER = `${POST}Content-Length: 5\r\n\r\nlater`

  /** Answers the body `later` only when told to, and any other at once. */
  async function start(options = {}) {
    const waiting: (() => void)[] = []
    const begun: (string | undefined)[] = []
    const started = await startBare(
      inTurn(async (request, response) => {
        begun.push(request.url)
        const body = (
          await request
            .setEncoding('utf8')
            .toArray()
            .catch(() => ['gone'])
        ).join('')
        if (body === 'later') waiting.push(() => response.end('late'))
        else response.end('at once')
      }),
      (own) => {
        own.on('connection', limitPipelining)
        limitPieces(own)
        own.on('clientError', answerClientError)
      },
      options,
    )
    server = started.server
    return { port: started.port, waiting, begun }
  }

  test.each([
    ['no HTTP', 'nonsense\r\n\r\n', 'malformed_request'],
    ['a request with a body of bad chunks', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 'malformed_request'],
    ['a request with a body in too many pieces', CHOPPED, 'chunks of at least 64 bytes'],
    ['the same, and requests behind it', `${CHOPPED}0\r\n\r\n${LATER}`, 'chunks of at least 64 bytes'],
    ['headers without an end', `${POST}X: ${'x'.repeat(20_000)}`, 'headers_too_large'],
  ])('%s is answered after what came before it', async (_name, bytes, code) => {
    const { port, waiting, begun } = await start()
    const { send, received, closed } = openRaw(port)
    send(LATER, bytes)
    await eventually(() => waiting.length === 1)
    expect(received()).toBe('')
    waiting[0]?.()
    const [first, second, ...more] = answersIn(await closed)
    expect([first?.status, first?.body, more]).toEqual([200, 'late', []])
    expect(second?.body).toContain(code)
    expect(begun).toEqual(['/'])
  })

  test('a request that does not come to its end, too', async () => {
    const { port, waiting, begun } = await start({
      requestTimeout: 50,
      headersTimeout: 50,
      connectionsCheckingInterval: 10,
    })
    // Only the end of the wait tells from outside that the time is up.
    const isOver = new Promise((resolve) => server.once('clientError', resolve))
    const { send, received, closed } = openRaw(port)
    send(LATER, `${POST}Content-Length: 9\r\n\r\nhalf`)
    await eventually(() => waiting.length === 1)
    await isOver
    expect(received()).toBe('')
    waiting[0]?.()
    expect(answersIn(await closed).map(({ status }) => status)).toEqual([200, 408])
    expect(begun).toEqual(['/'])
  })

  test('a request that was answered before its body ended gets no second answer', async () => {
    const { port, server: own } = await startBare(
      (_request, response) => response.end('no'),
      (one) => one.on('clientError', answerClientError),
      { requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 10 },
    )
    server = own
    const { send, closed } = openRaw(port)
    send(`${POST}Content-Length: 9\r\n\r\nhalf`)
    expect(answersIn(await closed).map(({ body }) => body)).toEqual(['no'])
  })

  test('a tunnel is refused with what can be asked for instead', async () => {
    const { port, server: own } = await startBare(
      (_request, response) => response.end(),
      (one) => one.on('connect', refuseTunnel),
    )
    server = own
    const [answer] = answersIn(await exchangeRaw(port, 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n'))
    expect(answer?.head).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n[\s\S]*^allow: GET, /m)
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ success: false, error: { code: 'method_not_allowed' } })
  })
})

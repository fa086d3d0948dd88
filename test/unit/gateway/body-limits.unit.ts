import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { KEY, type RunningGateway, startGateway } from '../../support/gateway.ts'

const PATH = '/api/ExternalLogs'
const GOOD = JSON.stringify({ uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Information' })
const WIRE_MAX = 10_000
const INFLATED_MAX = 50_000
const config = { MAX_BODY_BYTES: WIRE_MAX, MAX_INFLATED_BYTES: INFLATED_MAX }

const head = (headers: string) =>
  `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\n${headers}\r\n`
const GOOD_REQUEST = head(`Content-Length: ${GOOD.length}\r\n`) + GOOD
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** A connection on which answers are awaited one by one. */
function open(port: number): { socket: Socket; answered(pattern: RegExp): Promise<void>; closed: Promise<unknown> } {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  socket.on('error', () => undefined)
  const answered = (pattern: RegExp) =>
    eventually(() => {
      const match = pattern.exec(text)
      if (match === null) throw new Error(`no ${pattern} in ${JSON.stringify(text)}`)
      text = text.slice(match.index + match[0].length)
    })
  const closed = new Promise((resolve) => socket.on('close', resolve))
  return { socket, answered, closed }
}

describe('limits of a body', () => {
  let gateway: RunningGateway
  beforeAll(async () => {
    gateway = await startGateway({ config })
  })
  afterAll(() => gateway.close())

  const TOO_LARGE = /HTTP\/1\.1 413 [\s\S]*?"code":"payload_too_large"[\s\S]*?"limit":10000[\s\S]*?\}\}/
  const ACCEPTED = /HTTP\/1\.1 200 [\s\S]*?"success":true[\s\S]*?\}\}/

  test('a length over the limit is refused at once, before the body is sent, and the connection goes on', async () => {
    const { socket, answered } = open(gateway.port)
    socket.write(head('Content-Length: 20000\r\n'))
    await answered(TOO_LARGE)
    socket.write('x'.repeat(20_000) + GOOD_REQUEST)
    await answered(ACCEPTED)
    socket.destroy()
  })

  test('a body in chunks is refused when it passes the limit, and the connection goes on', async () => {
    const { socket, answered } = open(gateway.port)
    socket.write(head('Transfer-Encoding: chunked\r\n') + chunk('x'.repeat(6_000)))
    socket.write(chunk('x'.repeat(6_000)))
    await answered(TOO_LARGE)
    socket.write(`${chunk('x'.repeat(100_000))}0\r\n\r\n${GOOD_REQUEST}`)
    await answered(ACCEPTED)
    socket.destroy()
  })

  test('a sender that reads nothing before it has sent everything sees the answer and no reset', async () => {
    const body = 'x'.repeat(5_000_000)
    for (const request of [
      `${head(`Content-Length: ${body.length}\r\n`)}${body}`,
      `${head('Transfer-Encoding: chunked\r\n')}${chunk(body)}0\r\n\r\n`,
    ]) {
      const socket = connect(gateway.port, '127.0.0.1')
      await new Promise((sent) => socket.write(request, sent))
      socket.write(GOOD_REQUEST)
      let text = ''
      for await (const data of socket) {
        text += data
        if (text.includes('"success":true')) break
      }
      expect(text).toMatch(TOO_LARGE)
    }
  })

  test('exactly the limit is read', async () => {
    const fits = GOOD.replace('"paid"', `"${'x'.repeat(WIRE_MAX - GOOD.length + 4)}"`)
    expect(fits).toHaveLength(WIRE_MAX)
    expect((await gateway.post(PATH, fits)).body.success).toBe(true)
    expect((await gateway.post(PATH, `${fits} `)).status).toBe(413)
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('a %s bomb is refused at the limit for inflated bodies', async (coding, compress) => {
    const bomb = compress(Buffer.alloc(5_000_000, ' '))
    expect(bomb.length).toBeLessThan(WIRE_MAX)
    const { status, body } = await gateway.post(PATH, bomb, { 'content-encoding': coding })
    expect([status, body.error.code, body.error.details]).toEqual([413, 'payload_too_large', { limit: INFLATED_MAX }])
    const fits = compress(GOOD.replace('"paid"', `"${'x'.repeat(40_000)}"`))
    expect((await gateway.post(PATH, fits, { 'content-encoding': coding })).body.success).toBe(true)
  })

  test('Expect: 100-continue is answered 100 where the body can fit and 413 where it cannot', async () => {
    const { socket, answered, closed } = open(gateway.port)
    socket.write(head(`Content-Length: ${GOOD.length}\r\nExpect: 100-continue\r\n`))
    await answered(/HTTP\/1\.1 100 Continue\r\n\r\n/)
    socket.write(GOOD)
    await answered(ACCEPTED)
    socket.write(head('Content-Length: 20000\r\nExpect: 100-continue\r\n'))
    await answered(/^HTTP\/1\.1 413 /)
    await closed
  })

  test('chunks of a byte each are refused with the status of any request that cannot be read', async () => {
    const { socket, answered, closed } = open(gateway.port)
    socket.write(head('Transfer-Encoding: chunked\r\n') + chunk(' ').repeat(5_000))
    await answered(/^HTTP\/1\.1 400 [\s\S]*?"code":"malformed_request"[\s\S]*?"pieceBytesMin":64/)
    socket.destroy()
    await closed
  })

  test('other refusals leave the connection usable too', async () => {
    const { socket, answered } = open(gateway.port)
    socket.write(`${head('Content-Length: 1\r\n')}{${GOOD_REQUEST}`)
    await answered(/HTTP\/1\.1 400 [\s\S]*?malformed_json[\s\S]*?\}\}/)
    await answered(ACCEPTED)
    socket.write(`${head('Content-Encoding: lzma\r\nContent-Length: 3\r\n')}abc${GOOD_REQUEST}`)
    await answered(/HTTP\/1\.1 415 [\s\S]*?unsupported_media_type[\s\S]*?\}\}/)
    await answered(ACCEPTED)
    socket.destroy()
  })
})

describe('slow and broken senders', () => {
  let gateway: RunningGateway
  beforeAll(async () => {
    gateway = await startGateway({ config: { ...config, BODY_TIMEOUT_MS: 300 } })
  })
  afterAll(() => gateway.close())

  test('a body that comes byte by byte is answered 408 with Retry-After, and the connection closes', async () => {
    const { socket, answered, closed } = open(gateway.port)
    socket.write(head('Content-Length: 1000\r\n'))
    const dripping = setInterval(() => socket.write(' '), 20)
    await answered(
      /HTTP\/1\.1 408 [\s\S]*?retry-after: 1\r\n[\s\S]*?"code":"request_timeout"[\s\S]*?within 300 ms[\s\S]*?"retryable":true/i,
    )
    await closed
    clearInterval(dripping)
  })

  test('a refused body that never ends is cut when its time is up', async () => {
    const { socket, answered, closed } = open(gateway.port)
    socket.write(head('Content-Length: 1000000\r\n'))
    await answered(/HTTP\/1\.1 413 /)
    const dripping = setInterval(() => socket.write(' '), 20)
    await closed
    clearInterval(dripping)
  })

  test('a socket cut in the middle of a body leaves nothing behind', async () => {
    for (const headers of ['Content-Length: 1000\r\n', 'Transfer-Encoding: chunked\r\n']) {
      const { socket, closed } = open(gateway.port)
      socket.write(`${head(headers)}5\r\n{"a":`)
      await once(socket, 'ready')
      socket.resetAndDestroy()
      await closed
    }
    // A request after them is served, and is the only one that left a trace.
    expect((await gateway.post(PATH, GOOD)).body.success).toBe(true)
    const { values } = await gateway.metrics.counter('sluice_requests_refused_total').get()
    expect(values.filter(({ labels, value }) => labels['code'] === 'server_error' && value > 0)).toEqual([])
    expect(gateway.records()).toHaveLength(1)
  })

  test('a sender that is gone when its entry is confirmed does no harm', async () => {
    const attempts = gateway.journal.attempts.length
    gateway.journal.hold()
    const { socket, closed } = open(gateway.port)
    socket.write(GOOD_REQUEST)
    await eventually(() => gateway.journal.attempts.length > attempts)
    socket.resetAndDestroy()
    await closed
    gateway.journal.release()
    expect((await gateway.post(PATH, GOOD)).body.success).toBe(true)
  })
})

describe('a body that comes in pieces', () => {
  test.each([300_000, 3_000_000])('is read as it was sent, %d bytes of it', async (bytes) => {
    const gateway = await startGateway({ config: { MAX_BODY_BYTES: 10_000_000, MAX_ENTRY_BYTES: 10_000_000 } })
    // Of three bytes each, so that the borders of the pieces fall into characters; different ones, so that no piece is like another.
    const payload = Array.from({ length: bytes / 3 }, (_, at) => String.fromCharCode(0x4e00 + (at % 20_011))).join('')
    const both = [0, 1].map((copy) =>
      gateway.post(PATH, { ...JSON.parse(GOOD), payload: `${copy}${payload}` }, { 'x-api-key': KEY }),
    )
    expect((await Promise.all(both)).map(({ body }) => body.success)).toEqual([true, true])
    const kept = gateway.stored().map(({ payload: text }) => text)
    expect(kept.sort().map((text, copy) => text === `${copy}${payload}`)).toEqual([true, true])
    await gateway.close()
  })
})

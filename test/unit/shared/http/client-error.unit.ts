import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { answerClientError } from '../../../../shared/http/client-error.ts'

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** Sends the parts and gives back everything that came until the server closed. */
async function exchange(options: object, parts: readonly string[]): Promise<string> {
  server = createServer(options, (_request, response) => {
    response.end('answered')
  })
  server.on('clientError', answerClientError)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return new Promise((resolve) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
    for (const part of parts) socket.write(part)
  })
}

describe('what is no valid HTTP', () => {
  test('is answered with the envelope, and the connection ends', async () => {
    const text = await exchange({}, ['what is this\r\n\r\n'])
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(head).toMatch(/Connection: close/)
    expect(head).toContain(`Content-Length: ${body.length}`)
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: 'malformed_request', retryable: false } })
  })

  test('headers that are too large: 431, also when the sender goes on sending', async () => {
    const filler = `X-Filler: ${'x'.repeat(1_000)}\r\n`
    const text = await exchange({}, ['GET / HTTP/1.1\r\nHost: x\r\n', ...Array<string>(200).fill(filler)])
    expect(text).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n[\s\S]*"code":"headers_too_large"/)
  })

  test('a request that does not come to its end: 408, with Retry-After', async () => {
    const text = await exchange({ requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 10 }, [
      'GET / HTT',
    ])
    expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*Retry-After: 1\r\n[\s\S]*"code":"request_timeout"/)
  })

  test('after a good request leaves the answer to that one whole', async () => {
    const text = await exchange({}, ['GET / HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n'])
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nanswered/)
  })
})

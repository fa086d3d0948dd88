import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEY, PROJECT, type RunningGateway, startGateway } from '../../support/gateway.ts'
import { exchangeRaw } from '../../support/raw-http.ts'

const PATH = '/api/ExternalLogs'
const GOOD = { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Information' }
const TEXT = JSON.stringify(GOOD)

let gateway: RunningGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const answerOf = async (body: unknown, headers: Record<string, string> = {}) => {
  const answer = await gateway.post(PATH, body, headers)
  return answer.body.success ? 'accepted' : `${answer.status} ${answer.body.error.code}`
}

describe('the content type', () => {
  test('application/json with or without a charset of UTF-8, and no type at all, are read', async () => {
    for (const type of [
      'application/json',
      'Application/JSON; Charset=UTF-8',
      'application/json;charset="utf-8"',
      'application/json; charset=utf8',
      'application/json ; profile=x; charset=utf-8',
      'application/json;',
    ])
      expect([type, await answerOf(TEXT, { 'content-type': type })]).toEqual([type, 'accepted'])
    expect(await answerOf(Buffer.from(TEXT), { 'content-type': '' })).toBe('accepted')
  })

  test('any other type or charset is 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'application/json; charset=utf-16',
      'application/json;charset=iso-8859-1',
      'json',
    ])
      expect([type, await answerOf(TEXT, { 'content-type': type })]).toEqual([type, '415 unsupported_media_type'])
  })
})

describe('the content encoding', () => {
  const codings = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
    zstd: zstdCompressSync,
    'GZIP ': gzipSync,
    identity: (text: string) => Buffer.from(text),
  }

  test.each(Object.entries(codings))('%s is read', async (coding, compress) => {
    expect(await answerOf(compress(TEXT), { 'content-encoding': coding })).toBe('accepted')
  })

  test('deflate without a zlib header is read', async () => {
    expect(await answerOf(deflateRawSync(TEXT), { 'content-encoding': 'deflate' })).toBe('accepted')
  })

  test('an unknown one, or more than one, is 415 and names those that are read', async () => {
    for (const coding of ['compress', 'gzip, gzip', 'snappy']) {
      const answer = await gateway.post(PATH, TEXT, { 'content-encoding': coding })
      expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type'])
      expect(answer.body.error.message).toContain('gzip, deflate, br or zstd')
      expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate, br, zstd')
    }
  })

  test('gzip that no header names is told', async () => {
    const { status, body } = await gateway.post(PATH, gzipSync(TEXT))
    expect([status, body.error.code]).toEqual([400, 'malformed_body'])
    expect(body.error.message).toMatch(
      /^The body is in gzip, which Content-Encoding does not say\. Compress the body as/,
    )
  })

  test.each(Object.entries(codings).slice(0, 5))(
    'corrupt or cut %s is 400 malformed_body',
    async (coding, compress) => {
      const whole = compress(TEXT)
      for (const bytes of [
        Buffer.from('no compressed data'),
        whole.subarray(0, whole.length - 4),
        Buffer.concat([whole, Buffer.from('junk')]),
      ])
        expect(await answerOf(bytes, { 'content-encoding': coding })).toBe('400 malformed_body')
    },
  )
})

describe('the body', () => {
  test.each([
    ['empty', ''],
    ['cut', TEXT.slice(0, -1)],
    ['followed by more', `${TEXT}{}`],
    ['no JSON', 'level=Error'],
    ['JSON with a comment', `/* x */${TEXT}`],
    ['NaN', 'NaN'],
    ['invalid UTF-8', Buffer.concat([Buffer.from(TEXT.slice(0, -2)), Buffer.from([0xff]), Buffer.from('"}')])],
    [
      'an overlong UTF-8 sequence',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')]),
    ],
    [
      'a surrogate in UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ['UTF-16', Buffer.from(TEXT, 'utf16le')],
  ])('%s is 400 malformed_json', async (_name, body) => {
    expect(await answerOf(typeof body === 'string' ? Buffer.from(body) : body)).toBe('400 malformed_json')
  })

  test('a byte order mark and blanks around are tolerated', async () => {
    expect(await answerOf(`\ufeff ${TEXT}\r\n`)).toBe('accepted')
  })

  test('transport failures have their own status with or without X-Strict-Status, and are not retryable', async () => {
    for (const strict of ['', 'true', 'false']) {
      const { status, body, headers } = await gateway.post(PATH, '{', { 'x-strict-status': strict })
      expect([status, body.error.code, body.error.retryable]).toEqual([400, 'malformed_json', false])
      expect(headers.has('retry-after')).toBe(false)
    }
  })
})

describe('paths and methods', () => {
  test('paths match in any case, with a slash at the end too', async () => {
    for (const path of ['/API/externallogs', '/api/ExternalLogs/', '/api/EXTERNALLOGS?x=1'])
      expect((await gateway.post(path, GOOD)).body.success).toBe(true)
    const entry = { categoryName: 'Acme', message: 'paid', level: 'Information' }
    const batch = { uniqueIdentifier: PROJECT, logEntries: [entry] }
    expect((await gateway.post('/api/applicationlogs/BATCH/', batch)).body.success).toBe(true)
    expect((await gateway.post('/api/applicationlogs', { uniqueIdentifier: PROJECT, ...entry })).body.success).toBe(
      true,
    )
  })

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is 405 method_not_allowed with Allow', async (method) => {
    for (const path of [PATH, '/api/ApplicationLogs', '/api/ApplicationLogs/batch']) {
      const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
      expect(await response.json()).toMatchObject({
        success: false,
        error: { code: 'method_not_allowed', message: expect.stringMatching(/ Use POST\.$/), retryable: false },
      })
    }
  })

  test('HEAD is 405 without a body', async () => {
    const response = await fetch(`http://127.0.0.1:${gateway.port}${PATH}`, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([405, ''])
  })

  test('any other path is 404 not_found, whatever Express makes of it', async () => {
    for (const path of ['/', '/api', '/api/ExternalLogs/x', '/api/%zz'])
      expect((await gateway.post(path, GOOD)).body.error.code).toBe('not_found')
    for (const target of ['*', 'http://', 'http://?', '//'])
      expect(
        await exchangeRaw(gateway.port, `OPTIONS ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
      ).toMatch(/^HTTP\/1\.1 404 [\s\S]*"code":"not_found"/)
  })
})

describe('what is no HTTP', () => {
  const post = (body: string, headers = '') =>
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`

  test('a malformed request is 400 with the envelope, and the connection closes', async () => {
    for (const request of [
      'nonsense\r\n\r\n',
      post('', 'Bad Header: x\r\n'),
      post('zz\r\n', 'Transfer-Encoding: chunked\r\n'),
    ])
      expect(await exchangeRaw(gateway.port, request)).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"malformed_request"/)
  })

  test('a length given twice, or beside chunks, is 400: no request can hide in another', async () => {
    for (const headers of [
      'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n',
      'Content-Length: 2\r\nContent-Length: 3\r\n',
    ])
      expect(await exchangeRaw(gateway.port, post('{}', headers))).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('headers of more than 16 KiB are 431', async () => {
    const answered = await exchangeRaw(gateway.port, post('', `X-Filler: ${'x'.repeat(20_000)}\r\n`))
    expect(answered).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"headers_too_large"/)
  })

  test('a key of 8 KB is only a wrong key', async () => {
    expect(await answerOf(TEXT, { 'x-api-key': 'k'.repeat(8_192) })).toBe('200 invalid_api_key')
  })
})

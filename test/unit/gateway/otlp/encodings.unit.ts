import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as fc from '../../../support/fast-check.ts'
import { CHECKOUT, type ForeignGateway, KEY, STOCK, startForeignGateway } from '../../../support/foreign-gateway.ts'
import { protobufOf, responseOf, statusOf } from '../../../support/otlp-protobuf.ts'

const PATH = '/v1/logs'
const PROTOBUF = 'application/x-protobuf'
const RECORD = { severityNumber: 9, body: { stringValue: 'hello' } }
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const service = (name: string) => ({ attributes: [text('service.name', name)] })
const logs = (...logRecords: readonly unknown[]) => ({
  resource: service('checkout api'),
  scopeLogs: [{ scope: { name: 'my.library' }, logRecords }],
})
const attributes = (...values: readonly unknown[]) => ({
  ...RECORD,
  attributes: values.map((value, index) => ({ key: `a${index}`, value })),
})
/** A record with an attribute of so many levels. */
function nested(levels: number): unknown {
  let value: unknown = { intValue: '9007199254740993' }
  for (let level = 1; level < levels; level += 1) value = { kvlistValue: { values: [{ key: 'a', value }] } }
  return attributes(value)
}

let gateway: ForeignGateway

beforeAll(async () => {
  gateway = await startForeignGateway()
})
afterAll(() => gateway.close())

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly retryAfter: string | null
  readonly body: unknown
}

/** Posts bytes; the body of the answer is given as JSON, whichever encoding it has. */
async function post(body: string | Buffer, headers: Record<string, string>, path = PATH): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, ...headers },
    body: body as string,
  })
  const { status } = response
  const type = response.headers.get('content-type')
  const bytes = Buffer.from(await response.arrayBuffer())
  const read = type === PROTOBUF ? (status === 200 ? responseOf : statusOf)(bytes) : JSON.parse(bytes.toString())
  return { status, type, retryAfter: response.headers.get('retry-after'), body: read }
}

const postProtobuf = (body: Buffer, headers: Record<string, string> = {}, path = PATH): Promise<Answer> =>
  post(body, { 'content-type': PROTOBUF, ...headers }, path)

/** The records that were stored since, without the fields that differ whenever a request is sent; partitions have no order among them. */
const storedSince = (before: number) =>
  gateway
    .records()
    .slice(before)
    .map(({ key, value }) => ({ key, value: withoutIds(String(value)) }))
    .sort((one, other) => (one.value < other.value ? -1 : 1))
const withoutIds = (value: string): string =>
  value.replace(/"id":"[^"]*","receivedAt":"([^"]*)","timestamp":"([^"]*)"/, (_all, received, timestamp) =>
    received === timestamp ? '"timestamp":"received"' : `"timestamp":"${timestamp}"`,
  )

/** The outcome of a request in one encoding. */
async function outcome(request: unknown, encoding: 'JSON' | 'Protobuf') {
  const before = gateway.records().length
  gateway.noted.length = 0
  const { type, ...answer } =
    encoding === 'JSON'
      ? await post(JSON.stringify(request), { 'content-type': 'application/json' })
      : await postProtobuf(protobufOf(request))
  expect(type).toBe(encoding === 'JSON' ? 'application/json' : PROTOBUF)
  const refusals = gateway.noted.map(({ code, message, index }) => ({ code, message, index }))
  return { answer, stored: storedSince(before), refusals }
}

const INT64 = ['9223372036854775807', '-9223372036854775808', '9007199254740993', '-9007199254740993', '0', '-1']

describe('the same request in both encodings', () => {
  test.each<[string, unknown]>([
    ['nothing', {}],
    ['no records', { resourceLogs: [{}, { resource: {}, scopeLogs: [{}, { scope: {} }] }] }],
    ['a record', { resourceLogs: [logs(RECORD)] }],
    [
      'every field',
      {
        resourceLogs: [
          {
            ...logs({
              timeUnixNano: '1544712660300000123',
              observedTimeUnixNano: '1544712660300000124',
              severityNumber: 13,
              severityText: 'WARN',
              body: { kvlistValue: { values: [{ key: 'order', value: { intValue: '4711' } }, { key: 'none' }] } },
              attributes: [text('exception.type', 'TypeError'), text('correlationKey', 'order-1'), text('x', 'é😀\0')],
              droppedAttributesCount: 7,
              flags: 1,
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              eventName: 'order.placed',
            }),
            schemaUrl: 'https://opentelemetry.io/schemas/1.30.0',
          },
        ],
      },
    ],
    [
      'a resource, a scope and an error',
      {
        resourceLogs: [
          {
            resource: {
              attributes: [
                text('service.name', 'checkout api'),
                text('service.version', '1.2.3'),
                { key: 'process.pid', value: { intValue: '42' } },
                { key: 'k8s.pod.labels', value: { kvlistValue: { values: [text('app', 'checkout')] } } },
              ],
            },
            scopeLogs: [
              {
                scope: { name: 'unknown', version: '2.0', attributes: [text('a', 'b')], droppedAttributesCount: 1 },
                logRecords: [
                  {
                    body: { kvlistValue: { values: [text('msg', 'failed')] } },
                    attributes: [
                      text('name', 'shop.checkout'),
                      {
                        key: 'err',
                        value: {
                          kvlistValue: {
                            values: [text('type', 'E'), text('message', 'no'), text('stack', 'E: no\n at a')],
                          },
                        },
                      },
                    ],
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
    ['integers of 64 bits', { resourceLogs: [logs(attributes(...INT64.map((intValue) => ({ intValue }))))] }],
    [
      'numbers',
      {
        resourceLogs: [
          logs(
            attributes(
              ...[0, -0.5, 1e300, 2 ** 60, 5e-324, 'NaN', '-Infinity'].map((doubleValue) => ({ doubleValue })),
            ),
          ),
        ],
      },
    ],
    [
      'all kinds of values',
      {
        resourceLogs: [
          logs(
            attributes(
              {},
              { stringValue: '' },
              { boolValue: false },
              { boolValue: true },
              { bytesValue: '+/8=' },
              { arrayValue: { values: [] } },
              { arrayValue: { values: [{}, { intValue: '1' }, { arrayValue: { values: [{ stringValue: 'a' }] } }] } },
              { kvlistValue: { values: [text('a', 'b'), text('__proto__', 'c'), text('', 'd')] } },
            ),
          ),
        ],
      },
    ],
    [
      'times',
      {
        resourceLogs: [
          logs(
            ...['0', '1', '18446744073709551615', '9223372036854775807'].map((timeUnixNano) => ({
              ...RECORD,
              timeUnixNano,
              observedTimeUnixNano: '1544712660000000001',
            })),
          ),
        ],
      },
    ],
    ['ids of zeros', { resourceLogs: [logs({ ...RECORD, traceId: '00'.repeat(16), spanId: '00'.repeat(8) })] }],
    ['bodies', { resourceLogs: [logs({}, { body: {} }, { body: { intValue: INT64[0] } }, { eventName: 'e' })] }],
    [
      'severities',
      {
        resourceLogs: [
          logs(
            ...[-1, 0, 24, 25, 2 ** 31 - 1].map((severityNumber) => ({
              ...RECORD,
              severityNumber,
              severityText: 'err',
            })),
          ),
        ],
      },
    ],
    [
      'several Projects, and none',
      {
        resourceLogs: [
          logs(RECORD),
          { ...logs(RECORD), resource: { attributes: [text('sluice.project.id', STOCK)] } },
          { ...logs(RECORD), resource: service('chekout') },
          { scopeLogs: [{ logRecords: [RECORD] }] },
        ],
      },
    ],
    [
      'a field over its limit',
      { resourceLogs: [logs({ ...RECORD, attributes: [text('correlationKey', 'x'.repeat(513))] })] },
    ],
    ['values nested as deep as may be', { resourceLogs: [logs(nested(64))] }],
    ['values nested too deep', { resourceLogs: [logs(RECORD, nested(65), nested(66), nested(70), nested(120))] }],
    ['an entry that is too large', { resourceLogs: [logs(RECORD, { body: { stringValue: 'x'.repeat(1_000_001) } })] }],
    ['10,000 records', { resourceLogs: [logs(...Array(9_999).fill({}), RECORD)] }],
  ])('%s', async (_name, request) => {
    const json = await outcome(request, 'JSON')
    expect(await outcome(request, 'Protobuf')).toEqual(json)
    expect(json.answer.status).toBe(200)
  })

  test('values are exact', async () => {
    const { stored } = await outcome(
      { resourceLogs: [logs(attributes(...INT64.map((intValue) => ({ intValue }))))] },
      'Protobuf',
    )
    for (const [index, digits] of INT64.entries()) expect(stored[0]?.value).toContain(`"a${index}":${digits}`)
    const times = await outcome(
      { resourceLogs: [logs({ ...RECORD, timeUnixNano: '1544712660300000123', traceId: 'AB'.repeat(16) })] },
      'Protobuf',
    )
    expect(times.stored[0]?.value).toContain('"timestamp":"2018-12-13T14:51:00.300000123Z"')
    expect(times.stored[0]?.value).toContain(`"traceId":"${'ab'.repeat(16)}"`)
  })

  test('more than 10,000 records', async () => {
    const request = { resourceLogs: [logs(...Array(5_000).fill({})), logs(...Array(5_001).fill({}))] }
    for (const encoding of ['JSON', 'Protobuf'] as const) {
      const { answer, stored } = await outcome(request, encoding)
      expect(answer).toMatchObject({ status: 413, body: { code: 8, details: [{ reason: 'batch_too_large' }] } })
      expect(stored).toEqual([])
    }
  })

  test('tens of thousands of resources and scopes without records', async () => {
    const empty = Array(10_001).fill({ scopeLogs: [{}] })
    const most = [...Array(9_999).fill({ scopeLogs: [{}] }), logs(RECORD)]
    for (const encoding of ['JSON', 'Protobuf'] as const) {
      expect((await outcome({ resourceLogs: empty }, encoding)).answer).toMatchObject({
        status: 413,
        body: { code: 8 },
      })
      expect((await outcome({ resourceLogs: most }, encoding)).answer).toMatchObject({ status: 200, body: {} })
    }
  })

  test('what the journal does not confirm', async () => {
    gateway.journal.fail('not_written')
    const request = { resourceLogs: [logs(RECORD, {})] }
    const json = await outcome(request, 'JSON')
    const protobuf = await outcome(request, 'Protobuf')
    gateway.journal.fail(null)
    expect(protobuf).toEqual(json)
    expect(json.answer).toMatchObject({ status: 503, retryAfter: '1', body: { details: [{ reason: 'server_error' }] } })
  })

  test('many records, of which one is too large and one has no body', async () => {
    const before = gateway
    gateway = await startForeignGateway({ config: { MAX_ENTRY_BYTES: 1_024 } })
    try {
      const many = Array.from({ length: 10 }, (_, index) => ({ ...RECORD, body: { stringValue: `hello ${index}` } }))
      const request = { resourceLogs: [logs(...many, { ...RECORD, body: { stringValue: 'x'.repeat(900) } }, {})] }
      const json = await outcome(request, 'JSON')
      expect(await outcome(request, 'Protobuf')).toEqual(json)
      expect([json.stored.length, json.refusals.map(({ code }) => code)]).toEqual([
        10,
        ['entry_too_large', 'missing_message'],
      ])
    } finally {
      await gateway.close()
      gateway = before
    }
  })

  test('whatever the request is', async () => {
    const word = fc.oneof(
      fc.constantFrom('', 'service.name', 'correlationKey', 'event.name', 'exception.type', 'logrecord.event.id'),
      fc.constantFrom('err', 'logger', 'name', 'traceId', 'severityText', 'body', 'shared', '__proto__', '1', 'warn'),
      fc.string({ unit: 'binary' }),
    )
    const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)
    const number = fc.double().map((double) => (Number.isFinite(double) ? double : String(double)))
    const { value, list } = fc.letrec<{ value: unknown; list: unknown[] }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        word.map((stringValue) => ({ stringValue })),
        fc.boolean().map((boolValue) => ({ boolValue })),
        int64.map((integer) => ({ intValue: String(integer) })),
        number.map((doubleValue) => ({ doubleValue })),
        fc.uint8Array().map((bytes) => ({ bytesValue: Buffer.from(bytes).toString('base64') })),
        fc.constant({}),
        fc.array(tie('value'), { maxLength: 3 }).map((values) => ({ arrayValue: { values } })),
        tie('list').map((values) => ({ kvlistValue: { values } })),
      ),
      list: fc.array(fc.record({ key: word, value: tie('value') }), { maxLength: 4 }),
    }))
    const nanos = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(10n ** 18n, 2n ** 63n)).map(String)
    const hex = fc
      .oneof(fc.uint8Array({ maxLength: 20 }), fc.constantFrom(new Uint8Array(16), new Uint8Array(300).fill(7)))
      .map((bytes) => Buffer.from(bytes).toString('hex'))
    const record = fc.record(
      {
        timeUnixNano: nanos,
        observedTimeUnixNano: nanos,
        severityNumber: fc.oneof(fc.integer(), fc.constantFrom(9, 17)),
        severityText: fc.oneof(word, fc.constantFrom('INFO', 'Error')),
        body: fc.oneof(
          value,
          fc.string({ minLength: 1 }).map((stringValue) => ({ stringValue })),
        ),
        attributes: list,
        traceId: hex,
        spanId: hex,
        eventName: word,
      },
      { requiredKeys: [] },
    )
    // Many records of a scope are written from their bytes if they are usual ones.
    const logRecords = fc.oneof(fc.array(record, { maxLength: 4 }), fc.array(record, { minLength: 8, maxLength: 12 }))
    const scope = fc.oneof(
      fc.record({ name: word }),
      fc.constant({ name: '@opentelemetry/api-logs', version: '1', attributes: [text('shared', 'by all')] }),
    )
    const request = fc.record({
      resourceLogs: fc.array(
        fc.record({
          resource: fc.oneof(
            { weight: 3, arbitrary: fc.constant(service('checkout api')) },
            { weight: 1, arbitrary: fc.record({ attributes: list }) },
          ),
          scopeLogs: fc.array(fc.record({ scope, logRecords }), { maxLength: 2 }),
        }),
        { maxLength: 2 },
      ),
    })
    let taken = 0
    await fc.assert(
      fc.asyncProperty(request, async (one) => {
        const json = await outcome(one, 'JSON')
        expect(await outcome(one, 'Protobuf')).toEqual(json)
        taken += json.stored.length
      }),
      // Generated requests seldom have a record that is stored.
      {
        examples: [
          [
            {
              resourceLogs: [
                { resource: service('checkout api'), scopeLogs: [{ scope: { name: '' }, logRecords: [RECORD] }] },
              ],
            },
          ],
        ],
      },
    )
    expect(taken).toBeGreaterThan(0)
  })
})

describe('requests in Protobuf', () => {
  const REQUEST = protobufOf({ resourceLogs: [logs(RECORD)] })

  test.each([PROTOBUF, 'application/protobuf', 'application/vnd.google.protobuf', `${PROTOBUF}; charset=utf-8`])(
    'may be of the type %s',
    async (type) => {
      expect(await post(REQUEST, { 'content-type': type })).toMatchObject({ status: 200, type: PROTOBUF, body: {} })
    },
  )

  test('may be compressed; an empty one has no records', async () => {
    expect(await postProtobuf(gzipSync(REQUEST), { 'content-encoding': 'gzip' })).toMatchObject({
      status: 200,
      body: {},
    })
    expect(await postProtobuf(zstdCompressSync(REQUEST), { 'content-encoding': 'zstd' })).toMatchObject({ status: 200 })
    expect(await postProtobuf(Buffer.alloc(0))).toMatchObject({ status: 200, type: PROTOBUF, body: {} })
  })

  test('may come to the path of Seq, with its header', async () => {
    const before = gateway.records().length
    const headers = { 'x-api-key': '', 'x-seq-apikey': KEY }
    expect(await postProtobuf(REQUEST, headers, '/ingest/otlp/v1/logs')).toMatchObject({ status: 200, body: {} })
    expect(storedSince(before)[0]?.value).toContain(CHECKOUT)
  })

  test.each<[string, Buffer, Record<string, string>, number, number, string]>([
    ['no key', REQUEST, { 'x-api-key': '' }, 401, 16, 'missing_api_key'],
    ['a wrong key', REQUEST, { 'x-api-key': 'nobody' }, 403, 7, 'invalid_api_key'],
    ['no Protobuf', Buffer.from('{"resourceLogs":[]}'), {}, 400, 3, 'malformed_body'],
    ['a bomb', gzipSync(Buffer.alloc(21_000_000)), { 'content-encoding': 'gzip' }, 413, 8, 'payload_too_large'],
    ['corrupt compression', REQUEST, { 'content-encoding': 'gzip' }, 400, 3, 'malformed_body'],
    ['an unknown coding', REQUEST, { 'content-encoding': 'compress' }, 415, 3, 'unsupported_media_type'],
  ])('are refused as a Status in Protobuf: %s', async (_name, body, headers, status, code, reason) => {
    expect(await postProtobuf(body, headers)).toMatchObject({
      status,
      type: PROTOBUF,
      body: {
        code,
        message: expect.any(String),
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', domain: 'sluice', reason }],
      },
    })
  })

  test.each([
    ['JSON', Buffer.from('{"resourceLogs":[]}'), /it has a group\. Send one, or over HTTP .* application\/json\.$/],
    ['gzip that no header names', gzipSync(REQUEST), /^The body is in gzip, which Content-Encoding does not say\./],
  ])('say what to change if the body is %s', async (_name, body, message) => {
    expect(await postProtobuf(body)).toMatchObject({ status: 400, body: { message: expect.stringMatching(message) } })
  })

  test('another type is told which ones are taken', async () => {
    expect(await post('x', { 'content-type': 'application/protobuffer' })).toMatchObject({
      status: 415,
      type: 'application/json',
      body: { message: expect.stringContaining('application/json or application/x-protobuf') },
    })
  })

  test('the answer to records that are rejected says how many, and why', async () => {
    const { body } = await postProtobuf(protobufOf({ resourceLogs: [{ ...logs(RECORD), resource: service('x') }] }))
    expect(body).toEqual({
      partialSuccess: { rejectedLogRecords: '1', errorMessage: expect.stringContaining('OTEL_SERVICE_NAME') },
    })
  })

  test('refused records are noted as JSON, with plain values', async () => {
    gateway.noted.length = 0
    const time = { timeUnixNano: '18446744073709551615' }
    const bad = { ...time, attributes: [{ key: 'id', value: { intValue: '9007199254740993' } }] }
    await postProtobuf(protobufOf({ resourceLogs: [logs(RECORD, { ...bad, traceId: 'ab'.repeat(16) })] }))
    expect(gateway.noted).toMatchObject([{ team: 'shop', endpoint: PATH, code: 'invalid_timestamp', index: 1 }])
    expect(gateway.noted[0]?.body).toBe(
      `{"timeUnixNano":"18446744073709551615","attributes":{"id":9007199254740993},"traceId":"${'ab'.repeat(16)}"}`,
    )
  })

  test('a body that cannot be read is noted without an excerpt', async () => {
    gateway.noted.length = 0
    await postProtobuf(REQUEST.subarray(0, -1))
    expect(gateway.noted).toMatchObject([{ team: 'shop', code: 'malformed_body', body: null, bodyCut: false }])
  })

  test('are refused as a whole for one record that cannot be read', async () => {
    const before = gateway.records().length
    gateway.noted.length = 0
    const body = protobufOf({ resourceLogs: [logs(RECORD, { ...RECORD, severityText: 'loud' }, RECORD)] })
    body[body.indexOf('loud')] = 0xff
    expect(await postProtobuf(body)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('a text is not valid UTF-8'), details: [{ reason: 'malformed_body' }] },
    })
    expect(storedSince(before)).toEqual([])
    expect(gateway.noted).toMatchObject([{ team: 'shop', code: 'malformed_body', bodyCut: false }])
    const record = '{"severityNumber":9,"body":"hello","attributes":{}}'
    expect(gateway.noted[0]?.body).toContain(`"logRecords":[${record},null,null]`)
  })

  test('sent again under an Idempotency-Key get the same ids', async () => {
    const idsOf = async (body: Buffer) => {
      const before = gateway.records().length
      await postProtobuf(body, { 'idempotency-key': 'protobuf' })
      return gateway.stored(before).map(({ id }) => id)
    }
    const [first] = await idsOf(REQUEST)
    expect(await idsOf(REQUEST)).toEqual([first])
    expect(await idsOf(protobufOf({ resourceLogs: [logs({ ...RECORD, severityNumber: 10 })] }))).not.toEqual([first])
  })

  test('however they are damaged, are answered with a Status or taken', async () => {
    const damage = fc.array(fc.tuple(fc.nat(REQUEST.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(damage, async (changes) => {
        const bytes = Buffer.from(REQUEST)
        for (const [at, byte] of changes) bytes[at] = byte
        const { status, type, body } = await postProtobuf(bytes)
        expect([[200, 400], type]).toEqual([expect.arrayContaining([status]), PROTOBUF])
        if (status === 400) expect(body).toMatchObject({ code: 3, details: [{ domain: 'sluice' }] })
      }),
    )
  })
})

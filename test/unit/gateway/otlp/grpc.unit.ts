import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createRefusalRecorder } from '../../../../gateway/refusals/recorder.ts'
import type { NotedRefusal } from '../../../../shared/contract/refusals.ts'
import { systemClock } from '../../../../shared/runtime/clock.ts'
import { CHECKOUT, foreignRegistry, KEY } from '../../../support/foreign-gateway.ts'
import { type RunningGateway, startGateway } from '../../../support/gateway.ts'
import { beginRaw, connectRaw, createGrpcClient, type GrpcClient, startGrpc } from '../../../support/grpc.ts'
import { protobufOf } from '../../../support/otlp-protobuf.ts'

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const logs = (service: string, ...bodies: readonly string[]): Buffer =>
  protobufOf({
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', service)] },
        scopeLogs: [{ scope: { name: 'lib' }, logRecords: bodies.map((stringValue) => ({ body: { stringValue } })) }],
      },
    ],
  })

let gateway: RunningGateway
let server: Awaited<ReturnType<typeof startGrpc>>
let client: GrpcClient
let noted: NotedRefusal[] = []

beforeAll(async () => {
  const outbox = { push: (record: unknown) => noted.push(record as NotedRefusal) > 0, miss: () => undefined }
  const refusalRecorder = createRefusalRecorder({ registry: foreignRegistry, clock: systemClock, outbox })
  gateway = await startGateway({ registry: foreignRegistry, refusalRecorder, config: { MAX_BODY_BYTES: 100_000 } })
  server = await startGrpc(gateway)
  client = createGrpcClient(server.port, KEY)
})
afterEach(() => {
  noted = []
  gateway.journal.fail(null)
})
afterAll(async () => {
  client.close()
  await server.stop()
  await gateway.close()
})

describe('a call', () => {
  test.each([
    ['as it is', {}],
    ['with gzip', { 'grpc.default_compression_algorithm': 2 }],
    ['with deflate', { 'grpc.default_compression_algorithm': 1 }],
  ])('stores its records and ends with OK, %s', async (_name, options) => {
    const before = gateway.records().length
    const own = createGrpcClient(server.port, KEY, options)
    expect(await own.call(logs('checkout api', 'one', 'x'.repeat(5_000)))).toEqual({
      code: 0,
      message: '',
      response: {},
    })
    own.close()
    expect(
      gateway
        .stored(before)
        .map(({ message }) => message)
        .sort(),
    ).toEqual(['one', 'x'.repeat(5_000)])
    expect(gateway.stored(before)[0]).toMatchObject({ project: CHECKOUT })
  })

  test('without records ends with OK', async () => {
    expect(await client.call(Buffer.alloc(0))).toEqual({ code: 0, message: '', response: {} })
  })

  test('tells the records that are rejected, each kind once, and notes them for the Team', async () => {
    expect(await client.call(logs('chekout', 'one', 'two'))).toEqual({
      code: 0,
      message: '',
      response: {
        partialSuccess: {
          rejectedLogRecords: '2',
          errorMessage: expect.stringMatching(
            /^2 with project_not_found \(first record 0\): .*OTEL_SERVICE_NAME.* X-Project-Id, or over HTTP /,
          ),
        },
      },
    })
    expect(noted).toMatchObject([
      {
        endpoint: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
        code: 'project_not_found',
        keyPrefix: KEY.slice(0, 6),
      },
      { code: 'project_not_found' },
    ])
  })

  test.each([
    ['x-api-key', KEY],
    ['authorization', `Bearer ${KEY}`],
    ['x-seq-apikey', KEY],
  ])('has the key in %s', async (name, value) => {
    const { code } = await client.call(logs('checkout api', 'hi'), { metadata: { 'x-api-key': '', [name]: value } })
    expect(code).toBe(0)
  })

  test('has the Project in x-project-id', async () => {
    const end = await client.call(logs('chekout', 'hi'), { metadata: { 'x-project-id': 'checkout api' } })
    expect(end).toEqual({ code: 0, message: '', response: {} })
  })

  test('sent again with an idempotency-key has the ids that it had, as by HTTP', async () => {
    const before = gateway.records().length
    const metadata = {
      'idempotency-key': 'retry',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }
    const message = logs('checkout api', 'again')
    for (let time = 0; time < 2; time += 1) await client.call(message, { metadata })
    await fetch(`http://127.0.0.1:${gateway.port}/v1/logs`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf', 'x-api-key': KEY, ...metadata },
      body: message as never,
    })
    const stored = gateway.stored(before)
    expect(stored).toHaveLength(3)
    expect(new Set(stored.map(({ id }) => id)).size).toBe(1)
    expect(gateway.records().at(-1)?.headers).toMatchObject({ traceparent: metadata.traceparent })
  })
})

describe('a call that fails', () => {
  const info = (reason: string, metadata = {}) => ({
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain: 'sluice',
    ...metadata,
  })

  test.each([
    ['no key', 16, 'missing_api_key', { 'x-api-key': '' }, logs('checkout api', 'hi')],
    ['a key of nobody', 7, 'invalid_api_key', { 'x-api-key': 'nobody-0123456789abcdef' }, logs('checkout api', 'hi')],
    ['no Protobuf', 3, 'malformed_body', {}, Buffer.from('hello')],
    ['a message over the limit', 8, 'payload_too_large', {}, logs('checkout api', 'x'.repeat(100_001))],
    ['too many records', 8, 'batch_too_large', {}, logs('checkout api', ...Array.from({ length: 10_001 }, () => ''))],
  ])('%s: is not to be repeated', async (_name, code, reason, metadata, message) => {
    const before = gateway.records().length
    const end = await client.call(message, { metadata })
    expect(end).toMatchObject({ code, message: expect.stringMatching(/\.$/) })
    expect(end.status).toMatchObject({ code, message: end.message, details: [{ ...info(reason) }] })
    expect((end.status as { details: readonly unknown[] }).details).toHaveLength(1)
    expect(gateway.records()).toHaveLength(before)
  })

  test.each([
    ['no message', [], /it has no message/, 'gzip'],
    ['half a prefix', [0, 0], /it has no message/, 'gzip'],
    ['half a message', [0, 0, 0, 0, 2, 10], /it ends after 1 of the 2 bytes/, 'gzip'],
    ['an endless message that ends', [0, 255, 255, 255, 255, 10], /it ends after 1 of the 4294967295 bytes/, 'gzip'],
    ['two messages', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], /it has more than one message/, 'gzip'],
    ['a compressed message of no coding', [1, 0, 0, 0, 1, 10], /no grpc-encoding says how/, 'identity'],
    ['an unknown flag', [2, 0, 0, 0, 1, 10], /no grpc-encoding says how/, 'gzip'],
    ['an encoding that is not known', [1, 0, 0, 0, 1, 10], /"snappy" is not taken. Send one of identity/, 'snappy'],
    ['what is not compressed as it says', [1, 0, 0, 0, 1, 10], /not valid gzip/, 'gzip'],
  ])('%s: is told so', async (_name, bytes, message, encoding) => {
    const session = connectRaw(server.port)
    const { stream, ended } = beginRaw(session, KEY, { 'grpc-encoding': encoding })
    stream.end(Buffer.from(bytes))
    const { headers } = await ended
    session.close()
    expect(headers).toMatchObject({
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': encoding === 'snappy' ? '12' : '3',
      'grpc-message': expect.stringMatching(message),
      'grpc-accept-encoding': 'identity,gzip,deflate,zstd',
    })
  })

  test('what the journal did not confirm: is to be repeated, with the time after which', async () => {
    gateway.journal.fail('not_written')
    const end = await client.call(logs('checkout api', 'lost'))
    const message = expect.stringMatching(/ again after the time in RetryInfo\.$/)
    expect(end).toMatchObject({ code: 14, message, status: { code: 14, message } })
    expect((end.status as { details: readonly unknown[] }).details).toMatchObject([
      info('server_error'),
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: { seconds: '1' } },
    ])
  })
})

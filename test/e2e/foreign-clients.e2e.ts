import { SeqTransport } from '@datalust/winston-seq'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { pino } from 'pino'
import { createStream } from 'pino-seq'
import { Logger } from 'seq-logging'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import winston from 'winston'
import { createClient, type Item } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { type SluiceProcess, serverFolder, startSluice } from '../support/sluice-process.ts'

const KEY = 'foreign-e2e-key-0123456789abcdef0123456789'
const REGISTRY = `teams: [{ id: ops, name: Ops, apiKeys: ["${KEY}"] }]
projects:
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301, team: ops, name: Checkout API }
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3302, team: ops, name: Stock }
`

const folder = serverFolder(REGISTRY)
let server: SluiceProcess

beforeAll(async () => {
  server = await startSluice(folder.settings)
})

afterAll(async () => {
  server.kill('SIGTERM')
  await server.exited
  folder.remove()
})

const send = (path: string, body: string, headers: Record<string, string>) =>
  fetch(server.url + path, { method: 'POST', headers, body })

/** Waits until a search finds entries whose messages are these. */
async function shown(query: string, messages: readonly string[]): Promise<readonly Item[]> {
  let items: readonly Item[] = []
  await eventually(async () => {
    items = await createClient(server.url, KEY).all(`/api/application-logs?order=asc&${query}`)
    expect(items.map(({ message }) => message)).toEqual(messages)
  })
  return items
}

/** Two logs as the exporter of OpenTelemetry's SDK for JavaScript sends them, one of them an exception. */
const OTLP = `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"checkout api"}},
{"key":"deployment.environment.name","value":{"stringValue":"staging"}}],"droppedAttributesCount":0},"scopeLogs":[{"scope":
{"name":"checkout.payments","version":"2.0.0"},"logRecords":[{"timeUnixNano":"1795281613127000000","observedTimeUnixNano":
"1795281613127000000","severityNumber":13,"severityText":"WARN","body":{"stringValue":"Payment is slow"},"attributes":[
{"key":"order","value":{"intValue":4711}},{"key":"ms","value":{"doubleValue":0.5}},{"key":"ok","value":{"boolValue":false}},
{"key":"tags","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}}],"droppedAttributesCount":0,
"flags":1,"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"},{"timeUnixNano":"1795281613128000000",
"observedTimeUnixNano":"1795281613128000000","severityNumber":17,"body":{"kvlistValue":{"values":[{"key":"step","value":
{"stringValue":"pay"}},{"key":"nested","value":{"kvlistValue":{"values":[{"key":"a","value":{"arrayValue":{"values":[
{"intValue":1},{}]}}}]}}}]}},"eventName":"payment.failed","attributes":[{"key":"exception.type","value":{"stringValue":
"TypeError"}},{"key":"exception.message","value":{"stringValue":"no"}},{"key":"exception.stacktrace","value":{"stringValue":
"TypeError: no\\n    at pay (x.js:1:1)"}},{"key":"correlationKey","value":{"stringValue":"order-4711"}}],
"droppedAttributesCount":0}]}]}]}`.replaceAll('\n', '')

/** Two events as Serilog's sink for Seq sends them. */
const CLEF = `{"@t":"2026-11-20T17:20:13.1270001Z","@mt":"Order {Order} has {Count:000} items","@r":["003"],"@tr":"0af7651916cd43dd8448eb211c80319c","@sp":"b7ad6b7169203331","Order":9223372036854775807,"Count":3,"SourceContext":"Shop.Stock","EnvironmentName":"Production"}\r
{"@t":"2026-11-20T17:20:13.1280000Z","@mt":"Stock failed","@l":"Fatal","@x":"System.Exception: no\\r\\n   at Shop","CorrelationId":"order-4712"}\r
`

describe('clients of others', () => {
  test('OpenTelemetry’s logs are stored, searched and part of a flow', async () => {
    const headers = { 'content-type': 'application/json', 'x-api-key': KEY }
    const response = await send('/v1/logs', OTLP, headers)
    expect([response.status, await response.json()]).toEqual([200, {}])
    const items = await shown('category=checkout', ['Payment is slow', '{"step":"pay","nested":{"a":[1,null]}}'])
    expect(items).toMatchObject([
      {
        project: { name: 'Checkout API' },
        timestamp: '2026-11-21T17:20:13.127Z',
        level: 'Warning',
        environment: 'staging',
        correlationKey: '5b8efff798038103d269b633813fc60c',
        scopeData: { order: 4711, ms: 0.5, ok: false, tags: ['a', 'b'], spanId: 'eee19b7ec3c1b174' },
      },
      { level: 'Error', eventName: 'payment.failed', exception: 'TypeError: no\n    at pay (x.js:1:1)' },
    ])
    await eventually(async () => {
      const flow = await createClient(server.url, KEY).get<{ items: readonly Item[] }>('/api/flows/order-4711')
      expect(flow.data?.items).toHaveLength(1)
    })
  })

  test.each([
    ['plain', '', '/v1/logs'],
    ['compressed', 'gzip', '/ingest/otlp/v1/logs'],
  ])('the SDK of OpenTelemetry delivers by its defaults, which are Protobuf, %s', async (how, compression, path) => {
    const environment = {
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: server.url + path,
      OTEL_EXPORTER_OTLP_LOGS_HEADERS: `x-api-key=${KEY}`,
      OTEL_EXPORTER_OTLP_COMPRESSION: compression,
    }
    Object.assign(process.env, environment)
    const provider = new LoggerProvider({
      resource: resourceFromAttributes({ 'service.name': 'checkout api', 'deployment.environment.name': 'staging' }),
      processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })],
    })
    for (const name of Object.keys(environment)) delete process.env[name]
    const logger = provider.getLogger(`sdk.${how}`)
    logger.emit({
      severityNumber: 17,
      body: `Payment failed, ${how}`,
      timestamp: [1_795_281_613, 127_000_001],
      attributes: { order: 4711, ratio: 0.5, ok: false, tags: ['a', 'b'], raw: new Uint8Array([104, 105]) },
      exception: new TypeError('no'),
    })
    for (let index = 0; index < 600; index += 1)
      logger.emit({
        severityText: 'warn',
        body: { index, nested: { of: [how, null] } },
        timestamp: [1_795_281_614, index],
      })
    await provider.shutdown()
    const bodies = Array.from({ length: 600 }, (_, index) => `{"index":${index},"nested":{"of":["${how}",null]}}`)
    const items = await shown(`category=sdk.${how}`, [`Payment failed, ${how}`, ...bodies])
    expect(items[0]).toMatchObject({
      project: { name: 'Checkout API' },
      environment: 'staging',
      level: 'Error',
      timestamp: '2026-11-21T17:20:13.127000001Z',
      exception: expect.stringMatching(/^TypeError: no\n {4}at /),
      scopeData: { order: 4711, ratio: 0.5, ok: false, tags: ['a', 'b'], raw: 'aGk=' },
    })
    expect(items[1]).toMatchObject({ level: 'Warning' })
  })

  test('Serilog’s events are stored and searched', async () => {
    const headers = { 'content-type': 'application/vnd.serilog.clef; charset=utf-8', 'x-seq-apikey': KEY }
    const response = await send('/ingest/clef?project=stock', CLEF, headers)
    expect([response.status, await response.json()]).toMatchObject([201, { success: true, data: { count: 2 } }])
    const project = 'project=3f2504e0-4f89-11d3-9a0c-0305e82c3302'
    const items = await shown(project, ['Order 9223372036854775807 has 003 items', 'Stock failed'])
    expect(items).toMatchObject([
      {
        timestamp: '2026-11-20T17:20:13.1270001Z',
        categoryName: 'Shop.Stock',
        environment: 'Production',
        correlationKey: '0af7651916cd43dd8448eb211c80319c',
      },
      {
        level: 'Critical',
        categoryName: 'Stock',
        exception: 'System.Exception: no\r\n   at Shop',
        correlationKey: 'order-4712',
      },
    ])
  })

  test('what was refused is told to the sender, and shown to the Team', async () => {
    const headers = { 'content-type': 'application/json', 'x-api-key': KEY }
    const response = await send('/v1/logs', OTLP.replace('checkout api', 'chekout'), headers)
    expect(await response.json()).toMatchObject({
      partialSuccess: { rejectedLogRecords: '2', errorMessage: expect.stringContaining('OTEL_SERVICE_NAME') },
    })
    await eventually(async () => {
      const { data } = await createClient(server.url, KEY).get<{ items: readonly object[] }>('/api/refusals')
      expect(data.items).toMatchObject([{ endpoint: '/v1/logs' }, { endpoint: '/v1/logs', code: 'project_not_found' }])
    })
  })

  test('seq-logging delivers by its defaults, and reports a batch of which an event was refused', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown): void => void errors.push(error)
    const logger = new Logger({ serverUrl: `${server.url}/projects/stock`, apiKey: KEY, onError })
    const event = {
      timestamp: new Date('2026-11-21T17:20:13.127Z'),
      level: 'Warning',
      messageTemplate: 'Order {Order} by seq-logging',
      properties: { Order: 4711, SourceContext: 'seq.logging' },
      exception: 'Error: no\n    at pay (x.js:1:1)',
      traceId: '0af7651916cd43dd8448eb211c80319d',
    }
    for (let index = 0; index < 300; index += 1) logger.emit(event)
    await logger.flush()
    expect(errors).toEqual([])
    logger.emit({ ...event, level: 'Loud' })
    logger.emit({ ...event, messageTemplate: 'the last one' })
    await logger.close()
    expect(errors).toEqual(['HTTP log shipping failed: 207'])
    const messages = [...Array<string>(300).fill('Order 4711 by seq-logging'), 'the last one']
    const [item] = await shown('category=seq.logging', messages)
    expect(item).toMatchObject({
      project: { name: 'Stock' },
      level: 'Warning',
      timestamp: '2026-11-21T17:20:13.127Z',
      correlationKey: '0af7651916cd43dd8448eb211c80319d',
      exception: 'Error: no\n    at pay (x.js:1:1)',
      scopeData: { Order: 4711 },
    })
  })

  test('pino-seq and winston-seq deliver by their defaults', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown): void => void errors.push(error)
    const options = { serverUrl: `${server.url}/projects/stock`, apiKey: KEY, onError }
    const stream = createStream(options)
    const pinoLogger = pino({ name: 'shop' }, stream)
    pinoLogger.warn({ client: 'pino-seq', order: 4711 }, 'Order is late')
    pinoLogger.error(Object.assign(new TypeError('no'), { client: 'pino-seq' }))
    await new Promise<void>((resolve) => stream.end(resolve))
    const transport = new SeqTransport(options)
    const winstonLogger = winston.createLogger({
      format: winston.format.combine(winston.format.errors({ stack: true }), winston.format.json()),
      transports: [transport],
    })
    winstonLogger.info('Order is paid', { client: 'winston-seq' })
    winstonLogger.error(Object.assign(new TypeError('no'), { client: 'winston-seq' }))
    await transport.flush()
    transport.close()
    expect(errors).toEqual([])
    const ofPino = await shown('q=scope.client:pino-seq', ['Order is late', 'no'])
    expect(ofPino).toMatchObject([
      { level: 'Warning', project: { name: 'Stock' }, scopeData: { order: 4711, name: 'shop' } },
      { level: 'Error', exception: expect.stringMatching(/^TypeError: no\n {4}at /) },
    ])
    const ofWinston = await shown('q=scope.client:winston-seq', ['Order is paid', 'no'])
    expect(ofWinston).toMatchObject([
      { level: 'Information' },
      { level: 'Error', exception: expect.stringMatching(/^TypeError: no\n {4}at /) },
    ])
  })

  test.each([
    ['one by one', {}],
    ['in batches', { batch: true, batchCount: 4 }],
  ])('the Http transport of winston delivers %s', async (how, batching) => {
    const { hostname: host, port } = new URL(server.url)
    const client = `winston ${how}`
    const path = '/projects/Checkout%20API/ingest/json'
    const transport = new winston.transports.Http({
      host,
      port: Number(port),
      path,
      headers: { 'x-api-key': KEY },
      ...batching,
    })
    const warnings: unknown[] = []
    transport.on('warn', (warning) => warnings.push(warning))
    const logger = winston.createLogger({
      level: 'silly',
      defaultMeta: { client },
      format: winston.format.combine(winston.format.timestamp(), winston.format.errors({ stack: true })),
      transports: [transport],
    })
    logger.silly('first')
    logger.http('second')
    logger.warn('third', { order: 4711 })
    logger.error(new TypeError('fourth'))
    const items = await shown(`q=scope.client:"${client}"`, ['first', 'second', 'third', 'fourth'])
    expect(items).toMatchObject([
      { level: 'Trace', project: { name: 'Checkout API' } },
      { level: 'Debug' },
      { level: 'Warning', scopeData: { order: 4711 } },
      { level: 'Error', exception: expect.stringMatching(/^TypeError: fourth\n {4}at /) },
    ])
    expect(warnings).toEqual([])
  })

  test('the Http transport of winston reports an entry that was refused', async () => {
    const { hostname: host, port } = new URL(server.url)
    const headers = { 'x-api-key': KEY }
    const transport = new winston.transports.Http({
      host,
      port: Number(port),
      path: '/projects/stock/ingest/json',
      headers,
    })
    const warnings: unknown[] = []
    transport.on('warn', (warning) => warnings.push(warning))
    const levels = { loud: 0 }
    winston.createLogger({ levels, level: 'loud', transports: [transport] }).log('loud', 'x')
    await eventually(() => expect(warnings).toEqual([new Error('Invalid HTTP Status Code: 422')]))
  })
})

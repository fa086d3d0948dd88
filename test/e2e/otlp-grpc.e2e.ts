import { join } from 'node:path'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient, type Item } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { createGrpcClient } from '../support/grpc.ts'
import { runSluice, type SluiceProcess, serverFolder, startSluice } from '../support/sluice-process.ts'

const KEY = 'grpc-e2e-key-0123456789abcdef0123456789abcd'
const REGISTRY = `teams: [{ id: ops, name: Ops, apiKeys: ["${KEY}"] }]
projects: [{ id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301, team: ops, name: Checkout API }]
`

const { settings, ...folder } = serverFolder(REGISTRY)
let server: SluiceProcess

beforeAll(async () => {
  server = await startSluice({ ...settings, OTLP_GRPC_PORT: '0' })
})

afterAll(async () => {
  await stop()
  folder.remove()
})

async function stop(): Promise<void> {
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
}

/** The SDK of OpenTelemetry, of which nothing is set but the address, the key and the compression. */
function createProvider(compression = ''): LoggerProvider {
  const environment = {
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: server.grpcUrl,
    OTEL_EXPORTER_OTLP_LOGS_HEADERS: `x-api-key=${KEY}`,
    OTEL_EXPORTER_OTLP_COMPRESSION: compression,
  }
  Object.assign(process.env, environment)
  const provider = new LoggerProvider({
    resource: resourceFromAttributes({ 'service.name': 'checkout api' }),
    processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })],
  })
  for (const name of Object.keys(environment)) delete process.env[name]
  return provider
}

const shown = (category: string): Promise<readonly Item[]> =>
  createClient(server.url, KEY).all(`/api/application-logs?order=asc&category=${category}`)

describe('OpenTelemetry’s exporter for gRPC', () => {
  test.each([
    ['plain', ''],
    ['compressed', 'gzip'],
  ])('delivers by its defaults, %s', async (how, compression) => {
    const provider = createProvider(compression)
    const logger = provider.getLogger(how)
    for (let index = 0; index < 600; index += 1)
      logger.emit({ severityNumber: 17, body: { index, how }, timestamp: [1_795_281_614, index] })
    await provider.shutdown()
    const bodies = Array.from({ length: 600 }, (_, index) => JSON.stringify({ index, how }))
    await eventually(async () => expect((await shown(how)).map(({ message }) => message)).toEqual(bodies))
    expect((await shown(how))[0]).toMatchObject({ level: 'Error', project: { name: 'Checkout API' } })
  })

  test('delivers again to a server that comes back, each record at most once', async () => {
    const port = new URL(server.grpcUrl).port
    const provider = createProvider()
    const logger = provider.getLogger('outage')
    logger.emit({ body: 'before' })
    await provider.forceFlush()
    await stop()
    logger.emit({ body: 'during' })
    await provider.forceFlush()
    server = await startSluice({ ...settings, OTLP_GRPC_PORT: port })
    let attempts = 0
    await eventually(async () => {
      attempts += 1
      logger.emit({ body: `after ${attempts}` })
      await provider.forceFlush()
      expect((await shown('outage')).map(({ message }) => message)).toContain(`after ${attempts - 1}`)
    }, 30_000)
    await provider.shutdown()
    const messages = (await shown('outage')).map(({ message }) => message)
    expect(messages).toContain('before')
    expect(new Set(messages).size).toBe(messages.length)
  })
})

describe('the port of gRPC', () => {
  test('is named to a client of gRPC that came to the port of HTTP', async () => {
    const client = createGrpcClient(Number(new URL(server.url).port), KEY)
    expect(await client.call(Buffer.alloc(0))).toMatchObject({
      code: 12,
      message: expect.stringContaining('OTLP_GRPC_PORT'),
    })
    client.close()
  })

  test('that is taken ends the start, and the setting is named', async () => {
    const taken = new URL(server.grpcUrl).port
    const { code, stderr } = await runSluice(['start'], {
      DATA_DIR: join(folder.path, 'other'),
      PORT: '0',
      OTLP_GRPC_PORT: taken,
    })
    expect(code).not.toBe(0)
    expect(stderr).toContain(`port ${taken} on 127.0.0.1 is taken; set OTLP_GRPC_PORT to another one`)
  })

  test('differs from that of HTTP', async () => {
    const { code, stderr } = await runSluice(['start'], { PORT: '4317', OTLP_GRPC_PORT: '4317' })
    expect(code).not.toBe(0)
    expect(stderr).toContain('OTLP_GRPC_PORT (4317) must differ from PORT and METRICS_PORT')
  })
})

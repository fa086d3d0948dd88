import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { EXPORT_PATH } from '../../gateway/otlp/grpc.ts'
import { createClient } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { createGrpcClient } from '../support/grpc.ts'
import { protobufOf } from '../support/otlp-protobuf.ts'
import { type SluiceProcess, startSluice, temporaryFolder } from '../support/sluice-process.ts'
import { startTraceReceiver, type TraceReceiver } from '../support/trace-receiver.ts'

const KEY = 'trace-e2e-key-0123456789abcdef0123456789ab'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACE_OF_OTHERS = '0af7651916cd43dd8448eb211c80319c'
const SENDER = '00f067aa0ba902b7'
const TOPIC = 'sluice.application-logs.v1'

let receiver: TraceReceiver
let running: SluiceProcess | undefined
const folder = temporaryFolder()
let runs = 0

afterEach(async () => {
  await receiver.close()
  running?.kill('SIGKILL')
})
afterAll(folder.remove)

async function start(settings: Record<string, string>) {
  const path = join(folder.path, String(runs++))
  const file = `${path}.yaml`
  writeFileSync(
    file,
    `teams: [{ id: t, name: T, apiKeys: ["${KEY}"] }]\nprojects: [{ id: ${PROJECT}, team: t, name: Shop }]\n`,
  )
  const server = await startSluice({
    DATA_DIR: path,
    REGISTRY_FILE: file,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
    ...settings,
  })
  running = server
  const post = async (message: string, { trace = TRACE, flags = '01' } = {}): Promise<void> => {
    const body = { uniqueIdentifier: PROJECT, categoryName: 'Cart', message, level: 'Information' }
    const headers = {
      'x-api-key': KEY,
      'content-type': 'application/json',
      traceparent: `00-${trace}-${SENDER}-${flags}`,
    }
    const answer = await fetch(`${server.url}/api/ApplicationLogs`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect(await answer.json()).toMatchObject({ success: true })
  }
  const searchable = (message: string) =>
    eventually(async () =>
      expect(await createClient(server.url, KEY).all(`/api/application-logs?q=${message}`)).toHaveLength(1),
    )
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
  }
  return { server, post, searchable, stop }
}

describe('traces of the embedded mode', () => {
  test('lead from the sender to the record, and from the chunk of a projection back to it', async () => {
    receiver = await startTraceReceiver()
    const { server, post, searchable, stop } = await start({
      OTLP_GRPC_PORT: '0',
      OTEL_TRACES_SAMPLER_ARG: '1',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret',
      OTEL_SERVICE_NAME: 'logs',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    })
    await post('a-private-message')
    await post('not-traced', { trace: TRACE_OF_OTHERS, flags: '00' })
    const calls = createGrpcClient(Number(new URL(server.grpcUrl).port), KEY)
    const logRecords = [{ body: { stringValue: 'by-grpc' } }]
    expect(await calls.call(protobufOf({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))).toMatchObject({ code: 0 })
    calls.close()
    for (const message of ['a-private-message', 'not-traced', 'by-grpc']) await searchable(message)
    await eventually(async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      expect(metrics).toContain('sluice_consumer_records_total{view="flows",outcome="skipped"} 3')
    })
    await stop()

    const request = receiver.spans.find(({ name }) => name === 'POST /api/ApplicationLogs')
    expect(request).toMatchObject({
      kind: 'SERVER',
      traceId: TRACE,
      parentSpanId: SENDER,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/ApplicationLogs',
        'http.response.status_code': 200,
      },
      failed: false,
      resource: { 'service.name': 'logs', 'deployment.environment.name': 'test' },
    })
    const { spanId = '' } = request ?? {}
    expect(receiver.spans.filter(({ traceId }) => traceId === TRACE)).toHaveLength(2)
    expect(receiver.spans.filter(({ traceId }) => traceId === TRACE_OF_OTHERS)).toEqual([])
    const call = receiver.spans.find(({ name }) => name === EXPORT_PATH.slice(1))
    expect(call).toMatchObject({ kind: 'SERVER', parentSpanId: '', attributes: { 'rpc.system.name': 'grpc' } })
    const sent = receiver.spans.filter(({ name }) => name === `send ${TOPIC}`)
    expect(sent.map(({ parentSpanId }) => parentSpanId)).toEqual([spanId, call?.spanId])
    expect(sent[0]).toMatchObject({
      kind: 'PRODUCER',
      traceId: TRACE,
      links: [],
      attributes: {
        'messaging.system.name': 'sqlite',
        'messaging.destination.name': TOPIC,
        'messaging.destination.partition.id': '0',
        'messaging.batch.message_count': 1,
      },
    })
    const chunks = receiver.spans.filter(({ links }) => links.some((link) => link.spanId === spanId))
    expect(chunks.map(({ attributes }) => attributes['messaging.consumer.group.name']).toSorted()).toEqual([
      'sluice.application-logs.v1',
      'sluice.flows.v1',
    ])
    for (const chunk of chunks)
      expect(chunk).toMatchObject({ name: `process ${TOPIC}`, kind: 'CONSUMER', parentSpanId: '', failed: false })
    for (const { ':path': path, authorization } of receiver.requests)
      expect([path, authorization]).toEqual(['/v1/traces', 'Bearer secret'])
    for (const secret of [KEY, 'private', 'secret', 'q=']) expect(JSON.stringify(receiver.spans)).not.toContain(secret)
  })

  test('are not sent where the share is 0', async () => {
    receiver = await startTraceReceiver()
    const off = await start({ OTEL_TRACES_SAMPLER_ARG: '0' })
    await off.post('nobody-traces')
    await off.searchable('nobody-traces')
    await off.stop()
    expect(receiver.requests).toEqual([])
  })

  test('do not hold up the end of a server whose receiver does not answer', async () => {
    receiver = await startTraceReceiver(() => undefined)
    const { post, searchable, stop } = await start({ OTEL_TRACES_SAMPLER_ARG: '1', DRAIN_TIMEOUT_MS: '2000' })
    await post('unanswered')
    await searchable('unanswered')
    await stop()
    expect(receiver.spans.map(({ name }) => name)).toContain(`send ${TOPIC}`)
  })
})

import express from 'express'
import { answerClientError } from '../../deploy/http/client-error.ts'
import { answerExpectContinue } from '../../deploy/http/request-head.ts'
import { createEndpoints, type EndpointsConfig } from '../../gateway/endpoints.ts'
import { createPublisher, PUBLISHER_DEFAULTS, type PublisherOptions } from '../../gateway/publisher/publisher.ts'
import type { RefusalRecorder } from '../../gateway/refusals/recorder.ts'
import type { Methods } from '../../shared/grpc/call.ts'
import { createListener } from '../../shared/http/listener.ts'
import type { NewRecord } from '../../shared/journal/journal.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import { type Clock, systemClock } from '../../shared/runtime/clock.ts'
import { loadConfig } from '../../shared/runtime/config.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics, type Metrics } from '../../shared/runtime/metrics.ts'
import type { Envelope } from './api.ts'
import { createGatewayJournal, type GatewayJournal } from './gateway-journal.ts'
import { createGatewayRegistry, KEY } from './gateway-registry.ts'
import { startBare } from './raw-http.ts'

export const TOPICS = ['sluice.event-logs.v1', 'sluice.application-logs.v1']

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Envelope
}

export interface RunningGateway {
  readonly port: number
  readonly journal: GatewayJournal
  readonly metrics: Metrics
  readonly methods: Methods
  readonly publisher: ReturnType<typeof createPublisher>
  /** The durable records. */
  records(): readonly NewRecord[]
  /** Their values as JSON, from this one on; a negative number counts from the end. */
  stored(from?: number): readonly Readonly<Record<string, unknown>>[]
  /** Posts a body (JSON, unless it is a string or bytes) with the key of the Team that owns the fixtures. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

export interface GatewayOptions {
  readonly config?: Partial<EndpointsConfig>
  readonly publisher?: Partial<PublisherOptions>
  readonly journal?: GatewayJournal
  readonly registry?: Registry
  readonly registryReady?: () => boolean
  readonly refusalRecorder?: RefusalRecorder
  readonly clock?: Clock
}

/** The gateway on its own server, with an in-memory journal and registry. */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const { clock = systemClock, journal = createGatewayJournal(), registry = createGatewayRegistry() } = options
  const config = { ...loadConfig({}), ...options.config }
  const logger = createLogger('silent', 'test')
  const metrics = createMetrics()
  const publisher = createPublisher({
    journal,
    clock,
    metrics,
    logger,
    options: {
      ...PUBLISHER_DEFAULTS,
      topics: TOPICS,
      bufferBytesMax: config.PUBLISH_BUFFER_BYTES,
      sendTimeoutMs: config.REQUEST_DEADLINE_MS,
      ...options.publisher,
    },
  })
  await publisher.start()
  const registryReady = options.registryReady ?? (() => true)
  const refusalRecorder = options.refusalRecorder ?? (() => () => undefined)
  const { endpoints, methods } = createEndpoints({
    config,
    clock,
    logger,
    metrics,
    registry,
    registryReady,
    publisher,
    refusalRecorder,
  })
  const { port, close } = await startBare(
    createListener(express(), logger, endpoints),
    (server) => {
      server.on('clientError', answerClientError)
      answerExpectContinue(server, config.MAX_BODY_BYTES)
    },
    // A connection that rests while a test computes is not closed just when the test uses it again.
    { keepAliveTimeout: 0 },
  )
  const records = () => journal.records
  return {
    port,
    journal,
    metrics,
    methods,
    publisher,
    records,
    stored: (from) =>
      records()
        .slice(from)
        .map(({ value }) => JSON.parse(String(value))),
    post: (path, body, headers = {}) => post(`http://127.0.0.1:${port}${path}`, body, headers),
    close: async () => {
      journal.release()
      await close()
      await publisher.stop(clock.now() + 1_000)
    },
  }
}

async function post(url: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
  const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const given = { 'content-type': 'application/json', 'x-api-key': KEY, ...headers }
  // An empty value suppresses the header.
  const kept = Object.entries(given).filter(([, value]) => value !== '')
  const response = await fetch(url, { method: 'POST', headers: Object.fromEntries(kept), body: sent as string })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Envelope }
}

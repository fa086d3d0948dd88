/** OpenTelemetry's SDK for traces; loaded only if tracing is configured (backends.ts). */
import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, type SpanContext, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { BaseServices } from '../../shared/role.ts'
import { type Config, rereadSecret } from '../../shared/runtime/config.ts'
import { pairsOf } from '../../shared/runtime/config-schema.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import { createSampler, LINKS_MAX, type Span, type Tracer } from '../../shared/runtime/tracing.ts'
import { byDeadline } from '../../shared/runtime/waiting.ts'
import { VERSION } from './version.ts'

/** The version of the semantic conventions that attribute names follow. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.45.0'

/** Maximum spans that wait to be sent, including those on their way: about 10 MB if all have the maximum of links. */
const WAITING_MAX = 1_024
const BATCH_MAX = 256
const SEND_EVERY_MS = 5_000
const SEND_TIMEOUT_MS = 10_000
/** The share of a drain, in milliseconds, that the last spans may take. */
const FLUSH_MS = 1_000
const ATTRIBUTE_CHARACTERS_MAX = 256

const KINDS = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
} as const

export interface RunningTracer extends Tracer, Pick<Service, 'stop'> {}

interface TracerDeps extends Pick<BaseServices, 'clock' | 'logger' | 'metrics'> {
  readonly config: Config & { readonly OTEL_EXPORTER_OTLP_ENDPOINT: string }
  readonly messagingSystem: string
}

/** Sends its spans by OTLP/HTTP. `stop` sends the waiting spans for at most a second, and then drops them. */
export function createTracer(deps: TracerDeps): RunningTracer {
  const { config, messagingSystem, clock } = deps
  const { processor, abort } = createProcessor(deps)
  const provider = new TracerProvider({
    // Only sampled work starts a span at all.
    sampler: new AlwaysOnSampler(),
    spanLimits: { linkCountLimit: LINKS_MAX, attributeValueLengthLimit: ATTRIBUTE_CHARACTERS_MAX },
    resource: resourceFromAttributes({
      'service.version': VERSION,
      ...Object.fromEntries(pairsOf(config.OTEL_RESOURCE_ATTRIBUTES)),
      'service.name': config.OTEL_SERVICE_NAME,
    }),
    spanProcessors: [processor],
  })
  const spans = provider.getTracer('sluice', VERSION, { schemaUrl: SCHEMA_URL })
  const openRequests = new Set<string>()
  const currents = new AsyncLocalStorage<Span>()
  let stopping: Promise<unknown> | undefined

  const start: Tracer['start'] = (name, { kind, parent, links = [], attributes }) => {
    const isRemote = kind === 'server' || kind === 'consumer'
    const context =
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent, isRemote))
    const linked = links.map((link) => ({ context: contextOf(link, isRemote) }))
    const span = spans.startSpan(name, { kind: KINDS[kind], attributes, links: linked }, context)
    const { traceId, spanId } = span.spanContext()
    const traceparent = `00-${traceId}-${spanId}-01`
    if (kind === 'server') openRequests.add(traceparent)
    return {
      traceparent,
      end: ({ name: named, attributes: more, failure } = {}) => {
        openRequests.delete(traceparent)
        if (named !== undefined) span.updateName(named)
        if (more !== undefined) span.setAttributes(more)
        if (failure !== undefined) span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    }
  }

  return {
    messagingSystem,
    sample: createSampler(Number(config.OTEL_TRACES_SAMPLER_ARG)),
    start,
    isOpenRequest: (traceparent) => openRequests.has(traceparent),
    within: (span, work) => currents.run(span, work),
    current: () => currents.getStore(),
    stop: async (deadline) => {
      // Failures to send were already counted and logged.
      stopping ??= provider.shutdown().catch(() => undefined)
      await byDeadline(stopping, Math.min(deadline, clock.now() + FLUSH_MS), clock)
      abort()
    },
  }
}

/** The span context of a valid `traceparent`, as a sampled span. */
const contextOf = (traceparent: string, isRemote: boolean): SpanContext => ({
  traceId: traceparent.slice(3, 35),
  spanId: traceparent.slice(36, 52),
  traceFlags: 1,
  isRemote,
})

/** Gathers spans and posts them. A span is dropped if there is no room; one that cannot be posted is not retried. */
function createProcessor({ config, logger, metrics }: TracerDeps): { processor: SpanProcessor; abort: () => void } {
  const counted = metrics.counter('sluice_trace_spans_total', { outcome: ['sent', 'failed', 'dropped'] })
  const stopping = new AbortController()
  const url = `${config.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, '')}/v1/traces`
  const newestHeaders = rereadSecret(config, 'OTEL_EXPORTER_OTLP_HEADERS', logger)
  let waiting = 0
  let isTold = false

  async function post(body: Uint8Array | undefined): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(SEND_TIMEOUT_MS)])
    const request = {
      method: 'POST',
      headers: new Headers([...pairsOf(newestHeaders()), ['content-type', 'application/x-protobuf']]),
      body: body as Uint8Array<ArrayBuffer>,
      redirect: 'error',
      signal,
    } as const
    const answer = await fetch(url, request)
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`the receiver of traces answered ${answer.status}`)
  }

  /** The library's own exporter retries failures with timers that would delay the end of the process. */
  const exporter: SpanExporter = {
    export: (spans, done) => {
      const settle = (outcome: 'sent' | 'failed', error?: Error): void => {
        waiting -= spans.length
        counted.inc({ outcome }, spans.length)
        if (error !== undefined && !isTold) logger.warn({ err: error }, 'traces cannot be sent; the metrics count them')
        isTold = error !== undefined
        done(error === undefined ? { code: 0 } : { code: 1, error })
      }
      post(ProtobufTraceSerializer.serializeRequest(spans)).then(
        () => settle('sent'),
        (error) => settle('failed', error),
      )
    },
    shutdown: async () => {},
  }
  const batches = new BatchSpanProcessor({
    exporter,
    maxQueueSize: WAITING_MAX,
    maxExportBatchSize: BATCH_MAX,
    scheduledDelayMillis: SEND_EVERY_MS,
  })
  const processor: SpanProcessor = {
    onStart: () => {},
    onEnd: (span) => {
      if (waiting >= WAITING_MAX) return counted.inc({ outcome: 'dropped' })
      waiting += 1
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
  return { processor, abort: () => stopping.abort() }
}

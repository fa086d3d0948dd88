import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import protobuf from 'protobufjs'
import { startBare } from './raw-http.ts'

/** The messages of opentelemetry-proto for traces, as defined in their sources, without unused fields. */
const REQUEST = protobuf
  .parse(`
  syntax = "proto3";
  message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; string schema_url = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; SpanKind kind = 6;
    repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
  }
  enum SpanKind { UNSPECIFIED = 0; INTERNAL = 1; SERVER = 2; CLIENT = 3; PRODUCER = 4; CONSUMER = 5; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`)
  .root.lookupType('ExportTraceServiceRequest')

interface Id {
  readonly traceId: string
  readonly spanId: string
}

type Values = Readonly<Record<string, unknown>>

export interface ReceivedSpan extends Id {
  /** Empty for the root of a trace. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: string
  readonly attributes: Values
  readonly links: readonly Id[]
  readonly failed: boolean
  readonly resource: Values
}

/** An OTLP/HTTP receiver. */
export interface TraceReceiver {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** The headers of all requests, with the path as `:path`. */
  readonly requests: readonly IncomingHttpHeaders[]
  close(): Promise<void>
}

/** Accepts all spans, unless `answer` responds otherwise. */
export async function startTraceReceiver(
  answer: (response: ServerResponse) => void = (response) => void response.writeHead(200).end(),
): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = []
  const requests: IncomingHttpHeaders[] = []
  const { url, close } = await startBare(async (request, response) => {
    requests.push({ ...request.headers, ':path': request.url })
    const body = Buffer.concat(await request.toArray())
    spans.push(...spansOf(body))
    answer(response)
  })
  return { url, spans, requests, close }
}

type Pairs = readonly { readonly key: string; readonly value: Values }[]
type Sent = Readonly<Record<'traceId' | 'spanId' | 'parentSpanId' | 'name' | 'kind', string>> & {
  readonly attributes: Pairs
  readonly links: readonly Id[]
  readonly status: { readonly code: number } | null
}

function spansOf(body: Buffer): readonly ReceivedSpan[] {
  const options = { enums: String, longs: Number, bytes: String, arrays: true, defaults: true, oneofs: false }
  const { resourceSpans } = REQUEST.toObject(REQUEST.decode(body), options) as {
    resourceSpans: { resource: { attributes: Pairs }; scopeSpans: { spans: readonly Sent[] }[] }[]
  }
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ links, status, ...span }) => ({
        ...span,
        ...idOf(span),
        parentSpanId: hex(span.parentSpanId),
        attributes: valuesOf(span.attributes),
        links: links.map(idOf),
        failed: status?.code === 2,
        resource: valuesOf(resource.attributes),
      })),
    ),
  )
}

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex')
const idOf = ({ traceId, spanId }: Id): Id => ({ traceId: hex(traceId), spanId: hex(spanId) })
const valuesOf = (pairs: Pairs): Values =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))

import type { IncomingMessage } from 'node:http'
import type { EntryKind } from '../shared/contract/records.ts'
import { type TopicRole, topicName } from '../shared/contract/topics.ts'
import type { GrpcCall } from '../shared/grpc/call.ts'
import { PROJECT_HEADER } from '../shared/http/api-key.ts'
import { type BodySource, type Content, createBodyReader, decodeText, parseJsonBody } from '../shared/http/body.ts'
import { createInflate } from '../shared/http/inflate.ts'
import { type Handler, parametersOf } from '../shared/http/listener.ts'
import { mediaProblem } from '../shared/http/media-type.ts'
import { answerMethodNotAllowed } from '../shared/http/method-not-allowed.ts'
import { routed } from '../shared/http/request-times.ts'
import type { CoreServices, RoleParts } from '../shared/role.ts'
import { type ByteBudget, createByteBudget, teamBytesMax } from '../shared/runtime/byte-budget.ts'
import { createCooperative } from '../shared/runtime/cooperative.ts'
import { CLEF_FORMAT, createClefCheck, SEQ } from './clef/clef.ts'
import { createCors } from './cors.ts'
import { createApplicationLogCheck, createBatchCheck, sentBatchEntries } from './ingest/application-log.ts'
import { type BodyGrants, createBodyGrants } from './ingest/body-grants.ts'
import { type BatchCheck, type Check, type CheckDeps, createAdmit } from './ingest/checks.ts'
import { type BodyFormat, createEndpoint, type SendReply, sendResponse } from './ingest/endpoint.ts'
import { createEventLogCheck } from './ingest/event-log.ts'
import {
  createBatchHandler,
  createEntryHandler,
  createIngestMetrics,
  type HandlerDeps,
  type IngestHandler,
} from './ingest/handlers.ts'
import { createHotKeys } from './ingest/hot-keys.ts'
import { createQuotas } from './ingest/quotas.ts'
import { type Dialect, ENVELOPE } from './ingest/replies.ts'
import { createRequestContexts, type SentEntries } from './ingest/request.ts'
import { sentEvents } from './json-events/check.ts'
import { createJsonLogsCheck, JSON_LOGS_FORMAT, SHIPPERS } from './json-logs/json-logs.ts'
import { OTLP_IN_GRPC, OTLP_IN_JSON, OTLP_IN_PROTOBUF } from './otlp/dialect.ts'
import { EXPORT_PATH, GRPC_FORMAT, sendToCaller } from './otlp/grpc.ts'
import { createOtlpCheck, OTLP_JSON_FORMAT, sentRecords } from './otlp/otlp.ts'
import { isProtobuf, PROTOBUF_FORMAT } from './otlp/protobuf.ts'
import { createPathTable } from './path-table.ts'
import type { Publisher } from './publisher/publisher.ts'
import type { RefusalRecorder } from './refusals/recorder.ts'
import { compileValidators } from './schemas/validate.ts'

/** The format of requests and of their answers. */
interface Encoding<Kind extends Content = string, Source extends BodySource = IncomingMessage> {
  readonly format: BodyFormat<Kind, Source>
  readonly dialect: Dialect
}

/** How an endpoint takes entries, over HTTP or gRPC. */
interface Intake {
  readonly path: string
  readonly kind: EntryKind
  /** The place where senders name their target; it decides how much of a body is read. */
  readonly grant: keyof BodyGrants
  /** The check of its entries: one per request (`check`) or many (`checkAll`). */
  readonly entries:
    | { readonly check: (deps: CheckDeps) => Check }
    | { readonly checkAll: (deps: CheckDeps) => BatchCheck; readonly sent: SentEntries }
  /** The endpoint's name in refusal records, if it differs from the path. */
  readonly recordedAs?: string
}

/** An ingestion endpoint: how its bodies are read, checked and answered. */
interface Endpoint extends Intake, Encoding {
  /** How Protobuf bodies are read and answered; absent if the endpoint takes none. */
  readonly protobuf?: Encoding<Buffer>
  /** The parameter of the URL that stands for a header of ours, for clients that cannot set it. */
  readonly parameter: { readonly name: string; readonly header: string }
}

const JSON_FORMAT: BodyFormat = {
  refusal: ({ headers }) => mediaProblem(headers),
  decode: decodeText,
  parse: parseJsonBody,
}

const OWN = {
  grant: 'byTarget',
  format: JSON_FORMAT,
  dialect: ENVELOPE,
  parameter: { name: 'strict', header: 'x-strict-status' },
} as const
const FOREIGN = {
  kind: 'application',
  grant: 'byKey',
  // An API key in the URL is not read, as URLs end up in access logs.
  parameter: { name: 'project', header: PROJECT_HEADER },
} as const
const OTLP = {
  ...FOREIGN,
  entries: { checkAll: createOtlpCheck, sent: sentRecords },
} as const
const OTLP_HTTP = {
  ...OTLP,
  format: OTLP_JSON_FORMAT,
  dialect: OTLP_IN_JSON,
  protobuf: { format: PROTOBUF_FORMAT, dialect: OTLP_IN_PROTOBUF },
} as const
const CLEF = {
  ...FOREIGN,
  format: CLEF_FORMAT,
  entries: { checkAll: createClefCheck, sent: sentEvents },
  dialect: SEQ,
} as const
const JSON_LOGS = {
  ...FOREIGN,
  format: JSON_LOGS_FORMAT,
  entries: { checkAll: createJsonLogsCheck, sent: sentEvents },
  dialect: SHIPPERS,
} as const

const ENDPOINTS: readonly Endpoint[] = [
  { path: '/api/ExternalLogs', kind: 'event', ...OWN, entries: { check: createEventLogCheck } },
  { path: '/api/ApplicationLogs', kind: 'application', ...OWN, entries: { check: createApplicationLogCheck } },
  {
    path: '/api/ApplicationLogs/batch',
    kind: 'application',
    ...OWN,
    entries: { checkAll: createBatchCheck, sent: sentBatchEntries },
  },
  { path: '/v1/logs', ...OTLP_HTTP },
  // The path at which Seq takes OTLP.
  { path: '/ingest/otlp/v1/logs', ...OTLP_HTTP },
  { path: '/ingest/clef', ...CLEF },
  { path: '/api/events/raw', recordedAs: '/api/events/raw?clef', ...CLEF },
  { path: '/ingest/json', ...JSON_LOGS },
]

const METHODS: readonly (Intake & Encoding<Buffer, GrpcCall>)[] = [
  { path: EXPORT_PATH, ...OTLP, format: GRPC_FORMAT, dialect: OTLP_IN_GRPC },
]

type Services = Pick<CoreServices, 'config' | 'clock' | 'logger' | 'metrics' | 'registry' | 'registryReady'>

interface EndpointsDeps extends Services {
  readonly publisher: Pick<Publisher, 'publish' | 'partitionsOf'>
  readonly refusalRecorder: RefusalRecorder
  /** This gateway's share of each quota, from 0 to 1; default 1. */
  readonly share?: () => number
}

/** The handlers of the ingestion endpoints by path, which take `POST`, and `OPTIONS` for CORS preflights; and the same as gRPC methods. */
export function createEndpoints(deps: EndpointsDeps): Required<Pick<RoleParts, 'endpoints' | 'methods'>> {
  const { config, clock, logger, refusalRecorder } = deps
  const cors = createCors(config.CORS_ORIGINS)
  const quotas = createQuotas(deps)
  const common = { ...deps, quotas, validators: compileValidators(), contextOf: createRequestContexts(clock) }
  const depsOfKind = { event: createDepsOf('event', common), application: createDepsOf('application', common) }
  const bodyGrants = createBodyGrants({ ...deps, quotas, budget: createBodyBudget(deps) })
  const inflate = createInflate()
  const cooperative = createCooperative('all')

  function intakeOf<Kind extends Content, Source extends BodySource, Response>(
    { path, kind, grant, entries, recordedAs = path }: Intake,
    { format, dialect }: Encoding<Kind, Source>,
    send: SendReply<Response>,
  ): (request: Source, response: Response) => Promise<void> {
    const endpointDeps = { ...depsOfKind[kind], recordRefusals: refusalRecorder(recordedAs) }
    const handle: IngestHandler =
      'check' in entries
        ? createEntryHandler(entries.check(endpointDeps), endpointDeps)
        : createBatchHandler({ check: entries.checkAll(endpointDeps), sent: entries.sent, dialect }, endpointDeps)
    const read = createBodyReader<Kind, Source>({
      ...format,
      grant: bodyGrants[grant],
      timeoutMs: config.BODY_TIMEOUT_MS,
      inflate,
    })
    const { parse } = format
    return createEndpoint(handle, { ...endpointDeps, read, send, parse, cooperative, dialect, logger })
  }

  function handlerOf(endpoint: Endpoint): Handler {
    const { path, protobuf, parameter } = endpoint
    const post = intakeOf(endpoint, endpoint, sendResponse)
    const postProtobuf = protobuf && intakeOf(endpoint, protobuf, sendResponse)
    return routed({ path }, (request, response) => {
      if (cors(request, response) === 'answered') return undefined
      if (request.method !== 'POST') return answerMethodNotAllowed(response, 'POST')
      setFromParameter(request, parameter)
      const isBinary = postProtobuf !== undefined && isProtobuf(request.headers['content-type'])
      return (isBinary ? postProtobuf : post)(request, response)
    })
  }

  const served: Record<string, Handler> = {}
  const inProject: Record<string, (project: string) => Handler> = {}
  for (const endpoint of ENDPOINTS) {
    const handler = handlerOf(endpoint)
    served[endpoint.path] = handler
    if (endpoint.grant === 'byKey') inProject[endpoint.path] = forProject(handler)
  }
  const methods = METHODS.map((method) => {
    const take = intakeOf(method, method, sendToCaller)
    return [method.path, (call: GrpcCall) => take(call, call)] as const
  })
  return {
    endpoints: createPathTable(config.BASE_PATH, served, inProject),
    methods: new Map(methods),
  }
}

/** Uses the Project in a request's path if no header names one. */
const forProject =
  (next: Handler) =>
  (project: string): Handler =>
  (request, response) => {
    request.headers[PROJECT_HEADER] ||= project
    return next(request, response)
  }

/** Sets a header that the request lacks from a query parameter. */
function setFromParameter(request: IncomingMessage, { name, header }: Endpoint['parameter']): void {
  const { headers, url = '' } = request
  if (!url.includes('?') || (headers[header] ?? '') !== '') return
  headers[header] = parametersOf(request).get(name) ?? undefined
}

/** One budget for all endpoints, as their bodies share the memory of the process. */
function createBodyBudget({ config, metrics }: EndpointsDeps): ByteBudget {
  const budget = createByteBudget(config.BODY_BUFFER_BYTES)
  metrics.gauge('sluice_body_bytes', () => budget.held)
  return budget
}

/** Maximum correlation keys per kind of log whose rate of use is tracked. */
const HOT_KEYS_MAX = 20_000

const TOPIC_OF_KIND = { event: 'event-logs', application: 'application-logs' } as const satisfies Record<
  EntryKind,
  TopicRole
>

type CommonDeps = EndpointsDeps & Pick<CheckDeps, 'validators' | 'contextOf'> & Pick<HandlerDeps, 'quotas'>

/** The dependencies of checks and handlers that differ by the kind of log. */
function createDepsOf(kind: EntryKind, deps: CommonDeps): CheckDeps & Omit<HandlerDeps, 'recordRefusals'> {
  const { config, metrics, publisher } = deps
  const topic = topicName(config.TOPIC_PREFIX, TOPIC_OF_KIND[kind])
  const isOverused = createHotKeys({ usesPerSecond: config.HOT_KEY_ENTRIES_PER_SECOND, keysMax: HOT_KEYS_MAX })
  const ingestMetrics = createIngestMetrics(metrics, kind)
  const isHot = (key: string): boolean => {
    // With one partition there is nothing to spread over.
    const hot = publisher.partitionsOf(topic) > 1 && isOverused(key)
    if (hot) ingestMetrics.limited('hot_key')
    return hot
  }
  return {
    ...deps,
    entryBytesMax: config.MAX_ENTRY_BYTES,
    batchEntriesMax: config.MAX_BATCH_ENTRIES,
    replaceInvalidLevel: config.INVALID_LEVEL === 'information',
    resourceAttributes: config.OTLP_RESOURCE_ATTRIBUTES,
    admit: createAdmit({ valueBytesMax: config.MAX_ENTRY_BYTES, isHot }),
    ingestMetrics,
    recordsBytesMax: teamBytesMax(config.PUBLISH_BUFFER_BYTES),
    publish: (team, publications) =>
      publisher.publish(topic, team, publications, performance.now() + config.REQUEST_DEADLINE_MS),
  }
}

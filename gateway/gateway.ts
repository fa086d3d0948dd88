import type { EntryKind } from '../shared/contract/records.ts'
import { type TopicRole, topicName } from '../shared/contract/topics.ts'
import { createBodyReader, parseJsonBody } from '../shared/http/body.ts'
import { createInflate } from '../shared/http/inflate.ts'
import type { Handler, Routes } from '../shared/http/listener.ts'
import { mediaProblem } from '../shared/http/media-type.ts'
import { answerMethodNotAllowed } from '../shared/http/method-not-allowed.ts'
import type { Registry } from '../shared/registry/registry.ts'
import { type ByteBudget, createByteBudget } from '../shared/runtime/byte-budget.ts'
import type { Clock } from '../shared/runtime/clock.ts'
import type { Config } from '../shared/runtime/config.ts'
import { createCooperative } from '../shared/runtime/cooperative.ts'
import type { Logger } from '../shared/runtime/logger.ts'
import type { Metrics } from '../shared/runtime/metrics.ts'
import { type Admission, createAdmissions } from './admission.ts'
import { createAdmit } from './admit.ts'
import { createApplicationLogCheck, createBatchCheck, entriesOfBatch } from './application-log.ts'
import type { CheckDeps } from './checks.ts'
import { createClef } from './clef/clef.ts'
import { withSeqHeaders } from './clef/seq.ts'
import { type Cors, createCors } from './cors.ts'
import { type BodyFormat, createEndpoint, type Work } from './endpoint.ts'
import { createEventLogCheck } from './event-log.ts'
import { createHotKeys } from './hot-keys.ts'
import { createIngestMetrics } from './ingest-metrics.ts'
import { createOtlp } from './otlp/otlp.ts'
import { createPathTable } from './path-table.ts'
import type { Publisher } from './publisher/publisher.ts'
import type { Notes } from './refusals/recorder.ts'
import { ENVELOPE } from './replies.ts'
import { createRequestContexts } from './request-context.ts'
import { compileValidators } from './schemas/validate.ts'
import { sentEntries } from './sent-entries.ts'
import { type ForeignFormat, type WorkDeps, workBatch, workSingle } from './work.ts'

export type GatewayConfig = Pick<
  Config,
  | 'TOPIC_PREFIX'
  | 'INVALID_LEVEL'
  | 'MAX_BATCH_ENTRIES'
  | 'MAX_BODY_BYTES'
  | 'MAX_INFLATED_BYTES'
  | 'BODY_BUFFER_BYTES'
  | 'MAX_ENTRY_BYTES'
  | 'HOT_KEY_ENTRIES_PER_SECOND'
  | 'REQUEST_DEADLINE_MS'
  | 'BODY_TIMEOUT_MS'
  | 'CORS_ORIGINS'
  | 'BASE_PATH'
>

export interface GatewayDeps {
  readonly config: GatewayConfig
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly registry: Registry
  /** Whether the registry is folded up to its end; until then nobody can be told that something is not there. */
  readonly registryReady: () => boolean
  readonly publisher: Pick<Publisher, 'publish' | 'partitionsOf'>
  /** Tells the Teams what of theirs was refused. */
  readonly notes: Notes
}

/** Most correlation keys of one kind of log whose rate of use is remembered. */
const HOT_KEYS_MAX = 20_000

/**
 * Most entries of a request in a format whose clients choose the size of their batches by their own defaults: a Collector's is
 * 8,192 records, Serilog's 1,000 events. It is also the most that MAX_BATCH_ENTRIES can be.
 */
export const FOREIGN_ENTRIES_MAX = 10_000

/** The ingestion endpoints. Other methods of their paths are refused here. */
export function createGateway(deps: GatewayDeps): Routes {
  const { config, logger, notes } = deps
  const shared = { ...deps, validators: compileValidators(), contextOf: createRequestContexts(deps.clock) }
  const events = pathOf('event', shared)
  const applications = pathOf('application', shared)
  const level = {
    replaceInvalidLevel: config.INVALID_LEVEL === 'information',
    entryBytesMax: config.MAX_ENTRY_BYTES,
  }
  const batch = { ...level, entriesMax: config.MAX_BATCH_ENTRIES }
  const admissions = createAdmissions({ ...deps, budget: createBodyBudget(deps) })
  const inflate = createInflate()
  const cooperative = createCooperative()
  const bodies = (admission: Admission, { refusal, parse }: BodyFormat) => ({
    parse,
    cooperative,
    read: createBodyReader({
      timeoutMs: config.BODY_TIMEOUT_MS,
      inflate,
      admit: (request) => {
        const cause = refusal(request)
        return cause === undefined ? admission(request) : { problem: cause }
      },
    }),
  })
  const eventLog = createEventLogCheck(events, level)
  const applicationLog = createApplicationLogCheck(applications, level)
  const applicationLogs = {
    check: createBatchCheck(applications, batch),
    sent: sentEntries(entriesOfBatch),
    dialect: ENVELOPE,
  }
  const otlp = createOtlp(applications, level, FOREIGN_ENTRIES_MAX)
  const clef = createClef(applications, level, FOREIGN_ENTRIES_MAX)

  const cors = createCors(config.CORS_ORIGINS)
  const own = { ...bodies(admissions.byTarget, JSON_BODY), dialect: ENVELOPE }
  const serve = (path: string, kind: typeof events, workWith: (deps: WorkDeps) => Work): [string, Handler] => {
    const use = { ...kind, note: notes(path) }
    return [path, onlyPost(cors, createEndpoint(workWith(use), { ...use, ...own, logger }))]
  }
  const endpointOf = (notedAs: string, { format, batch }: ForeignFormat): Handler => {
    const use = { ...applications, note: notes(notedAs), dialect: batch.dialect, logger }
    return createEndpoint(workBatch(batch, use), { ...use, ...bodies(admissions.byKey, format) })
  }
  const serveSeq = (path: string, query = ''): [string, Handler] => [
    path,
    onlyPost(cors, withSeqHeaders(endpointOf(path + query, clef))),
  ]

  return createPathTable(
    config.BASE_PATH,
    Object.fromEntries([
      serve('/api/ExternalLogs', events, (use) => workSingle(eventLog, use)),
      serve('/api/ApplicationLogs', applications, (use) => workSingle(applicationLog, use)),
      serve('/api/ApplicationLogs/batch', applications, (use) => workBatch(applicationLogs, use)),
      ['/v1/logs', onlyPost(cors, endpointOf('/v1/logs', otlp))],
      serveSeq('/ingest/clef'),
      serveSeq('/api/events/raw', '?clef'),
    ]),
  )
}

const JSON_BODY: BodyFormat = { refusal: ({ headers }) => mediaProblem(headers), parse: parseJsonBody }

/** One for all endpoints: their bodies lie in the same memory. */
function createBodyBudget({ config, metrics }: GatewayDeps): ByteBudget {
  const budget = createByteBudget(config.BODY_BUFFER_BYTES)
  const bytes = metrics.gauge('sluice_body_bytes')
  // Read when it is asked for: it changes several times a request.
  Object.assign(bytes, { collect: () => bytes.set(budget.held) })
  return budget
}

/** Answers preflights and refuses every other method than POST. */
function onlyPost(cors: Cors | undefined, post: Handler): Handler {
  return (request, response) => {
    if (cors?.(request, response) === 'answered') return undefined
    if (request.method === 'POST') return post(request, response)
    return answerMethodNotAllowed(response, 'POST')
  }
}

/** What the entries of one kind are checked with, counted by and published through. */
function pathOf(kind: EntryKind, deps: GatewayDeps & Omit<CheckDeps, 'admit'>): CheckDeps & Omit<WorkDeps, 'note'> {
  const { config, metrics, publisher } = deps
  const topic = topicName(config.TOPIC_PREFIX, TOPIC_OF_KIND[kind])
  const isOverused = createHotKeys({ usesPerSecond: config.HOT_KEY_ENTRIES_PER_SECOND, keysMax: HOT_KEYS_MAX })
  return {
    ...deps,
    admit: createAdmit({
      valueBytesMax: config.MAX_ENTRY_BYTES,
      // Where there is one partition, there is nothing to spread over.
      isHot: (key) => publisher.partitionsOf(topic) > 1 && isOverused(key),
    }),
    tally: createIngestMetrics(metrics, kind),
    publish: (publications) => publisher.publish(topic, publications, performance.now() + config.REQUEST_DEADLINE_MS),
  }
}

const TOPIC_OF_KIND = { event: 'event-logs', application: 'application-logs' } as const satisfies Record<
  EntryKind,
  TopicRole
>

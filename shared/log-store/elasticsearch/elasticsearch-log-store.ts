import type { Clock } from '../../runtime/clock.ts'
import type { Health } from '../../runtime/lifecycle.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { Tracer } from '../../runtime/tracing.ts'
import { unlessAborted } from '../../runtime/waiting.ts'
import type { LogStore } from '../log-store.ts'
import { type BulkLimits, createBulk } from './bulk.ts'
import { createCheckpoints } from './checkpoints.ts'
import { type Connection, connect, type ElasticsearchAuth, ElasticsearchError } from './connection.ts'
import { createEntryReader } from './entry-reader.ts'
import { createEntryWriter } from './entry-writer.ts'
import { createFlowReader } from './flow-reader.ts'
import { removeFlowsBefore } from './flow-retention.ts'
import { createFlowWriter } from './flow-writer.ts'
import { type IndexNames, indexNames } from './index-names.ts'
import { createIndices, type Indices } from './indices.ts'
import { type TemplateOptions, templates } from './mappings.ts'
import { createOtherDays } from './other-days.ts'
import { createRebuild, type Rebuild } from './rebuild.ts'
import { retrying } from './retrying.ts'
import { createSearcher } from './searcher.ts'
import { createShardReport } from './shard-report.ts'
import { createTail } from './tail.ts'

const MEBIBYTE = 1024 * 1024

export interface ElasticsearchOptions extends BulkLimits, TemplateOptions {
  readonly requestTimeoutMs: number
  readonly gzip: boolean
}

const ELASTICSEARCH_DEFAULTS: ElasticsearchOptions = {
  replicas: 1,
  shards: 1,
  flowsShards: 1,
  refreshIntervalMs: 1_000,
  bulkBytesMax: 5 * MEBIBYTE,
  bulkDocumentsMax: 2_000,
  bulksInFlightMax: 4,
  requestTimeoutMs: 30_000,
  gzip: false,
}

export interface ElasticsearchDeps {
  readonly url: string
  /** Called for each request. */
  readonly auth: () => ElasticsearchAuth
  readonly caFile: string | null
  readonly indexPrefix: string
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly tracer?: Tracer | null | undefined
  readonly options?: Partial<ElasticsearchOptions>
}

/** A log store on Elasticsearch, and the preparation of its indices: call `indices.apply()` before the first write. */
export interface ElasticsearchLogStore extends LogStore {
  readonly indices: Indices
  readonly rebuild: Rebuild
  /** Measures the shards of all indices, for the metrics. */
  measureShards(): Promise<void>
}

/** From the time when a refresh is due to its end; generous, since `searchableWithinMs` is a promise. */
const REFRESH_TAKES_MS = 1_000

/** Does not contact the cluster yet; throws if the prefix or the CA file is unusable. */
export function createElasticsearchLogStore(deps: ElasticsearchDeps): ElasticsearchLogStore {
  const { url, auth, caFile, clock, logger, metrics, tracer } = deps
  const options: ElasticsearchOptions = { ...ELASTICSEARCH_DEFAULTS, ...deps.options }
  const names = indexNames(deps.indexPrefix)
  const once = connect({
    url,
    auth,
    caFile,
    onRefused: (err) =>
      logger.warn({ err }, 'the new authority of Elasticsearch is not used; the previous one stays in use'),
    gzip: options.gzip,
    requestTimeoutMs: options.requestTimeoutMs,
  })
  const patient = retrying(once)
  const bulk = createBulk({ connection: once, limits: options, logger, metrics, tracer })
  const searcher = createSearcher(patient, names, clock)
  const otherDays = createOtherDays(once, names)
  const indices = createIndices({
    connection: patient,
    names,
    templates: templates(names.prefix, options),
    clock,
    logger,
  })
  const closing = new AbortController()
  const writeEntries = createEntryWriter({ bulk, otherDays, names, clock, logger })
  const mergeFlows = createFlowWriter({ bulk, connection: once, names, metrics })
  let hasTemplates = false

  /** A write makes the indices that it lacks. */
  async function requireTemplates(signal: AbortSignal): Promise<void> {
    if (!hasTemplates) await bulk.persist(() => unlessAborted(indices.requireTemplates(), signal), 0, signal)
    hasTemplates = true
  }

  return {
    searchableWithinMs: options.refreshIntervalMs + REFRESH_TAKES_MS,
    indices,
    rebuild: createRebuild({
      connection: patient,
      bulk: createBulk({ connection: once, limits: { ...options, bulksInFlightMax: 1 }, logger, metrics, tracer }),
      names,
      indices,
      clock,
      metrics,
    }),
    measureShards: createShardReport(patient, names, metrics),
    async write(documents, signal) {
      await requireTemplates(signal)
      return writeEntries(documents, signal)
    },
    async mergeFlows(deltas, signal) {
      await requireTemplates(signal)
      await mergeFlows(deltas, signal)
    },
    async removeBefore(day, signal) {
      const removed = await indices.removeBefore(day)
      const ended = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal])
      await removeFlowsBefore(patient, bulk, names, day, ended)
      return removed
    },
    ...createEntryReader({ connection: once, searcher, names }),
    tail: createTail({ connection: patient, checkpoints: createCheckpoints(once, names) }),
    ...createFlowReader({ connection: patient, searcher, names }),
    health: () => readHealth(once, names, bulk.problem()),
    async close() {
      closing.abort(new Error('the log store is closed'))
      await once.close()
    },
  }
}

async function readHealth(connection: Connection, names: IndexNames, problem: string | null): Promise<Health> {
  const name = 'elasticsearch'
  if (problem !== null) return { name, ready: false, reason: `writes are blocked: ${problem}` }
  try {
    const { status } = await connection.send<{ status: string }>({
      method: 'GET',
      path: `/_cluster/health/${names.all()},${names.flows}`,
      query: { expand_wildcards: 'open', filter_path: 'status', timeout: '1s' },
      timeoutMs: HEALTH_TIMEOUT_MS,
    })
    return status === 'red' ? { name, ready: false, reason: NOT_ALL_THERE } : { name, ready: true }
  } catch (error) {
    if (error instanceof ElasticsearchError && error.status === 408)
      return { name, ready: false, reason: NOT_ALL_THERE }
    return { name, ready: false, reason: error instanceof Error ? error.message : 'no answer' }
  }
}

const HEALTH_TIMEOUT_MS = 5_000
const NOT_ALL_THERE = 'an index is missing or lacks a primary shard'

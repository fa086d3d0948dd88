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
import { mendable, NO_SHARDS } from './outcome.ts'
import { createRebuild, type Rebuild } from './rebuild.ts'
import { retrying } from './retrying.ts'
import { createSearcher } from './searcher.ts'
import { createShardReport } from './shard-report.ts'
import { createTail } from './tail.ts'

const MEBIBYTE = 1024 * 1024

export interface ElasticsearchOptions extends BulkLimits, TemplateOptions {
  readonly requestTimeoutMs: number
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
}

interface ElasticsearchDeps {
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
  /** Asks which cluster this is, for `name`; an error in the log tells of another one in its place. */
  identify(): Promise<void>
}

/** Whether an index could not be made for want of shards (`cluster.max_shards_per_node`). */
export const lacksShards = (error: unknown): boolean =>
  error instanceof ElasticsearchError && mendable(error.body) === NO_SHARDS

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
  let clusterId: string | null = null

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
    measureShards: createShardReport(patient, names, metrics, logger),
    async identify() {
      const found = await readClusterId(once)
      if (found === null) return
      if (clusterId !== null && clusterId !== found)
        logger.error(
          { former: clusterId, found },
          'another cluster answers in place of the former one: docs/runbooks/lost-index.md',
        )
      clusterId = found
    },
    name: () => (clusterId === null ? null : `elasticsearch:${clusterId}/${names.prefix}`),
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
    tail: createTail({ connection: once, checkpoints: createCheckpoints(once, names) }),
    ...createFlowReader({ connection: patient, searcher, names }),
    health: createHealthCheck(once, names, bulk.problem),
    async close() {
      closing.abort(new Error('the log store is closed'))
      await once.close()
    },
  }
}

/** Null if the cluster has none yet, or keeps it to itself behind a proxy. */
async function readClusterId(connection: Connection): Promise<string | null> {
  const request = {
    method: 'GET',
    path: '/',
    query: { filter_path: 'cluster_uuid' },
    timeoutMs: HEALTH_TIMEOUT_MS,
  } as const
  const { cluster_uuid: id = NO_ID } = await connection
    .send<{ readonly cluster_uuid?: string }>(request)
    .catch((): { readonly cluster_uuid?: string } => ({}))
  return id === NO_ID ? null : id
}

/** The id of a cluster that has elected no master since its start. */
const NO_ID = '_na_'

/**
 * Tells whether the store can work, by the state of the cluster and one read that has to succeed once: a search tells what the login may do,
 * but one for each probe would take processes out of service while Elasticsearch is overloaded. A missing shard fails the reads that
 * need it, and takes nothing else with it.
 */
function createHealthCheck(connection: Connection, names: IndexNames, problem: () => string | null) {
  const name = 'elasticsearch'
  const notReady = (reason: string): Health => ({ name, ready: false, reason })
  const indices = `${names.all()},${names.flows}`
  let hasRead = false

  async function ask(): Promise<Health> {
    const { active_primary_shards: active, unassigned_primary_shards: missing } = await connection.send<ClusterHealth>({
      method: 'GET',
      path: `/_cluster/health/${indices}`,
      query: { expand_wildcards: 'open', filter_path: '*_primary_shards', timeout: '1s' },
      timeoutMs: HEALTH_TIMEOUT_MS,
    })
    if (active === 0) return notReady('no primary shard is there')
    if (!hasRead) {
      const query = { size: 0, terminate_after: 1, track_total_hits: false, filter_path: 'took' }
      await connection.send({ method: 'GET', path: `/${indices}/_search`, query, timeoutMs: HEALTH_TIMEOUT_MS })
      hasRead = true
    }
    const reason = `primary shards missing: ${missing} of ${active + missing}; lists that need them answer 503`
    return { name, ready: true, ...(missing > 0 && { reason }) }
  }

  return async (): Promise<Health> => {
    const blocked = problem()
    if (blocked !== null) return notReady(`writes are blocked: ${blocked}`)
    try {
      return await ask()
    } catch (error) {
      if (error instanceof ElasticsearchError && error.status === 408) return notReady('an index is missing')
      return notReady(error instanceof Error ? error.message : 'no answer')
    }
  }
}

interface ClusterHealth {
  readonly active_primary_shards: number
  readonly unassigned_primary_shards: number
}

const HEALTH_TIMEOUT_MS = 5_000

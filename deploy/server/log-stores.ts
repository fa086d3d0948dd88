import { join } from 'node:path'
import { entryDocument } from '../../consumers/projections/entries.ts'
import { flowFact, foldFlows } from '../../consumers/projections/flows.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import type { ElasticsearchAuth } from '../../shared/log-store/elasticsearch/connection.ts'
import type { ReplaceOptions } from '../../shared/log-store/elasticsearch/replace-index.ts'
import type { LogStore } from '../../shared/log-store/log-store.ts'
import { createSqliteLogStore } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import type { BaseServices } from '../../shared/role.ts'
import { type Config, rereadSecret } from '../../shared/runtime/config.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { Where } from './backends.ts'

/** A log store with the functions that depend on its kind. */
export interface OpenLogStore {
  readonly store: LogStore
  /** Creates or corrects templates and indices; returns lines for the operator. */
  applyIndices(): Promise<readonly string[]>
  /** Rebuilds the counts that the store keeps; returns a line that says so. */
  rebuildCounts(): Promise<readonly string[]>
  /** Projects the stored entries of a view anew; null if the store does so by itself. */
  readonly rebuildView:
    | ((kind: EntryKind | 'flows', options: ReplaceOptions & { readonly since: string | null }) => Promise<void>)
    | null
  /** Periodic work other than removing old days; long work ends early once `signal` aborts. */
  maintain(signal: AbortSignal): Promise<unknown>
}

/**
 * Opens the configured log store. The client of a server is loaded only if it is needed: Elasticsearch's and Kafka's take some 50 MiB each,
 * in every thread that loads them.
 */
export const openLogStore = (deps: BaseServices, where: Where): Promise<OpenLogStore> =>
  deps.config.ELASTICSEARCH_URL === null
    ? openSqlite(deps, where)
    : openElasticsearch(deps, deps.config.ELASTICSEARCH_URL)

async function openSqlite({ config, logger }: BaseServices, where: Where): Promise<OpenLogStore> {
  const store = await createSqliteLogStore({ file: join(config.DATA_DIR, 'logs.db'), thread: where, logger })
  return {
    store,
    applyIndices: async () => [],
    rebuildCounts: async () => [`${await store.rebuildCounts()} entries were counted`],
    rebuildView: null,
    maintain: (signal) => store.maintain({ bytesMax: config.RETENTION_BYTES, documentOf: entryDocument, signal }),
  }
}

async function openElasticsearch(deps: BaseServices, url: string): Promise<OpenLogStore> {
  const { config, clock, logger, metrics, tracer } = deps
  const { createElasticsearchLogStore } = await import(
    '../../shared/log-store/elasticsearch/elasticsearch-log-store.ts'
  )
  const store = createElasticsearchLogStore({
    url,
    auth: authOf(config, logger),
    caFile: config.ELASTICSEARCH_CA_FILE,
    indexPrefix: config.INDEX_PREFIX,
    clock,
    logger,
    metrics,
    tracer,
    options: {
      replicas: config.ELASTICSEARCH_REPLICAS,
      shards: config.ELASTICSEARCH_SHARDS,
      flowsShards: config.ELASTICSEARCH_FLOWS_SHARDS,
    },
  })
  const maintain = async (): Promise<void> => {
    await store.indices.prepareDays()
    await store.measureShards()
  }
  return {
    store,
    applyIndices: async () => {
      const changes = await store.indices.apply()
      return changes.length === 0 ? ['the indices are as they should be'] : changes
    },
    rebuildCounts: async () => ['Elasticsearch counts when it is asked: there is nothing to make'],
    rebuildView: (kind, options) => store.rebuild({ ...options, kind, documentOf: entryDocument, flowFact, foldFlows }),
    maintain,
  }
}

function authOf(config: Config, logger: Logger): () => ElasticsearchAuth {
  const newestKey = rereadSecret(config, 'ELASTICSEARCH_API_KEY', logger)
  const newestPassword = rereadSecret(config, 'ELASTICSEARCH_PASSWORD', logger)
  return () => {
    const [apiKey, username, password] = [newestKey(), config.ELASTICSEARCH_USERNAME, newestPassword()]
    if (apiKey !== null) return { type: 'apiKey', apiKey }
    if (username !== null && password !== null) return { type: 'basic', username, password }
    return { type: 'none' }
  }
}

import { join } from 'node:path'
import { entryDocument } from '../../consumers/projections/entries.ts'
import type { LogStore } from '../../shared/log-store/log-store.ts'
import { createSqliteLogStore } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import type { Config } from '../../shared/runtime/config.ts'
import type { BackendDeps, Where } from './backends.ts'

/** A log store with what belongs to its kind. */
export interface OpenLogStore {
  readonly store: LogStore
  /** Makes templates and indices as they have to be; gives a line for each thing that was not. */
  applyIndices(): Promise<readonly string[]>
  /** Makes the counts that the store keeps anew; gives a line that says so. */
  rebuildCounts(): Promise<string>
  /** Work that is due now and then, beyond the removal of old days; ends early once `signal` aborts, where it may take long. */
  maintain(signal: AbortSignal): Promise<unknown>
}

/**
 * Opens the log store that the configuration names. The client of a server is loaded only where there is one: Elasticsearch's and
 * Kafka's take some 50 MiB each, in every thread that loads them.
 */
export const openLogStore = (deps: BackendDeps, where: Where): Promise<OpenLogStore> =>
  deps.config.ELASTICSEARCH_URL === null
    ? openSqlite(deps, where)
    : openElasticsearch(deps, deps.config.ELASTICSEARCH_URL)

async function openSqlite({ config, logger }: BackendDeps, where: Where): Promise<OpenLogStore> {
  const store = await createSqliteLogStore({ file: join(config.DATA_DIR, 'logs.db'), thread: where, logger })
  return {
    store,
    applyIndices: async () => [],
    rebuildCounts: async () => `${await store.rebuildCounts()} entries were counted`,
    maintain: (signal) => store.maintain({ bytesMax: config.RETENTION_BYTES, documentOf: entryDocument, signal }),
  }
}

async function openElasticsearch(deps: BackendDeps, url: string): Promise<OpenLogStore> {
  const { config, clock, logger, metrics, tracer } = deps
  const { createElasticsearchLogStore } = await import(
    '../../shared/log-store/elasticsearch/elasticsearch-log-store.ts'
  )
  const store = createElasticsearchLogStore({
    url,
    auth: authOf(config),
    caFile: config.ELASTICSEARCH_CA_FILE,
    indexPrefix: config.INDEX_PREFIX,
    clock,
    logger,
    metrics,
    tracer,
    options: { replicas: config.ELASTICSEARCH_REPLICAS, shards: config.ELASTICSEARCH_SHARDS },
  })
  const maintain = async (): Promise<void> => {
    await store.indices.prepareDays()
    await store.measureShards()
  }
  return {
    store,
    applyIndices: () => store.indices.apply(),
    rebuildCounts: async () => 'Elasticsearch counts when it is asked: there is nothing to make',
    maintain,
  }
}

function authOf({
  ELASTICSEARCH_API_KEY: apiKey,
  ELASTICSEARCH_USERNAME: username,
  ELASTICSEARCH_PASSWORD: password,
}: Config) {
  if (apiKey !== null) return { type: 'apiKey', apiKey } as const
  if (username !== null && password !== null) return { type: 'basic', username, password } as const
  return { type: 'none' } as const
}

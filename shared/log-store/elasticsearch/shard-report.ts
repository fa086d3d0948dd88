import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { Connection } from './connection.ts'
import { askVisible } from './hidden-indices.ts'
import { type IndexNames, KINDS } from './index-names.ts'

/** A shard of `_cat/shards`; an unassigned shard has no size. */
interface Shard {
  readonly index: string
  readonly docs: string | null
  readonly store: string | null
}

/**
 * Counts the shards of all indices and finds how full the fullest one is, as Elasticsearch limits both; and the newest day of each kind, as
 * its index should be there a day ahead.
 */
export function createShardReport(
  connection: Pick<Connection, 'send'>,
  names: IndexNames,
  metrics: Metrics,
  logger: Logger,
): () => Promise<void> {
  const open = metrics.gauge('sluice_store_open_shards')
  const bytesMax = metrics.gauge('sluice_store_shard_bytes_max')
  const documentsMax = metrics.gauge('sluice_store_shard_documents_max')
  const newestDay = metrics.gauge('sluice_store_newest_day_timestamp_seconds')
  return async () => {
    const all = `${names.all()},${names.flows}`
    const { answer: shards, hidden } = await askVisible<readonly Shard[]>(connection, all, (indices) => ({
      method: 'GET',
      path: `/_cat/shards/${indices}`,
      query: { format: 'json', bytes: 'b', h: 'index,docs,store' },
    }))
    if (hidden.length > 0) logger.warn({ hidden }, HIDDEN_TEXT)
    open.set(shards.length)
    bytesMax.set(greatest(shards.map(({ store }) => Number(store ?? 0))))
    documentsMax.set(greatest(shards.map(({ docs }) => Number(docs ?? 0))))
    for (const kind of KINDS) {
      const ofKind = shards.filter(({ index }) => names.kindOf(index) === kind)
      const days = ofKind.map(({ index }) => Date.parse(names.dayOf(index) ?? '') / 1_000 || 0)
      newestDay.set({ kind }, greatest(days))
    }
  }
}

const HIDDEN_TEXT =
  'live tails leave out what these indices get, until their block of metadata (index.blocks.metadata) is removed'

const greatest = (numbers: readonly number[]): number => numbers.reduce((most, number) => Math.max(most, number), 0)

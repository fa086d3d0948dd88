import { parseKeepingDigits } from '../../contract/exact-json.ts'
import type { EntryRecord } from '../../contract/records.ts'
import type { Logger } from '../../logger.ts'
import type { LogStore } from '../log-store.ts'
import { createPersistence } from './persist.ts'
import type { RemovalStep } from './retention.ts'
import type { StoreOptions } from './store.ts'
import { openStoreHere, openStoreThread, type StoreClient } from './store-client.ts'

/** `file`: the database; SQLite puts two more beside it, with `-wal` and `-shm` at the end of their names. */
export interface SqliteLogStoreOptions extends StoreOptions {
  /** `own`: SQLite works in a thread of its own, and never holds up the caller's. `same`: in the caller's, without copies. */
  readonly thread: 'own' | 'same'
  readonly logger: Pick<Logger, 'warn'>
}

/** A log store in one SQLite file. Several may have it open, in threads or processes; they write one after the other. */
export interface SqliteLogStore extends LogStore {
  /** Removes the documents that arrived first while the file uses more than `bytesMax` bytes. Returns how many documents. */
  maintain(options: { readonly bytesMax: number | null }): Promise<number>
}

/**
 * Opens the log store's file, making it where it is missing. Rejects with a `StoreHaltError` where it is damaged, of a newer
 * version or no log store, and with a `StoreUnavailableError` where it is locked or the disk is full.
 */
export async function createSqliteLogStore(options: SqliteLogStoreOptions): Promise<SqliteLogStore> {
  const { thread, logger, file, fileBytesMax, limits } = options
  const opened = { file, ...(fileBytesMax !== undefined && { fileBytesMax }), ...(limits && { limits }) }
  const store = thread === 'own' ? await openStoreThread(opened) : openStoreHere(opened)
  const { persist, health } = createPersistence(logger)

  return {
    // A write is committed when it returns, and every read begins with the last commit.
    searchableWithinMs: 0,
    write: (documents, signal) => {
      const all = [...documents]
      return persist(() => store.call('write', all), signal)
    },
    mergeFlows: (deltas, signal) => persist(() => store.call('mergeFlows', deltas), signal),
    removeBefore: (day) => removeBefore(store, day),
    maintain: ({ bytesMax }) => (bytesMax === null ? Promise.resolve(0) : removeOldest(store, bytesMax)),

    search: async (filter, page) => {
      const { sources, next } = await store.call('search', filter, page)
      return { entries: sources.map(parseRecord), next }
    },
    get: async (team, kind, id) => {
      const source = await store.call('get', team, kind, id)
      return source === undefined ? undefined : parseRecord(source)
    },
    tail: async (filter, after, limit) => {
      const { entries, cursor } = await store.call('tail', filter, after, limit)
      return { entries: entries.map(({ source, cursor: at }) => ({ entry: parseRecord(source), cursor: at })), cursor }
    },
    count: (filter) => store.call('count', filter),
    histogram: (filter, bucketsMax) => store.call('histogram', filter, bucketsMax),
    facets: (filter, valuesMax) => store.call('facets', filter, valuesMax),
    searchFlows: (filter, page) => store.call('searchFlows', filter, page),
    flow: (team, correlationKey) => store.call('flow', team, correlationKey),

    health: async () => {
      const own = store.health()
      return own.ready ? health() : own
    },
    close: () => store.close(),
  }
}

const parseRecord = (source: string): EntryRecord => parseKeepingDigits(source) as EntryRecord

async function removeBefore(store: StoreClient, day: string): Promise<number> {
  let removed = 0
  let after: number | null = 0
  while (after !== null) {
    const step: RemovalStep = await store.call('removeDocumentsBefore', day, after)
    removed += step.removed
    after = step.next
  }
  await removeRemains(store, day)
  return removed
}

async function removeOldest(store: StoreClient, bytesMax: number): Promise<number> {
  let removed = 0
  for (let more = true; more; ) {
    const step = await store.call('removeOldest', bytesMax)
    removed += step.removed
    more = step.next !== null
  }
  const day = removed === 0 ? null : await store.call('firstDay')
  if (day !== null) await removeRemains(store, day)
  return removed
}

/** What stays behind when documents go: flows without entries, full-text tables without documents. */
async function removeRemains(store: StoreClient, day: string): Promise<void> {
  while ((await store.call('removeFlowsBefore', day)) > 0);
  while (await store.call('dropEmptyTextTable'));
}

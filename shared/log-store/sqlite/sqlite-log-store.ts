import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { EntryRecord } from '../../contract/records.ts'
import { parseRecord } from '../../contract/rows.ts'
import { createCooperative, mapInSteps } from '../../runtime/cooperative.ts'
import type { Health } from '../../runtime/lifecycle.ts'
import type { Logger } from '../../runtime/logger.ts'
import { callHere } from '../../runtime/threads/thread.ts'
import { insist, pause } from '../../runtime/waiting.ts'
import { createPatience } from '../../sqlite/database-file.ts'
import { type LogStore, StoreHaltError } from '../log-store.ts'
import { StoreUnavailableError } from './database.ts'
import { startReader } from './reader.ts'
import { openReaderPool, type StoreClient } from './reader-pool.ts'
import type { DocumentOf } from './renewal.ts'
import { openStore, type Store, type StoreOptions } from './store.ts'

/** `file`: the database; SQLite puts two more files beside it, with `-wal` and `-shm` appended to its name. */
export interface SqliteLogStoreOptions extends StoreOptions {
  /** `own`: SQLite works in threads of its own, and never blocks the caller's. `same`: in the caller's thread, without copies. */
  readonly thread: 'own' | 'same'
  readonly logger: Pick<Logger, 'warn'>
}

interface MaintenanceOptions {
  readonly bytesMax: number | null
  /** Only for a store in the caller's thread; if omitted, the documents of an older version are left as they are. */
  readonly documentOf?: DocumentOf
  readonly signal?: AbortSignal
}

/** Maximum time for each kind of work on documents of an older version, so that removals do not wait longer. */
const TURNS_MS = 60_000
/** The pause after a turn of such work, as a multiple of the turn's duration. */
const RESTS_PER_TURN = 3

/** A log store in one SQLite file. Several threads or processes may have it open; they write one after another. */
export interface SqliteLogStore extends LogStore {
  /**
   * Removes the documents that arrived first while the file uses more than `bytesMax` bytes, moves what an older version has stored into
   * compressed blocks, and adds missing counts, fingerprints and words to its documents, until `signal` aborts or twice `TURNS_MS` have
   * passed. Returns how many it removed.
   */
  maintain(options: MaintenanceOptions): Promise<number>
  /** Whether nothing was ever stored in the file. */
  isNew(): Promise<boolean>
  /** Rebuilds the counts; if it is interrupted, `maintain` continues. Returns how many documents are counted. */
  rebuildCounts(): Promise<number>
}

/**
 * Opens the log store's file and creates it if it is missing. Rejects with a `StoreHaltError` if it is damaged, of a newer version or not a
 * log store, and with a `StoreUnavailableError` if it is locked or the disk is full.
 */
export async function createSqliteLogStore(options: SqliteLogStoreOptions): Promise<SqliteLogStore> {
  const { thread, logger, file, fileBytesMax, limits } = options
  const opened = { file, ...(fileBytesMax !== undefined && { fileBytesMax }), ...(limits && { limits }) }
  const store = thread === 'own' ? await openReaderPool(() => startReader(opened)) : openStoreHere(opened)
  const { persist, health } = createPersistence(logger)
  // A page of few entries can take as long to parse as one of many: each may be a megabyte.
  const cooperative = createCooperative()

  return {
    // A write is committed when it returns, and every read begins with the last commit.
    searchableWithinMs: 0,
    // Another machine may have a file of this name.
    name: () => `sqlite:${hostname()}:${resolve(file)}`,
    write: (documents, signal) => {
      const all = [...documents]
      return persist(() => store.call('write', all), signal)
    },
    mergeFlows: (deltas, signal) => persist(() => store.call('mergeFlows', deltas), signal),
    removeBefore: (day, signal) => removeBefore(store, day, signal),
    maintain: async ({ bytesMax, documentOf, signal }) => {
      const removeBeyond = async (): Promise<number> => (bytesMax === null ? 0 : removeOldest(store, bytesMax, signal))
      // Before entries are counted, as those that are removed need no counts, and after, as counts take room.
      const removed = await removeBeyond()
      while (!signal?.aborted && (await store.call('countMore')));
      const more = await removeBeyond()
      await inTurns(() => store.call('moveMore'), signal)
      if (documentOf !== undefined) await inTurns(() => store.call('renewMore', documentOf), signal)
      return removed + more
    },
    isNew: () => store.call('isNew'),
    rebuildCounts: async () => {
      await store.call('forgetCounts')
      while (await store.call('countMore'));
      return store.call('countedEntries')
    },

    search: async (filter, page, signal) => {
      const { sources, next } = await store.read({ owner: filter.team, signal }, 'search', filter, page)
      return { entries: await cooperative.run(filter.team, mapInSteps(sources, parseRecord)), next }
    },
    get: async (team, kind, id, signal) => {
      const source = await store.read({ owner: team, signal }, 'get', team, kind, id)
      return source === undefined ? undefined : parseRecord(source)
    },
    tail: async (filter, after, limit, signal) => {
      const { entries, ...page } = await store.read({ owner: filter.team, signal }, 'tail', filter, after, limit)
      return { ...page, entries: entries.map(({ source, cursor: at }) => ({ entry: parseRecord(source), cursor: at })) }
    },
    count: (filter, signal) => store.read({ owner: filter.team, signal }, 'count', filter),
    histogram: (filter, bucketsMax, signal) =>
      store.read({ owner: filter.team, signal }, 'histogram', filter, bucketsMax),
    facets: (filter, valuesMax, signal) => store.read({ owner: filter.team, signal }, 'facets', filter, valuesMax),
    groups: async (filter, by, limits, signal) => {
      const { groups, sources, ...answer } = await store.read(
        { owner: filter.team, signal },
        'groups',
        filter,
        by,
        limits,
      )
      const samples = await cooperative.run(filter.team, mapInSteps(sources, parseRecord))
      return { ...answer, groups: groups.map((group, index) => ({ ...group, sample: samples[index] as EntryRecord })) }
    },
    series: (filter, request, signal) => store.read({ owner: filter.team, signal }, 'series', filter, request),
    searchFlows: (filter, page, signal) => store.read({ owner: filter.team, signal }, 'searchFlows', filter, page),
    countFlows: (filter, states, signal) => store.read({ owner: filter.team, signal }, 'countFlows', filter, states),
    tallyFlows: (filter, states, signal) => store.read({ owner: filter.team, signal }, 'tallyFlows', filter, states),
    flow: (team, correlationKey, signal) => store.read({ owner: team, signal }, 'flow', team, correlationKey),

    health: async () => {
      const own = store.health()
      return own.ready ? health() : own
    },
    close: () => store.close(),
  }
}

const FIRST_PAUSE_MS = 50

/** Retries writes for as long as their failure may pass, a few times where it says that the file is damaged, and reports it. */
export function createPersistence(logger: Pick<Logger, 'warn'>) {
  const failing = new Map<symbol, string>()
  return {
    /** Rejects with the signal's reason, and with any failure that will not pass. */
    async persist<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
      const write = Symbol('write')
      const mayTryAgain = createPatience(
        (error) => error instanceof StoreUnavailableError,
        (error) => error instanceof StoreHaltError,
      )
      try {
        return await insist(attempt, signal, FIRST_PAUSE_MS, (error, isFirst) => {
          if (!mayTryAgain(error)) throw error
          const reason = (error as Error).message
          if (isFirst) logger.warn({ reason }, 'the log store cannot be written; retrying')
          failing.set(write, reason)
        })
      } finally {
        failing.delete(write)
      }
    },
    /** Not ready while a write fails. */
    health(): Health {
      const [reason] = failing.values()
      return { name: 'log-store', ready: reason === undefined, ...(reason !== undefined && { reason }) }
    },
  }
}

/** The store in this thread, where nothing else runs during a call: a read cannot be called off. */
function openStoreHere(options: StoreOptions): StoreClient {
  const { call, health, close } = callHere<Store>('log-store', openStore(options), (name) => STEPS.includes(name))
  return {
    call: (name, ...args) => call(name, args),
    read: async ({ signal }, name, ...args) => {
      signal?.throwIfAborted()
      return call(name, args)
    },
    health,
    close,
  }
}

/** The calls that are made in loops, until nothing is left to do. */
const STEPS: readonly (keyof Store)[] = [
  ...(['removeDocumentsBefore', 'removeFlowsBefore', 'removeOldest', 'dropEmptyTextTable'] as const),
  ...(['countMore', 'moveMore', 'renewMore'] as const),
]

async function removeBefore(store: StoreClient, day: string, signal: AbortSignal | undefined): Promise<number> {
  let removed = 0
  let after: number | null = 0
  while (after !== null) {
    signal?.throwIfAborted()
    const step: ReturnType<Store['removeDocumentsBefore']> = await store.call('removeDocumentsBefore', day, after)
    removed += step.removed
    after = step.next
  }
  while ((await store.call('removeFlowsBefore', day)) > 0) signal?.throwIfAborted()
  while (await store.call('dropEmptyTextTable')) signal?.throwIfAborted()
  return removed
}

async function removeOldest(store: StoreClient, bytesMax: number, signal: AbortSignal | undefined): Promise<number> {
  let removed = 0
  for (let more = true; more && !signal?.aborted; ) {
    const step = await store.call('removeOldest', bytesMax)
    removed += step.removed
    more = step.more
  }
  return removed
}

/** Takes turns while there is more to do. It pauses in between, as this is not urgent: writes get most of the time. */
async function inTurns(takeTurn: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
  const begun = performance.now()
  let now = begun
  while (!signal?.aborted && now - begun < TURNS_MS) {
    if (!(await takeTurn())) return
    await pause(RESTS_PER_TURN * (performance.now() - now), signal)
    now = performance.now()
  }
}

import type { Clock } from '../../runtime/clock.ts'
import type { Health } from '../../runtime/lifecycle.ts'
import type { Logger } from '../../runtime/logger.ts'
import { callHere, startThread } from '../../runtime/threads/thread.ts'
import type { DatabaseFileOptions } from '../../sqlite/database-file.ts'
import { AppendError, type Journal, TopicMissingError } from '../journal.ts'
import { type Closeable, keptIn } from '../open-readers.ts'
import type { PackedAppend } from './appender.ts'
import { createChanges } from './changes.ts'
import { JournalFileError, toAppendError } from './failures.ts'
import { createGroups } from './groups.ts'
import { type MaintenanceOptions, type MaintenanceReport, maintain } from './maintenance.ts'
import { follow, scan } from './reading.ts'
import { packRecords } from './record-codec.ts'
import { openStore, type Store } from './store.ts'
import { subscribe } from './subscription.ts'

/** `file`: the database; SQLite puts two more files beside it, with `-wal` and `-shm` appended to its name. */
export interface SqliteJournalOptions extends DatabaseFileOptions {
  /** `own`: SQLite works in a thread of its own, and never blocks the caller's. `same`: in the caller's thread, without copies. */
  readonly thread: 'own' | 'same'
  readonly clock: Clock
  readonly logger?: Pick<Logger, 'error'>
  /** How often waiting readers check for records appended by other threads and processes. */
  readonly pollMs?: number
}

/** A journal in one SQLite file, for one server: its groups are shared only among the subscriptions of one such object. */
export interface SqliteJournal extends Journal {
  /** Applies retention and compaction. Records that a group has not read yet are kept, whatever their age. */
  maintain(options: MaintenanceOptions): Promise<MaintenanceReport>
  /** Rejects when the journal's thread has failed: only a new journal can write from then on. Never settles otherwise. */
  readonly lost: Promise<never>
}

const POLL_MS = 50

/** Opens the journal's file and creates it if it is missing; rejects with a `JournalFileError`. */
export async function createSqliteJournal(options: SqliteJournalOptions): Promise<SqliteJournal> {
  const { clock, logger, pollMs = POLL_MS, thread, file, fileBytesMax } = options
  const database = { file, ...(fileBytesMax !== undefined && { fileBytesMax }) }
  const store =
    thread === 'own' ? await openStoreThread(database) : callHere<Store>('journal', openStore(database), isStep)
  const changes = createChanges(() => store.call('changes', []), pollMs)
  const writeHealth = createWriteHealth(() => store.call('probe', []))
  const commit = writeHealth.watch((...args: Parameters<Store['commit']>) => store.call('commit', args))
  const deps = { store, commit, changes, groups: createGroups(), logger }
  const append = writeHealth.watch((packed: PackedAppend, appendedAt: number) =>
    // Transferred to the thread, not copied: nothing here needs the records any more.
    store.call(
      'append',
      [packed, appendedAt],
      packed.batches.map(({ content }) => content.buffer),
    ),
  )
  const readers = new Set<Closeable>()
  let maintaining: Promise<unknown> = Promise.resolve()
  let closed: Promise<void> | undefined

  const closeAll = async (): Promise<void> => {
    await Promise.all([...readers].map((reader) => reader.close()))
    changes.close()
    await maintaining.catch(() => {})
    await store.close()
  }

  const kept = async <Reader extends Closeable>(opening: Promise<Reader>): Promise<Reader> => {
    const reader = keptIn(readers, await opening)
    if (closed !== undefined) await reader.close()
    return reader
  }

  const appendPacked = async (packed: PackedAppend): Promise<void> => {
    if (closed !== undefined) throw new AppendError('the journal is closed', 'not_written')
    try {
      await append(packed, clock.now())
    } catch (error) {
      throw toAppendError(error)
    }
    changes.notify(packed.topic)
  }

  return {
    // Not async, as an async frame would keep the records until they are durable.
    append: ({ topic, partition, records }) => {
      try {
        return appendPacked({ topic, partition, batches: packRecords(records) })
      } catch (error) {
        return Promise.reject(toAppendError(error))
      }
    },
    partitionCount: async (topic) => (await store.call('partitions', [topic])).length,
    createTopics: (topics) => store.call('createTopics', [topics]),
    scan: (topic, from) => scan(store, topic, from),
    follow: (topic, onRecords) => kept(follow(deps, topic, onRecords)),
    subscribe: (wanted, handler) => kept(subscribe(deps, wanted, handler)),
    positions: (topic, group) => store.call('positions', [topic, group]),
    rewind: (topic, group) => store.call('rewind', [topic, group]),
    maintain: (wanted) => {
      const running = maintain(store, wanted, () => closed !== undefined || wanted.signal?.aborted === true)
      maintaining = running
      return running
    },
    health: async () => {
      if (closed !== undefined) return { name: 'journal', ready: false, reason: 'the journal is closed' }
      const health = store.health()
      return health.ready ? await writeHealth.check() : health
    },
    lost: store.lost,
    close: () => {
      closed ??= closeAll()
      return closed
    },
  }
}

const openStoreThread = (options: DatabaseFileOptions) =>
  startThread<Store>({
    name: 'journal',
    module: new URL('./store-thread.ts', import.meta.url),
    data: options,
    errors: [AppendError, TopicMissingError, JournalFileError, RangeError],
  })

/** Pages are read and records removed in loops, so these calls count as steps. */
const isStep = (name: keyof Store): boolean => name === 'read' || name === 'retain'

/**
 * Remembers that the file could not be written, until it can. After a failed write, a check writes something itself: a process that is
 * taken out of service because it is not ready gets no appends, and would otherwise never learn that writes work again.
 */
function createWriteHealth(probe: () => Promise<void>) {
  let failure: string | null = null

  const note = (error: unknown): void => {
    const cause = error instanceof Error && error.cause instanceof JournalFileError ? error.cause : error
    if (cause instanceof JournalFileError) failure = cause.message
  }

  return {
    /** Makes of a write one whose outcome is noted. */
    watch:
      <Args extends unknown[]>(write: (...args: Args) => Promise<void>) =>
      async (...args: Args): Promise<void> => {
        try {
          await write(...args)
          failure = null
        } catch (error) {
          note(error)
          throw error
        }
      },
    check: async (): Promise<Health> => {
      if (failure !== null)
        failure = await probe().then(
          () => null,
          ({ message }: Error) => message,
        )
      return failure === null ? { name: 'journal', ready: true } : { name: 'journal', ready: false, reason: failure }
    },
  }
}

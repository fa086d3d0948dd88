import type { StatementSync } from 'node:sqlite'
import {
  BUSY_TIMEOUT_MS,
  createPlaceCheck,
  type DatabaseFileOptions,
  type DatabaseFormat,
  openDatabaseFile,
  SQLITE,
  sqliteCode,
  transactionsOf,
} from '../../sqlite/database-file.ts'
import { clearError, JournalFileError } from './failures.ts'
import { APPLICATION_ID, PAGE_BYTES, SCHEMA, SCHEMA_VERSION, UPGRADES } from './schema.ts'

const FORMAT: DatabaseFormat = {
  name: 'journal',
  applicationId: APPLICATION_ID,
  schemaVersion: SCHEMA_VERSION,
  schema: SCHEMA,
  upgrades: UPGRADES,
  pageBytes: PAGE_BYTES,
  // 16 MiB.
  checkpointPages: 1_024,
  cacheKibibytes: 8 * 1024,
  // SQLite's own waits grow to 100 ms and would hardly ever hit the short gaps between the transactions of a busy writer; waits that are
  // restarted stay at 2 ms.
  lockWaitMs: 3,
}

const RESTART_ATTEMPTS = 25

/** A connection to the journal's file. Every SQLite failure is thrown as a `JournalFileError`. */
export interface Database {
  readonly prepare: (sql: string) => StatementSync
  /** Runs the work without a transaction of its own. */
  read<T>(work: () => T): T
  /** Runs the work in one transaction: all of it is durable on return, or none of it was done. */
  write<T>(work: () => T): T
  /**
   * Copies the write-ahead log into the file and lets the next write restart it, if no reader uses it at that moment. SQLite's automatic
   * checkpoints never wait for readers, so the log would grow as long as load lasts.
   */
  restartLog(): void
  /** Safe to call twice. */
  close(): void
}

/** Opens the file and creates it if it is missing; throws a `JournalFileError` if it is damaged or of another version. */
export function openDatabase(options: DatabaseFileOptions): Database {
  const guard = <T>(work: () => T): T => {
    const end = performance.now() + BUSY_TIMEOUT_MS
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (sqliteCode(error) === SQLITE.BUSY && performance.now() < end) continue
        throw clearError(error, options.file)
      }
    }
  }
  const refuse = (message: string): Error => new JournalFileError(message, null)
  const sqlite = openDatabaseFile(options, FORMAT, guard, refuse)
  const expectInPlace = createPlaceCheck(options.file, FORMAT.name, refuse)
  const transactions = transactionsOf(sqlite)
  const restartLog = (): void => {
    const restart = sqlite.prepare('PRAGMA wal_checkpoint(RESTART)')
    for (let attempt = 0; attempt < RESTART_ATTEMPTS; attempt++) if (restart.get()?.['busy'] === 0) return
  }
  return {
    // Fails if the tables in the file are not those of this version, as damage may change their names.
    prepare: (sql) => guard(() => sqlite.prepare(sql)),
    read: guard,
    write: (work) => {
      expectInPlace()
      return guard(() => transactions.write(work))
    },
    restartLog: () => guard(restartLog),
    close: () => {
      if (sqlite.isOpen) sqlite.close()
    },
  }
}

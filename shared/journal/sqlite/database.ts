import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { clearError, JournalFileError, SQLITE, sqliteCode } from './failures.ts'
import { APPLICATION_ID, PAGE_BYTES, SCHEMA, SCHEMA_VERSION } from './schema.ts'

const BUSY_TIMEOUT_MS = 5_000
/**
 * How long SQLite itself waits for a lock before it is asked again. Its waits grow to 100 ms, and would hardly ever meet the
 * short gaps between the transactions of a busy writer; waits that begin anew stay at 2 ms.
 */
const LOCK_WAIT_MS = 3
/** The write-ahead log is copied into the file when it has this many pages (16 MiB). */
const CHECKPOINT_PAGES = 1_024
const WAL_BYTES_KEPT = 64 * 1024 * 1024
const RESTART_ATTEMPTS = 25
const CACHE_KIBIBYTES = 16 * 1024

/** A connection to the journal's file. Everything it throws on SQLite's account is a `JournalFileError`. */
export interface Database {
  readonly prepare: (sql: string) => StatementSync
  /** Runs the work without a transaction of its own. */
  read<T>(work: () => T): T
  /** Runs the work in one transaction: all of it is durable on return, or none of it was done. */
  write<T>(work: () => T): T
  /**
   * Copies the write-ahead log into the file and lets the next write begin it anew, where readers leave it alone for a moment.
   * The checkpoints that SQLite makes by itself never wait for them, so that the log would grow as long as load lasts.
   */
  restartLog(): void
  /** Safe to call twice. */
  close(): void
}

export interface DatabaseOptions {
  readonly file: string
  /** The most bytes that the file may grow to; beyond, writes fail as they do on a full disk. */
  readonly fileBytesMax?: number
}

/** Opens the file, making it where it is missing; throws a `JournalFileError` where it is damaged or not of this version. */
export function openDatabase({ file, fileBytesMax }: DatabaseOptions): Database {
  const guard = <T>(work: () => T): T => {
    const end = performance.now() + BUSY_TIMEOUT_MS
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (sqliteCode(error) === SQLITE.BUSY && performance.now() < end) continue
        throw clearError(error, file, BUSY_TIMEOUT_MS)
      }
    }
  }
  mkdirSync(dirname(file), { recursive: true })
  const sqlite = guard(() => new DatabaseSync(file, { timeout: LOCK_WAIT_MS }))
  try {
    guard(() => prepareFile(sqlite, file))
    if (fileBytesMax !== undefined) sqlite.exec(`PRAGMA max_page_count = ${Math.ceil(fileBytesMax / PAGE_BYTES)}`)
  } catch (error) {
    sqlite.close()
    throw error
  }
  const transaction = transactionOf(sqlite)
  return {
    prepare: (sql) => sqlite.prepare(sql),
    read: guard,
    write: (work) => guard(() => inTransaction(transaction, work)),
    restartLog: () => guard(() => restartLog(sqlite)),
    close: () => {
      if (sqlite.isOpen) sqlite.close()
    },
  }
}

interface Transaction {
  readonly sqlite: DatabaseSync
  readonly begin: StatementSync
  readonly commit: StatementSync
}

/** Compiled once: they run with every append. */
const transactionOf = (sqlite: DatabaseSync): Transaction => ({
  sqlite,
  begin: sqlite.prepare('BEGIN IMMEDIATE'),
  commit: sqlite.prepare('COMMIT'),
})

function inTransaction<T>({ sqlite, begin, commit }: Transaction, work: () => T): T {
  begin.run()
  try {
    const result = work()
    commit.run()
    return result
  } catch (error) {
    // SQLite rolls back by itself after some errors, such as a full disk.
    if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
    throw error
  }
}

function restartLog(sqlite: DatabaseSync): void {
  const restart = sqlite.prepare('PRAGMA wal_checkpoint(RESTART)')
  for (let attempt = 0; attempt < RESTART_ATTEMPTS; attempt++) if (restart.get()?.['busy'] === 0) return
}

function prepareFile(sqlite: DatabaseSync, file: string): void {
  if (pragma(sqlite, 'user_version') === 0) sqlite.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  sqlite.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    PRAGMA journal_size_limit = ${WAL_BYTES_KEPT};
    PRAGMA cache_size = -${CACHE_KIBIBYTES};
  `)
  // The version is read within the transaction: two processes may come to an empty file at the same time.
  inTransaction(transactionOf(sqlite), () => {
    const version = pragma(sqlite, 'user_version')
    if (version === 0) return createSchema(sqlite, file)
    if (pragma(sqlite, 'application_id') !== APPLICATION_ID) throw foreignFile(file)
    if (version !== SCHEMA_VERSION) {
      throw new JournalFileError(
        `the journal ${file} has schema version ${version}, this program knows ${SCHEMA_VERSION}; run the version of Sluice that wrote it, or a newer one`,
        null,
      )
    }
  })
}

function createSchema(sqlite: DatabaseSync, file: string): void {
  const tables = sqlite.prepare('SELECT count(*) AS count FROM sqlite_schema').get()
  if (tables?.['count'] !== 0) throw foreignFile(file)
  sqlite.exec(`${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION};`)
}

const foreignFile = (file: string): JournalFileError =>
  new JournalFileError(`${file} is an SQLite database but no Sluice journal; set DATA_DIR to another folder`, null)

function pragma(sqlite: DatabaseSync, name: string): unknown {
  return sqlite.prepare(`PRAGMA ${name}`).get()?.[name]
}

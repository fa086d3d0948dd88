import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { StoreHaltError } from '../log-store.ts'
import { CalledOffError, clearError } from './failures.ts'
import { APPLICATION_ID, PAGE_BYTES, SCHEMA, SCHEMA_VERSION } from './schema.ts'

const BUSY_TIMEOUT_MS = 5_000
/** The write-ahead log is copied into the file when it has this many pages (16 MiB). */
const CHECKPOINT_PAGES = 2_048
const WAL_BYTES_KEPT = 64 * 1024 * 1024
/** Of each connection, of which there are several; beyond it the system's own cache of the file answers nearly as fast. */
const CACHE_KIBIBYTES = 8 * 1024
/** Queries differ in their conditions, so statements come and go. */
const STATEMENTS_MAX = 100
/** A statement takes some twenty times its text, and a long search is seldom repeated. */
const KEPT_CHARACTERS_MAX = 4_096

/** The SQL function by which a read that goes through many rows can be ended: 1, or an error once it is called off. */
const GO_ON = 'go_on'

/** A condition that always holds, and asks once in 256 rows, by a number of the row, whether to go on. */
export const goOn = (number: string): string => `CASE WHEN ${number} & 255 THEN 1 ELSE ${GO_ON}() END`

/** A connection to the file. All that it throws on SQLite's account is a `StoreUnavailableError` or a `StoreHaltError`. */
export interface Database {
  /** Prepared once and kept while it is in use. Only within `read` or `write`. */
  prepare(sql: string): StatementSync
  exec(sql: string): void
  /** Everything that the work reads is of one moment. */
  read<T>(work: () => T): T
  /** All of it is durable on return, or none of it was done. */
  write<T>(work: () => T): T
  /** Safe to call twice. */
  close(): void
}

export interface DatabaseOptions {
  readonly file: string
  /** The most bytes that the file may grow to; beyond, writes fail as they do on a full disk. */
  readonly fileBytesMax?: number
  /** Whether the present read is to be given up; asked every few hundred rows that one goes through. */
  readonly isCalledOff?: () => boolean
}

/** Opens the file, making it where it is missing; throws where it is damaged, foreign or of another version. */
export function openDatabase({ file, fileBytesMax, isCalledOff = () => false }: DatabaseOptions): Database {
  const guard = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw clearError(error, file)
    }
  }
  mkdirSync(dirname(file), { recursive: true })
  const sqlite = guard(() => new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }))
  try {
    guard(() => prepareFile(sqlite, file))
    sqlite.function(GO_ON, { directOnly: true }, () => {
      if (isCalledOff()) throw new CalledOffError('the read was called off')
      return 1
    })
    if (fileBytesMax !== undefined) sqlite.exec(`PRAGMA max_page_count = ${Math.ceil(fileBytesMax / PAGE_BYTES)}`)
  } catch (error) {
    sqlite.close()
    throw error
  }
  return {
    prepare: statementCache(sqlite),
    exec: (sql) => sqlite.exec(sql),
    read: (work) => guard(() => inTransaction(sqlite, 'BEGIN', work)),
    write: (work) => guard(() => inTransaction(sqlite, 'BEGIN IMMEDIATE', work)),
    close: () => {
      if (sqlite.isOpen) sqlite.close()
    },
  }
}

function statementCache(sqlite: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>()
  return (sql) => {
    const known = statements.get(sql)
    if (known !== undefined) {
      // The order of a Map is that of insertion: the least recently used one comes first.
      statements.delete(sql)
      statements.set(sql, known)
      return known
    }
    const statement = sqlite.prepare(sql)
    if (sql.length > KEPT_CHARACTERS_MAX) return statement
    const [oldest] = statements.keys()
    if (oldest !== undefined && statements.size >= STATEMENTS_MAX) statements.delete(oldest)
    statements.set(sql, statement)
    return statement
  }
}

function inTransaction<T>(sqlite: DatabaseSync, begin: string, work: () => T): T {
  sqlite.exec(begin)
  try {
    const result = work()
    sqlite.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite rolls back by itself after some errors, such as a full disk.
    if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
    throw error
  }
}

/**
 * A commit is synced (`synchronous = FULL`): the consumers commit their position in the journal after a write, and that commit
 * must not outlive the documents when the power fails.
 */
function prepareFile(sqlite: DatabaseSync, file: string): void {
  if (pragma(sqlite, 'user_version') === 0) sqlite.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  sqlite.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    PRAGMA journal_size_limit = ${WAL_BYTES_KEPT};
    PRAGMA cache_size = -${CACHE_KIBIBYTES};
  `)
  // The version is read within the transaction: two connections may come to an empty file at the same time.
  inTransaction(sqlite, 'BEGIN IMMEDIATE', () => {
    const version = pragma(sqlite, 'user_version')
    if (version === 0) return createSchema(sqlite, file)
    if (pragma(sqlite, 'application_id') !== APPLICATION_ID) throw foreignFile(file)
    if (version !== SCHEMA_VERSION) {
      throw new StoreHaltError(
        `the log store ${file} has schema version ${version}, this program knows ${SCHEMA_VERSION}; run the version of Sluice that wrote it, or a newer one`,
      )
    }
  })
}

function createSchema(sqlite: DatabaseSync, file: string): void {
  const tables = sqlite.prepare('SELECT count(*) AS count FROM sqlite_schema').get()
  if (tables?.['count'] !== 0) throw foreignFile(file)
  sqlite.exec(`${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION};`)
}

const foreignFile = (file: string): StoreHaltError =>
  new StoreHaltError(`${file} is an SQLite database but no Sluice log store; set DATA_DIR to another folder`)

function pragma(sqlite: DatabaseSync, name: string): unknown {
  return sqlite.prepare(`PRAGMA ${name}`).get()?.[name]
}

import { statSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import {
  BUSY_TIMEOUT_MS,
  createPlaceCheck,
  type DatabaseFileOptions,
  type DatabaseFormat,
  explainSqliteError,
  isPassing,
  openDatabaseFile,
  sqliteCode,
  type Transactions,
  transactionsOf,
  WAL_BYTES_KEPT,
} from '../../sqlite/database-file.ts'
import { ReadTooLargeError, StoreHaltError } from '../log-store.ts'
import { APPLICATION_ID, PAGE_BYTES, SCHEMA, SCHEMA_VERSION, UPGRADES } from './schema.ts'
import type { Sql } from './sql.ts'

/** The file cannot be written or read at the moment, but may be later. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** A read was ended because nobody waits for it any more. */
export class CalledOffError extends Error {
  override readonly name = 'CalledOffError'
}

const FORMAT: DatabaseFormat = {
  name: 'log store',
  applicationId: APPLICATION_ID,
  schemaVersion: SCHEMA_VERSION,
  schema: SCHEMA,
  upgrades: UPGRADES,
  pageBytes: PAGE_BYTES,
  // 16 MiB.
  checkpointPages: 2_048,
  // Per connection, and there are several; beyond this, the system's file cache is nearly as fast.
  cacheKibibytes: 4 * 1024,
  lockWaitMs: BUSY_TIMEOUT_MS,
}

/** After waiting for readers, this many times as long passes until the next wait. */
const PAUSES_PER_WAIT = 10

/** Maximum cached statements: queries differ in their conditions. */
const STATEMENTS_MAX = 100
/** A statement takes about twenty times the size of its text, and a long search is rarely repeated. */
const KEPT_CHARACTERS_MAX = 4_096

/** The SQL function that can end a read of many rows: returns 1, or throws once the read is called off. */
const GO_ON = 'go_on'

/** A condition that is always true, and checks once per row whether to go on. */
export const GO_ON_EACH_ROW = `${GO_ON}()`

/** A condition that is always true, and checks once per 256 rows, by a number of the row, whether to go on. */
export const goOn = (number: string): string => `CASE WHEN ${number} & 255 THEN 1 ELSE ${GO_ON}() END`

/** A row, by the names of its columns. */
export type Row = Readonly<Record<string, SQLOutputValue>>

/** A connection to the file. Every SQLite failure is thrown as a `StoreUnavailableError` or a `StoreHaltError`. */
export interface Database extends Transactions {
  /** Prepared once and cached while it is in use. Only within `read` or `write`. */
  prepare(sql: string): StatementSync
  /** The rows of a statement, all at once or one after another. */
  all(statement: Sql): readonly Row[]
  iterate(statement: Sql): Iterable<Row>
  exec(sql: string): void
  /** Defines an SQL function of this connection, of any number of arguments; it may read from the database. */
  define(name: string, work: (...args: SQLOutputValue[]) => SQLInputValue): void
  /** Safe to call twice. */
  close(): void
}

export interface DatabaseOptions extends DatabaseFileOptions {
  /** Whether to give up the current read; checked every few hundred rows. */
  readonly isCalledOff?: () => boolean
}

/** Opens the file and creates it if it is missing; throws if it is damaged, foreign or of another version. */
export function openDatabase({ isCalledOff = () => false, ...options }: DatabaseOptions): Database {
  const statements = new Map<string, StatementSync>()
  const guard = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      // A statement that failed while it was iterated over would throw that error once more at its next use.
      statements.clear()
      throw clearError(error, options.file)
    }
  }
  const sqlite = openDatabaseFile(options, FORMAT, guard, (message) => new StoreHaltError(message))
  sqlite.function(GO_ON, { directOnly: true }, () => {
    if (isCalledOff()) throw new CalledOffError('the read was called off')
    return 1
  })
  const expectInPlace = createPlaceCheck(options.file, FORMAT.name, (message) => new StoreUnavailableError(message))
  const { read, write } = transactionsOf(sqlite)
  let restartAt = 0

  /**
   * Copies a large write-ahead log into the file, so that the next write begins it anew. SQLite's automatic checkpoints never wait for
   * readers, so the log would grow for as long as reads overlap.
   */
  const restartLog = (): void => {
    const now = performance.now()
    if (now < restartAt) return
    try {
      if (logBytes(options.file) <= WAL_BYTES_KEPT) return
      sqlite.exec('PRAGMA wal_checkpoint(RESTART)')
    } catch {
      // The write is durable; a problem that prevents the checkpoint will fail a later write, too.
    }
    restartAt = now + (1 + PAUSES_PER_WAIT) * (performance.now() - now)
  }
  const prepare = cachedIn(statements, sqlite)
  return {
    prepare,
    all: ({ text, values }) => prepare(text).all(...values),
    iterate: ({ text, values }) => prepare(text).iterate(...values),
    exec: (sql) => sqlite.exec(sql),
    define: (name, work) => sqlite.function(name, { directOnly: true, deterministic: true, varargs: true }, work),
    read: (work) => guard(() => read(work)),
    write: (work) => {
      expectInPlace()
      const result = guard(() => write(work))
      restartLog()
      return result
    },
    close: () => {
      if (sqlite.isOpen) sqlite.close()
    },
  }
}

const logBytes = (file: string): number => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0

function cachedIn(statements: Map<string, StatementSync>, sqlite: DatabaseSync): (sql: string) => StatementSync {
  return (sql) => {
    const known = statements.get(sql)
    if (known !== undefined) {
      // A Map keeps insertion order, so the least recently used statement comes first.
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

/** SQLite's message for more than 32,766 values: a search has one for each of many words and each of many full-text tables. */
const TOO_MANY_VALUES = 'too many SQL variables'

/**
 * Turns an error of `node:sqlite` into a `StoreUnavailableError` if it may pass, else into a `StoreHaltError`, with a message that says
 * what to do; for a search of too many words it is a `ReadTooLargeError`. Returns any other error unchanged.
 */
function clearError(thrown: unknown, file: string): unknown {
  const code = sqliteCode(thrown)
  if (code === null) return thrown
  if ((thrown as Error).message === TOO_MANY_VALUES) {
    return new ReadTooLargeError('the search has too many words for so many entries', { cause: thrown })
  }
  const message = explainSqliteError(code, (thrown as Error).message, 'log store', file)
  const cause = { cause: thrown }
  return isPassing(code) ? new StoreUnavailableError(message, cause) : new StoreHaltError(message, cause)
}

import { explainSqliteError, SQLITE, sqliteCode } from '../../sqlite/database-file.ts'
import { StoreHaltError } from '../log-store.ts'

/** The file cannot be written or read now, and may be later. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** A read was ended because nobody waits for it any more. */
export class CalledOffError extends Error {
  override readonly name = 'CalledOffError'
}

const PASSING: readonly number[] = [SQLITE.FULL, SQLITE.BUSY, SQLITE.LOCKED, SQLITE.IOERR, SQLITE.NOMEM]

/**
 * Turns what `node:sqlite` throws on SQLite's account into a `StoreUnavailableError` where it may pass, else into a `StoreHaltError`.
 * The message says what to do. Leaves every other error as it is.
 */
export function clearError(thrown: unknown, file: string): unknown {
  const code = sqliteCode(thrown)
  if (code === null) return thrown
  const message = explainSqliteError(code, (thrown as Error).message, 'log store', file)
  const cause = { cause: thrown }
  return PASSING.includes(code) ? new StoreUnavailableError(message, cause) : new StoreHaltError(message, cause)
}

import { explainSqliteError, isPassing, sqliteCode } from '../../sqlite/database-file.ts'
import { ReadTooLargeError, StoreHaltError } from '../log-store.ts'

/** The file cannot be written or read at the moment, but may be later. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** A read was ended because nobody waits for it any more. */
export class CalledOffError extends Error {
  override readonly name = 'CalledOffError'
}

/** SQLite's message for more than 32,766 values: a search has one for each of many words and each of many full-text tables. */
const TOO_MANY_VALUES = 'too many SQL variables'

/**
 * Turns an error of `node:sqlite` into a `StoreUnavailableError` if it may pass, else into a `StoreHaltError`, with a message that says
 * what to do; for a search of too many words it is a `ReadTooLargeError`. Returns any other error unchanged.
 */
export function clearError(thrown: unknown, file: string): unknown {
  const code = sqliteCode(thrown)
  if (code === null) return thrown
  if ((thrown as Error).message === TOO_MANY_VALUES) {
    return new ReadTooLargeError('the search has too many words for so many entries', { cause: thrown })
  }
  const message = explainSqliteError(code, (thrown as Error).message, 'log store', file)
  const cause = { cause: thrown }
  return isPassing(code) ? new StoreUnavailableError(message, cause) : new StoreHaltError(message, cause)
}

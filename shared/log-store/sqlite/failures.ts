import { dirname } from 'node:path'
import { StoreHaltError } from '../log-store.ts'

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const SQLITE = { BUSY: 5, LOCKED: 6, NOMEM: 7, READONLY: 8, IOERR: 10, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 }

/** The file cannot be written or read now, and may be later. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** A read was ended because nobody waits for it any more. */
export class CalledOffError extends Error {
  override readonly name = 'CalledOffError'
}

/**
 * Turns what `node:sqlite` throws on SQLite's account into a `StoreUnavailableError` or a `StoreHaltError` whose message says
 * what to do; leaves every other error as it is.
 */
export function clearError(thrown: unknown, file: string): unknown {
  if (!isSqliteError(thrown)) return thrown
  const cause = { cause: thrown }
  // The lowest byte of an extended code is the primary one.
  switch (thrown.errcode & 0xff) {
    case SQLITE.FULL:
      return new StoreUnavailableError(`the disk is full: ${file} cannot grow; free space in ${dirname(file)}`, cause)
    case SQLITE.BUSY:
    case SQLITE.LOCKED:
      return new StoreUnavailableError(`${file} is locked by another connection for too long`, cause)
    case SQLITE.IOERR:
    case SQLITE.NOMEM:
      return new StoreUnavailableError(`${file} cannot be read or written: ${thrown.message}`, cause)
    case SQLITE.CORRUPT:
    case SQLITE.NOTADB:
      return new StoreHaltError(
        `the log store ${file} is damaged (${thrown.message}); restore it from a backup, or move it away together with its -wal and -shm files to start with an empty one`,
        cause,
      )
    case SQLITE.CANTOPEN:
    case SQLITE.READONLY:
      return new StoreHaltError(
        `the log store ${file} cannot be written (${thrown.message}); the process needs write access to the file and to ${dirname(file)}`,
        cause,
      )
    default:
      return new StoreHaltError(`the log store ${file} failed: ${thrown.message}`, cause)
  }
}

const isSqliteError = (thrown: unknown): thrown is { readonly errcode: number; readonly message: string } =>
  typeof thrown === 'object' && thrown !== null && 'errcode' in thrown && typeof thrown.errcode === 'number'

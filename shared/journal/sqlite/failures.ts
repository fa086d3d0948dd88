import { dirname } from 'node:path'
import { ThreadGoneError } from '../../runtime/threads/thread.ts'
import { AppendError } from '../journal.ts'

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
export const SQLITE = { BUSY: 5, READONLY: 8, IOERR: 10, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 } as const

/** The journal's file cannot be opened, read or written; the message names the file and says what to do. */
export class JournalFileError extends Error {
  override readonly name = 'JournalFileError'
  /** The primary result code of SQLite, null where the failure is not SQLite's. */
  readonly sqliteCode: number | null

  constructor(message: string, sqliteCode: number | null, options?: ErrorOptions) {
    super(message, options)
    this.sqliteCode = sqliteCode
  }
}

/** Turns what `node:sqlite` throws into a `JournalFileError`; leaves every other error as it is. */
export function clearError(thrown: unknown, file: string, busyTimeoutMs: number): unknown {
  const code = sqliteCode(thrown)
  if (code === null) return thrown
  return new JournalFileError(describe(code, (thrown as Error).message, file, busyTimeoutMs), code, { cause: thrown })
}

/** The primary result code of what `node:sqlite` threw, whose codes are extended ones; null for other errors. */
export function sqliteCode(thrown: unknown): number | null {
  const extended = (thrown as { readonly errcode?: unknown } | null | undefined)?.errcode
  return typeof extended === 'number' ? extended & 0xff : null
}

function describe(code: number, message: string, file: string, busyTimeoutMs: number): string {
  switch (code) {
    case SQLITE.FULL:
      return `the disk is full: the journal ${file} cannot grow; free space in ${dirname(file)}`
    case SQLITE.BUSY:
      return `the journal ${file} was locked by another process for ${busyTimeoutMs} ms`
    case SQLITE.CORRUPT:
    case SQLITE.NOTADB:
      return `the journal ${file} is damaged (${message}); restore it from a backup, or move it away together with its -wal and -shm files to start with an empty journal`
    case SQLITE.CANTOPEN:
    case SQLITE.READONLY:
      return `the journal ${file} cannot be written (${message}); the process needs write access to the file and to ${dirname(file)}`
    default:
      return `the journal ${file} failed: ${message}`
  }
}

/**
 * Why an append failed. After an I/O error the commit mark may have reached the disk although its sync failed, so a crash
 * could bring the records back; a thread that ended may have written them before. After any other error they are not there.
 */
export function toAppendError(thrown: unknown): AppendError {
  if (thrown instanceof AppendError) return thrown
  const perhapsWritten =
    (thrown instanceof JournalFileError && thrown.sqliteCode === SQLITE.IOERR) ||
    (thrown instanceof ThreadGoneError && thrown.mayHaveRun)
  return new AppendError((thrown as Error).message, perhapsWritten ? 'unknown' : 'not_written', { cause: thrown })
}

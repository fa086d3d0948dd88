import { ThreadGoneError } from '../../runtime/threads/thread.ts'
import { explainSqliteError, isPassing, SQLITE, sqliteCode } from '../../sqlite/database-file.ts'
import { AppendError } from '../journal.ts'

/** The journal's file cannot be opened, read or written; the message names the file and says what to do. */
export class JournalFileError extends Error {
  override readonly name = 'JournalFileError'
  /** The primary result code of SQLite; null if the failure is not SQLite's. */
  readonly sqliteCode: number | null

  constructor(message: string, sqliteCode: number | null, options?: ErrorOptions) {
    super(message, options)
    this.sqliteCode = sqliteCode
  }
}

/** Turns an error of `node:sqlite` into a `JournalFileError`; returns any other error unchanged. */
export function clearError(thrown: unknown, file: string): unknown {
  const code = sqliteCode(thrown)
  if (code === null) return thrown
  const message = explainSqliteError(code, (thrown as Error).message, 'journal', file)
  return new JournalFileError(message, code, { cause: thrown })
}

/** Whether a failed read may succeed later although nobody acts on the file itself. */
export const mayPass = (thrown: unknown): boolean =>
  thrown instanceof JournalFileError && thrown.sqliteCode !== null && isPassing(thrown.sqliteCode)

/** Whether the file is damaged, or SQLite takes it for that. */
export const isDamage = (thrown: unknown): boolean =>
  thrown instanceof JournalFileError && thrown.sqliteCode === SQLITE.CORRUPT

/**
 * The error for a failed append. After an I/O error, the commit mark may have reached the disk although its sync failed, so a crash could
 * bring the records back; a thread that ended may have written them before. After any other error they are not there.
 */
export function toAppendError(thrown: unknown): AppendError {
  if (thrown instanceof AppendError) return thrown
  const perhapsWritten =
    (thrown instanceof JournalFileError && thrown.sqliteCode === SQLITE.IOERR) ||
    (thrown instanceof ThreadGoneError && thrown.mayHaveRun)
  return new AppendError((thrown as Error).message, perhapsWritten ? 'unknown' : 'not_written', { cause: thrown })
}

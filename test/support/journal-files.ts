import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createSqliteJournal,
  type SqliteJournal,
  type SqliteJournalOptions,
} from '../../shared/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../shared/runtime/clock.ts'

/** SQLite journals in their own folder. */
export interface JournalFolder {
  readonly path: string
  file(name?: string): string
  open(options?: Partial<SqliteJournalOptions>): Promise<SqliteJournal>
  /** Closes the opened journals and removes the folder. */
  remove(): Promise<void>
}

export async function createJournalFolder(): Promise<JournalFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-journal-'))
  const opened: SqliteJournal[] = []
  const file = (name = 'journal.db') => join(path, name)
  return {
    path,
    file,
    open: async (options = {}) => {
      const journal = await createSqliteJournal({ file: file(), thread: 'same', clock: systemClock, ...options })
      opened.push(journal)
      return journal
    },
    remove: async () => {
      await Promise.all(opened.map((journal) => journal.close()))
      await rm(path, { recursive: true })
    },
  }
}

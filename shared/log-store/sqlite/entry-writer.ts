import type { EntryDocument } from '../../contract/documents.ts'
import type { WriteOutcome } from '../log-store.ts'
import type { Database } from './database.ts'
import { type EntryRow, entryRow, INSERT_CONTENTS, INSERT_ENTRY, insertTexts } from './entry-row.ts'
import type { StoreLimits } from './limits.ts'
import { currentTextTable } from './text-tables.ts'

export interface EntryWriter {
  /** Stores the documents in one transaction; one outcome each, in their order. */
  write(documents: readonly EntryDocument[]): readonly WriteOutcome[]
}

export function createEntryWriter(database: Database, limits: StoreLimits): EntryWriter {
  const insert = (row: EntryRow, texts: string): WriteOutcome => {
    const { changes, lastInsertRowid: arrival } = database.prepare(INSERT_ENTRY).run(...row.entry)
    if (changes === 0) return { outcome: 'duplicate' }
    database.prepare(INSERT_CONTENTS).run(arrival, ...row.contents)
    database.prepare(texts).run(arrival, ...row.texts)
    return { outcome: 'stored' }
  }

  return {
    write: (documents) => {
      if (documents.length === 0) return []
      const rows = documents.map(entryRow)
      return database.write(() => {
        const table = currentTextTable(database, lastArrival(database) + 1, limits.textTableArrivals)
        const texts = insertTexts(table.name)
        return rows.map((row) => ('refused' in row ? { outcome: 'refused', reason: row.refused } : insert(row, texts)))
      })
    },
  }
}

/** The highest arrival ever given; 0 before the first. */
export function lastArrival(database: Database): number {
  return Number(database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").get()?.['seq'] ?? 0)
}

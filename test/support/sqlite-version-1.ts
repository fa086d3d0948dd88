import { DatabaseSync } from 'node:sqlite'
import { indexedTexts, insertTexts } from '../../shared/log-store/sqlite/entry-writer.ts'
import { indexedText } from '../../shared/log-store/sqlite/words-index.ts'
import { documentOf } from './documents.ts'
import { toVersion3 } from './sqlite-contents.ts'

/**
 * Converts the file of a log store to what version 1 left behind: without rollups, fingerprints and the later columns of flows, and with an
 * index of words that holds, besides the texts, only values of scope data. Nothing else may have it open.
 */
export function toVersion1(file: string): void {
  const database = new DatabaseSync(file)
  try {
    database.exec('BEGIN')
    toVersion3(database)
    database.exec(`
      DROP TABLE rollups; DROP TABLE rollup_facts; DROP TABLE rollup_teams; DROP TABLE rollup_state;
      DROP TABLE text_table_times; DROP TABLE renewal_state; DROP TABLE IF EXISTS texts_renewed;
      ALTER TABLE entries DROP COLUMN template; ALTER TABLE entries DROP COLUMN exception_group;
      ALTER TABLE flows DROP COLUMN last_error_at; ALTER TABLE flows DROP COLUMN last_progress_at;
      PRAGMA user_version = 1`)
    for (const { number, first, next } of database.prepare(TABLES).all()) {
      const table = `texts_${number}`
      database.exec(`INSERT INTO ${table} (${table}) VALUES ('delete-all')`)
      const rows = database.prepare('SELECT arrival, source FROM contents WHERE arrival >= ? AND arrival < ?')
      for (const { arrival = 0, source } of rows.iterate(Number(first), Number(next))) {
        const document = documentOf(JSON.parse(String(source)))
        const values = document.scopeLeaves.map(([, value]) => value).join('\n')
        database.prepare(insertTexts(table)).run(arrival, ...indexedTexts(document).slice(0, 3), indexedText(values))
      }
    }
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}

const TABLES = `SELECT number, first_arrival AS first,
  lead(first_arrival, 1, ${Number.MAX_SAFE_INTEGER}) OVER (ORDER BY number) AS next FROM text_tables`

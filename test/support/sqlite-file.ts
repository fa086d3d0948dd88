import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { afterEach, beforeEach } from 'vitest'
import type { Cursor, EntryFilter } from '../../shared/log-store/log-store.ts'
import { type Content, packBlock, unpackBlock } from '../../shared/log-store/sqlite/block-codec.ts'
import type { SourcePage } from '../../shared/log-store/sqlite/entry-reader.ts'
import { indexedTexts, insertTexts } from '../../shared/log-store/sqlite/entry-writer.ts'
import {
  RECEIVED,
  type RowValues,
  valuesOfRow,
  wholeSource,
  withPlaceholders,
} from '../../shared/log-store/sqlite/sources.ts'
import type { Store } from '../../shared/log-store/sqlite/store.ts'
import { indexedText } from '../../shared/log-store/sqlite/words-index.ts'
import { documentOf } from './documents.ts'

/** Gives each test the path of a log store's file that is not yet there, in a folder of its own, which is removed afterwards. */
export function eachInNewFile(use: (file: string) => void): void {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-logs-'))
    use(join(folder, 'logs.db'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
}

/** Runs on the file of a log store as another program has it. Nothing else may have it open where `work` changes its version. */
export function inFile<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

type WholeContent = Omit<Content, 'source'> & { readonly source: string }

/** The values of rows, by arrival. */
function rowValuesIn(database: DatabaseSync): (arrival: number) => RowValues {
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  return (arrival) => valuesOfRow({ prepare }, arrival)
}

/** The contents of all entries in the file of a log store, in the order of arrival: those in blocks, and those that an older version left. */
export function contentsIn(database: DatabaseSync): readonly WholeContent[] {
  const packed = database.prepare('SELECT first, content FROM blocks').all()
  const valuesOf = rowValuesIn(database)
  const old = database.prepare('SELECT arrival, leaves, source FROM contents').all()
  return [
    ...packed.flatMap(({ first, content }) => unpackBlock(Number(first), content)?.all() ?? []),
    ...old.map(({ arrival, leaves, source }) => ({
      arrival: Number(arrival),
      leaves: leaves as Uint8Array | null,
      source: Buffer.from(String(source)),
    })),
  ]
    .map(({ arrival, leaves, source }) => ({
      arrival,
      leaves,
      source: wholeSource(Buffer.from(source).toString(), () => valuesOf(arrival)),
    }))
    .sort((a, b) => a.arrival - b.arrival)
}

/** Converts the file of a log store to what version 9 left behind: whole ids in their index. */
export function toVersion9(database: DatabaseSync): void {
  database.exec(`DROP INDEX entries_by_id; CREATE UNIQUE INDEX entries_by_id ON entries (id); PRAGMA user_version = 9`)
}

/** Converts the file of a log store to what version 8 left behind: sources with the names of their rows, and Teams by their names. */
export function toVersion8(database: DatabaseSync): void {
  toVersion9(database)
  const update = database.prepare('UPDATE blocks SET content = ? WHERE first = ?')
  const valuesOf = rowValuesIn(database)
  for (const { first, content } of database.prepare('SELECT first, content FROM blocks').all()) {
    const whole = unpackBlock(Number(first), content)?.all() ?? []
    const contents = whole.map(({ arrival, leaves, source }) => {
      const values = valuesOf(arrival)
      const text = wholeSource(Buffer.from(source).toString(), () => values)
      return { arrival, leaves, source: Buffer.from(withPlaceholders({ ...values, source: text })) }
    })
    update.run(packBlock(contents), Number(first))
  }
  for (const table of ['entries', 'flows', 'rollup_teams'])
    database.exec(`UPDATE ${table} SET team = (SELECT name FROM teams WHERE teams.key = ${table}.team)`)
  database.exec('DROP TABLE teams; PRAGMA user_version = 8')
}

/** Converts the file of a log store to what version 7 left behind: times of receipt as they are, and ids in the index of flows. */
export function toVersion7(database: DatabaseSync): void {
  toVersion8(database)
  database.exec(`UPDATE entries SET received = ${RECEIVED}; DROP INDEX entries_by_flow; CREATE INDEX entries_by_flow
    ON entries (team, correlation_key, timestamp, id) WHERE correlation_key IS NOT NULL; PRAGMA user_version = 7`)
}

/** Converts the file of a log store to what version 6 left behind: each entry has its names in its row. */
export function toVersion6(database: DatabaseSync): void {
  toVersion7(database)
  database.exec(`UPDATE entries SET (environment, event, step, project, category, event_name) =
      (SELECT environment, event, step, project, category, event_name FROM names WHERE number = entries.names)
    WHERE names IS NOT NULL;
    ALTER TABLE entries DROP COLUMN names; DROP TABLE names; PRAGMA user_version = 6`)
}

/** Converts the file of a log store to what version 5 left behind: blocks of whole sources. */
export function toVersion5(database: DatabaseSync): void {
  const contents = contentsIn(database).map(({ source, ...content }) => ({ ...content, source: Buffer.from(source) }))
  database.exec('DELETE FROM blocks')
  toVersion6(database)
  database.exec('PRAGMA user_version = 5')
  const insert = database.prepare('INSERT INTO blocks (first, last, bytes, content) VALUES (?, ?, ?, ?)')
  for (const content of contents)
    insert.run(content.arrival, content.arrival, content.source.length, packBlock([content]))
}

/** Converts the file of a log store to what version 3 left behind: without blocks and `counted_entries`. */
export function toVersion3(database: DatabaseSync): void {
  const contents = contentsIn(database)
  database.exec('DELETE FROM blocks')
  toVersion6(database)
  database.exec('DROP TABLE blocks; DELETE FROM contents; DROP TABLE counted_entries; PRAGMA user_version = 3')
  const insert = database.prepare('INSERT INTO contents (arrival, leaves, source) VALUES (?, ?, ?)')
  for (const { arrival, leaves, source } of contents) insert.run(arrival, leaves, source)
}

/**
 * Converts the file of a log store to what version 1 left behind: without rollups, fingerprints and the later columns of flows, and with an
 * index of words that holds, besides the texts, only values of scope data.
 */
export function toVersion1(database: DatabaseSync): void {
  database.exec('BEGIN')
  toVersion3(database)
  database.exec(`
    DROP TABLE rollups; DROP TABLE rollup_facts; DROP TABLE rollup_teams; DROP TABLE rollup_state;
    DROP TABLE text_table_times; DROP TABLE renewal_state; DROP TABLE IF EXISTS texts_renewed;
    ALTER TABLE entries DROP COLUMN template; ALTER TABLE entries DROP COLUMN exception_group;
    ALTER TABLE flows DROP COLUMN last_error_at; ALTER TABLE flows DROP COLUMN last_progress_at;
    PRAGMA user_version = 1`)
  for (const { number, first, next } of database.prepare(TEXT_TABLES).all()) {
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
}

const TEXT_TABLES = `SELECT number, first_arrival AS first,
  lead(first_arrival, 1, ${Number.MAX_SAFE_INTEGER}) OVER (ORDER BY number) AS next FROM text_tables`

/** Changes rows as damage may, to values that are not of their columns' types. */
export function damage(file: string, update: string): void {
  const run = (sql: string): void =>
    inFile(file, (database) => {
      database.enableDefensive(false)
      database.exec(sql)
    })
  const inSchema = (from: string, to: string): void =>
    run(`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}')`)
  inSchema('STRICT', '/* */')
  run(update)
  inSchema('/* */', 'STRICT')
}

/** Removes what was received before the day, as retention does. */
export function removeBefore(calls: Store, day: string): void {
  for (let after: number | null = 0; after !== null; ) after = calls.removeDocumentsBefore(day, after).next
  while (calls.dropEmptyTextTable());
}

/** The texts of all entries that match, page by page. */
export function listed(calls: Store, filter: EntryFilter, limit: number, order: 'asc' | 'desc'): readonly string[] {
  const sources: string[] = []
  let after: Cursor | null = null
  do {
    const page: SourcePage = calls.search(filter, { limit, order, after })
    sources.push(...page.sources)
    after = page.next
  } while (after !== null)
  return sources
}

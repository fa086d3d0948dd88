import { MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import { type Database, goOn } from './database.ts'
import { textTableSchema } from './schema.ts'
import { FALSE, join, type Sql, sql } from './sql.ts'

/**
 * The full-text tables. Each covers the documents of a range of arrivals and is dropped as a whole when none of them is left: that costs a
 * fraction of deleting them one by one, and keeps each table, and its merges, small. Until then, rows of removed documents stay in it and
 * do no harm: arrival numbers are never reused, and only existing entries are read.
 */
export interface TextTable {
  readonly name: string
  readonly number: number
  readonly firstArrival: number
}

const GO_ON = goOn('rowid')

/** SQLite allows 500 parts in a compound SELECT, and 1,000 levels in an expression, such as a chain of OR. */
export const TABLES_OF_A_SELECT = 400

/** All tables, oldest first. New documents go to the last one. */
export function textTables(database: Database): readonly TextTable[] {
  return database
    .prepare('SELECT number, first_arrival FROM text_tables ORDER BY number')
    .all()
    .map((row) => textTable(Number(row['number']), Number(row['first_arrival'])))
}

const textTable = (number: number, firstArrival: number): TextTable => ({
  name: `texts_${number}`,
  number,
  firstArrival,
})

/** Whether all tables have the words that this version indexes (renewal.ts). */
export const hasAllWords = (database: Database): boolean =>
  database.prepare('SELECT renewed >= until AS done FROM renewal_state').get()?.['done'] === 1

/**
 * The table to write to if `nextArrival` is the next: the last one, or a new one if that has had `arrivalsMax` arrivals. Only in `write`.
 */
export function currentTextTable(database: Database, nextArrival: number, arrivalsMax: number): TextTable {
  const last = database.prepare('SELECT number, first_arrival FROM text_tables ORDER BY number DESC LIMIT 1').get()
  if (last === undefined) return beginTextTable(database, 1, nextArrival)
  const [number, firstArrival] = [Number(last['number']), Number(last['first_arrival'])]
  if (nextArrival - firstArrival >= arrivalsMax) return beginTextTable(database, number + 1, nextArrival)
  return textTable(number, firstArrival)
}

/** Creates the table for arrivals from `firstArrival` on. Only in `write`. */
export function beginTextTable(database: Database, number: number, firstArrival: number): TextTable {
  const table = textTable(number, firstArrival)
  database.exec(textTableSchema(table.name))
  database.prepare('INSERT INTO text_tables (number, first_arrival) VALUES (?, ?)').run(number, firstArrival)
  return table
}

/** Only in `write`. */
export function dropTextTable(database: Database, { name, number }: TextTable): void {
  database.exec(`DROP TABLE ${name}`)
  database.prepare('DELETE FROM text_tables WHERE number = ?').run(number)
  database.prepare('DELETE FROM text_table_times WHERE number = ?').run(number)
}

/** Renames a table to replace the one with this number; drops it if that one no longer exists. Only in `write`. */
export function replaceTextTable(database: Database, number: number, name: string): void {
  const isThere = database.prepare('SELECT 1 FROM text_tables WHERE number = ?').get(number) !== undefined
  const { name: replaced } = textTable(number, 0)
  database.exec(isThere ? `DROP TABLE ${replaced}; ALTER TABLE ${name} RENAME TO ${replaced}` : `DROP TABLE ${name}`)
}

/** A table with the minutes (since 1970) between which its entries are, and its range of arrivals. */
export interface TimedTable extends TextTable {
  readonly firstMinute: number
  readonly lastMinute: number
  /** The first arrival after its range. */
  readonly nextArrival: number
}

/**
 * The tables, oldest first. Their times are known for entries up to the arrival `counted`; a table with later ones may have entries of any
 * time.
 */
export function timedTables(database: Database, counted: number): readonly TimedTable[] {
  return database
    .prepare(`SELECT number, first_arrival, first_minute, last_minute,
        lead(first_arrival, 1, ${Number.MAX_SAFE_INTEGER}) OVER (ORDER BY number) AS next_arrival
      FROM text_tables LEFT JOIN text_table_times USING (number) ORDER BY number`)
    .all()
    .map((row) => {
      const nextArrival = Number(row['next_arrival'])
      const isKnown = nextArrival <= counted + 1
      return {
        ...textTable(Number(row['number']), Number(row['first_arrival'])),
        nextArrival,
        firstMinute: isKnown ? Number(row['first_minute'] ?? Number.MAX_SAFE_INTEGER) : 0,
        lastMinute: isKnown ? Number(row['last_minute'] ?? -1) : Number.MAX_SAFE_INTEGER,
      }
    })
}

/** The tables that may have entries between the latest of `begins` and the earliest of `ends`; null is no bound. */
export function tablesWithin(
  tables: readonly TimedTable[],
  begins: readonly (string | null)[],
  ends: readonly (string | null)[],
): readonly TimedTable[] {
  const [first, last] = [begins.flatMap(minuteOf), ends.flatMap(minuteOf)]
  return tables.filter(
    ({ firstMinute, lastMinute }) =>
      first.every((minute) => lastMinute >= minute) && last.every((minute) => firstMinute <= minute),
  )
}

const minuteOf = (timestamp: string | null): readonly number[] =>
  timestamp === null ? [] : [Number(toNanos(timestamp) / MINUTE_NANOS)]

const TABLE_OF = `SELECT number, (SELECT min(first_arrival) FROM text_tables WHERE first_arrival > $arrival) AS next
  FROM text_tables WHERE first_arrival <= $arrival ORDER BY number DESC LIMIT 1`
const WIDEN = `INSERT INTO text_table_times (number, first_minute, last_minute) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
  SET first_minute = min(first_minute, excluded.first_minute), last_minute = max(last_minute, excluded.last_minute)`

/** The number of the table that an entry is in, and the first arrival after its range; null for the last table. */
export function tableOf(
  database: Database,
  arrival: number,
): { readonly number: number; readonly next: number | null } {
  const row = database.prepare(TABLE_OF).get({ arrival })
  const next = row?.['next'] ?? null
  return { number: Number(row?.['number']), next: next === null ? null : Number(next) }
}

/** Widens the times of the tables that these entries are in; they have to be in order of arrival. Only in `write`. */
export function widenTimes(
  database: Database,
  entries: readonly { readonly arrival: number; readonly minute: number }[],
): void {
  for (let at = 0; at < entries.length; ) {
    const { number, next } = tableOf(database, entries[at]?.arrival ?? 0)
    const end = next === null ? -1 : entries.findIndex(({ arrival }) => arrival >= next)
    const minutes = entries.slice(at, end === -1 ? entries.length : end).map(({ minute }) => minute)
    database.prepare(WIDEN).run(number, Math.min(...minutes), Math.max(...minutes))
    at += minutes.length
  }
}

/** Arrivals from `after` (exclusive) to `last` (inclusive). */
export interface ArrivalRange {
  readonly after: number
  readonly last: number
}

/** A SELECT of the arrivals that match a full-text query, including removed documents; null if no table can have any. */
export function selectMatching(
  expression: string,
  tables: readonly TextTable[],
  range: ArrivalRange | null,
): Sql | null {
  const selects = tables
    .filter((table, index) => range === null || overlaps(table, tables[index + 1], range))
    .map(({ name }) =>
      range === null
        ? sql(`SELECT rowid FROM ${name} WHERE ${name} MATCH ? AND ${GO_ON}`, expression)
        : sql(
            `SELECT rowid FROM ${name} WHERE ${name} MATCH ? AND rowid > ? AND rowid <= ? AND ${GO_ON}`,
            expression,
            // A number would be bound as a REAL, which FTS5 does not use as a bound.
            BigInt(range.after),
            BigInt(range.last),
          ),
    )
  if (selects.length === 0) return null
  const parts: Sql[] = []
  for (let at = 0; at < selects.length; at += TABLES_OF_A_SELECT) {
    parts.push(join(selects.slice(at, at + TABLES_OF_A_SELECT), ' UNION ALL ', FALSE))
  }
  const whole = (part: Sql): Sql => sql(`SELECT rowid FROM (${part.text})`, ...part.values)
  return parts.length === 1 ? (parts[0] as Sql) : join(parts.map(whole), ' UNION ALL ', FALSE)
}

/**
 * The arrivals that match a full-text query in one table, in order, including removed documents. As one text: a row for each would take five
 * times as long, and a table has at most `textTableArrivals`. Only in `Database.read`.
 */
export function matchesIn(database: Database, { name }: TextTable, expression: string): readonly number[] {
  const found = database
    .prepare(`SELECT group_concat(rowid) AS arrivals FROM ${name} WHERE ${name} MATCH ? AND ${GO_ON}`)
    .get(expression)
  return JSON.parse(`[${found?.['arrivals'] ?? ''}]`)
}

const overlaps = (table: TextTable, next: TextTable | undefined, { after, last }: ArrivalRange): boolean =>
  table.firstArrival <= last && (next === undefined || next.firstArrival > after + 1)

import { MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import type { EntryFilter } from '../log-store.ts'
import { type Database, goOn } from './database.ts'
import { removeUnusedNames } from './names.ts'
import { type TextColumn, textTableSchema } from './schema.ts'
import { compose, join, type Sql, sql } from './sql.ts'

/**
 * An entry's arrival is its number in the order in which entries were stored, from 1 on and never reused. It is the entry's row id in
 * `entries` and in a full-text table, and its place in blocks and segments. This range is from `after` (exclusive) to `last` (inclusive).
 */
export interface ArrivalRange {
  readonly after: number
  readonly last: number
}

/** The highest arrival ever assigned; 0 before the first. */
export function lastArrival(database: Database): number {
  return Number(database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").get()?.['seq'] ?? 0)
}

/**
 * The full-text tables: an inverted index in parts. Each has the posting lists of the entries in a range of arrivals (by default 32,768),
 * and is dropped as a whole when none of them is left: that costs a fraction of deleting them one by one, and keeps each table, and its
 * merges, small. Until then, rows of removed documents stay in it and do no harm: arrival numbers are never reused, and only existing
 * entries are read.
 *
 * Entries arrive nearly in the order of their times, so a table has those of a short time, and a search reads only the tables of its range.
 */
export interface TextTable {
  readonly name: string
  readonly number: number
  /** Its range of arrivals: from the first up to the first of the next table. */
  readonly firstArrival: number
  readonly nextArrival: number
  /** The minutes (since 1970) between which its entries are; of a table with entries that are not counted yet, all of time. */
  readonly firstMinute: number
  readonly lastMinute: number
}

const GO_ON = goOn('rowid')
/** The `nextArrival` of the last table. */
export const NO_END = Number.MAX_SAFE_INTEGER

/** SQLite allows 500 parts in a compound SELECT, and 1,000 levels in an expression, such as a chain of OR. */
const TABLES_OF_A_SELECT = 400

/** All tables, oldest first. New documents go to the last one. */
export function textTables(database: Database): readonly TextTable[] {
  return database
    .prepare(`SELECT number, first_arrival, first_minute, last_minute, counted,
        lead(first_arrival, 1, ${NO_END}) OVER (ORDER BY number) AS next_arrival
      FROM text_tables LEFT JOIN text_table_times USING (number) CROSS JOIN rollup_state ORDER BY number`)
    .all()
    .map((row) => {
      const [number, nextArrival] = [Number(row['number']), Number(row['next_arrival'])]
      const isTimed = nextArrival <= Number(row['counted']) + 1
      return {
        name: nameOf(number),
        number,
        firstArrival: Number(row['first_arrival']),
        nextArrival,
        firstMinute: isTimed ? Number(row['first_minute'] ?? NO_END) : 0,
        lastMinute: isTimed ? Number(row['last_minute'] ?? -1) : NO_END,
      }
    })
}

/** The name of the table with this number. */
export const nameOf = (number: number): string => `texts_${number}`

/** The tables that may have entries of a filter's time. */
export function tablesWithin(database: Database, { from, to }: Pick<EntryFilter, 'from' | 'to'>): readonly TextTable[] {
  const [first, last] = [from === null ? 0 : minuteOf(from), to === null ? NO_END : minuteOf(to)]
  return textTables(database).filter(({ firstMinute, lastMinute }) => lastMinute >= first && firstMinute <= last)
}

/** The tables that may have entries of a range of arrivals. */
export const tablesOver = (database: Database, { after, last }: ArrivalRange): readonly TextTable[] =>
  textTables(database).filter(({ firstArrival, nextArrival }) => firstArrival <= last && nextArrival > after + 1)

/** The table of an entry. */
export const tableOf = (database: Database, arrival: number): TextTable | undefined =>
  tablesOver(database, { after: arrival - 1, last: arrival })[0]

const minuteOf = (timestamp: string): number => Number(toNanos(timestamp) / MINUTE_NANOS)

/** Whether all entries have the words and fingerprints that this version derives (renewal.ts); counted segments may lack some until then. */
export const isRenewed = (database: Database): boolean =>
  database.prepare('SELECT renewed >= until AS done FROM renewal_state').get()?.['done'] === 1

/**
 * The number of the table to write to if `nextArrival` is the next: the last one, or a new one if that has had `arrivalsMax` arrivals, with
 * the column of most text first.
 */
export function currentTextTable(
  database: Database,
  nextArrival: number,
  arrivalsMax: number,
  longest: () => TextColumn,
): number {
  const last = database.prepare('SELECT number, first_arrival FROM text_tables ORDER BY number DESC LIMIT 1').get()
  const number = Number(last?.['number'] ?? 0)
  if (last !== undefined && nextArrival - Number(last['first_arrival']) < arrivalsMax) return number
  return beginTextTable(database, number + 1, nextArrival, longest())
}

/** Creates the table for arrivals from `firstArrival` on, and returns its number. */
export function beginTextTable(database: Database, number: number, firstArrival: number, longest?: TextColumn): number {
  database.exec(textTableSchema(nameOf(number), longest))
  database.prepare('INSERT INTO text_tables (number, first_arrival) VALUES (?, ?)').run(number, firstArrival)
  return number
}

/** Drops the table, what is noted about it, and names that only its entries had. */
export function dropTextTable(database: Database, { name, number }: TextTable): void {
  database.exec(`DROP TABLE ${name}`)
  database.prepare('DELETE FROM text_tables WHERE number = ?').run(number)
  database.prepare('DELETE FROM text_table_times WHERE number = ?').run(number)
  removeUnusedNames(database)
}

const WIDEN = `INSERT INTO text_table_times (number, first_minute, last_minute) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
  SET first_minute = min(first_minute, excluded.first_minute), last_minute = max(last_minute, excluded.last_minute)`

/** Widens the times of the tables that these entries are in; they have to be in order of arrival. */
export function widenTimes(
  database: Database,
  entries: readonly { readonly arrival: number; readonly minute: number }[],
): void {
  const [first, last] = [entries[0]?.arrival ?? 0, entries.at(-1)?.arrival ?? 0]
  for (const { number, firstArrival, nextArrival } of tablesOver(database, { after: first - 1, last })) {
    const own = entries.filter(({ arrival }) => arrival >= firstArrival && arrival < nextArrival)
    const minutes = own.map(({ minute }) => minute)
    if (minutes.length > 0) database.prepare(WIDEN).run(number, Math.min(...minutes), Math.max(...minutes))
  }
}

/** The posting lists of a full-text query, as the SELECT of an IN; only those in a range of arrivals, if given. They have removed documents. */
export function selectPostings(match: string, tables: readonly TextTable[], range: ArrivalRange | null): Sql {
  const selects = tables.map(({ name }) =>
    range === null
      ? sql(`SELECT rowid FROM ${name} WHERE ${name} MATCH ? AND ${GO_ON}`, match)
      : sql(
          `SELECT rowid FROM ${name} WHERE ${name} MATCH ? AND rowid > ? AND rowid <= ? AND ${GO_ON}`,
          match,
          // A number would be bound as a REAL, which FTS5 does not use as a bound.
          BigInt(range.after),
          BigInt(range.last),
        ),
  )
  const parts: Sql[] = []
  for (let at = 0; at < selects.length; at += TABLES_OF_A_SELECT) {
    parts.push(join(selects.slice(at, at + TABLES_OF_A_SELECT), ' UNION ALL '))
  }
  // Without any table, `IN ()` is false in SQLite.
  return parts.length === 1
    ? (parts[0] as Sql)
    : join(
        parts.map((part) => compose`SELECT rowid FROM (${part})`),
        ' UNION ALL ',
      )
}

/**
 * The posting list of a full-text query in one table: the arrivals that match, in order, including removed documents. As one text: a row for
 * each would take five times as long, and a table has at most `textTableArrivals`.
 */
export function postingList(database: Database, { name }: TextTable, match: string): readonly number[] {
  const found = database
    .prepare(`SELECT group_concat(rowid) AS arrivals FROM ${name} WHERE ${name} MATCH ? AND ${GO_ON}`)
    .get(match)
  return JSON.parse(`[${found?.['arrivals'] ?? ''}]`)
}

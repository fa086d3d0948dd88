import { type Database, goOn } from './database.ts'
import { textTableSchema } from './schema.ts'
import { FALSE, join, type Sql, sql } from './sql.ts'

/**
 * The full-text tables. A table takes the documents of a stretch of arrivals and is dropped as a whole when none of them is
 * left: that costs a fraction of forgetting them one by one, and keeps each table, and the merging inside it, small. Rows of
 * documents that are gone stay in it until then and do no harm: an arrival is never given twice, and only entries that are
 * there are looked at.
 */
export interface TextTable {
  readonly name: string
  readonly number: number
  readonly firstArrival: number
}

const GO_ON = goOn('rowid')

/** SQLite takes 500 parts of a compound SELECT. */
const TABLES_OF_A_SELECT = 400

/** All of them, oldest first. The last one takes what is written. */
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

/**
 * The table to write to, when `nextArrival` is the next: the last one, or a new one where that has taken `arrivalsMax`. In
 * `write` only.
 */
export function currentTextTable(database: Database, nextArrival: number, arrivalsMax: number): TextTable {
  const last = database.prepare('SELECT number, first_arrival FROM text_tables ORDER BY number DESC LIMIT 1').get()
  if (last === undefined) return beginTextTable(database, 1, nextArrival)
  const [number, firstArrival] = [Number(last['number']), Number(last['first_arrival'])]
  if (nextArrival - firstArrival >= arrivalsMax) return beginTextTable(database, number + 1, nextArrival)
  return textTable(number, firstArrival)
}

/** Makes the table that takes the arrivals from now on. In `write` only. */
export function beginTextTable(database: Database, number: number, firstArrival: number): TextTable {
  const table = textTable(number, firstArrival)
  database.exec(textTableSchema(table.name))
  database.prepare('INSERT INTO text_tables (number, first_arrival) VALUES (?, ?)').run(number, firstArrival)
  return table
}

/** In `write` only. */
export function dropTextTable(database: Database, { name, number }: TextTable): void {
  database.exec(`DROP TABLE ${name}`)
  database.prepare('DELETE FROM text_tables WHERE number = ?').run(number)
}

/** Arrivals from `after` (exclusive) to `last` (inclusive). */
export interface ArrivalRange {
  readonly after: number
  readonly last: number
}

/** A SELECT of the arrivals that a full-text query finds, of documents that are gone as well; null where no table can have any. */
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
            // A number is bound as a REAL, which FTS5 does not take for a bound.
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

const overlaps = (table: TextTable, next: TextTable | undefined, { after, last }: ArrivalRange): boolean =>
  table.firstArrival <= last && (next === undefined || next.firstArrival > after + 1)

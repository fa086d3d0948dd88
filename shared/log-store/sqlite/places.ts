import { MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import type { Cursor, EntryFilter } from '../log-store.ts'
import type { Database } from './database.ts'
import { idText, storedId } from './ids.ts'
import { kindsOf, type Select, type Selection, whereKinds } from './selection.ts'
import { allOf, type Sql, sql } from './sql.ts'
import { type TimedTable, timedTables } from './text-tables.ts'

type Order = 'asc' | 'desc'

export interface Place {
  readonly arrival: number
  readonly nanos: bigint
  readonly id: string
}

/** The first matches after a place, in order. In `Database.read` only. */
export function placesOf(
  database: Database,
  filter: EntryFilter,
  select: Select,
  order: Order,
  after: Cursor | null,
  limit: number,
): readonly Place[] {
  return placesIn(database, filter, select(filter), order, after, limit)
}

function placesIn(
  database: Database,
  filter: EntryFilter,
  selection: Selection,
  order: Order,
  after: Cursor | null,
  limit: number,
): readonly Place[] {
  const columns = 'e.arrival AS arrival, e.timestamp AS timestamp, e.id AS id'
  const beyond: readonly Sql[] =
    after === null
      ? []
      : [sql(`(e.timestamp, e.id) ${order === 'asc' ? '>' : '<'} (?, ?)`, toNanos(after.timestamp), storedId(after.id))]
  const kinds = kindsOf(filter)
  // By time, entries lie in order kind by kind: each kind gives its first ones without sorting.
  const parts = (selection.byTime ? kinds.map((kind) => [kind]) : [kinds]).map((some): Sql => {
    const { text, values } = allOf([whereKinds(selection, some), ...beyond])
    const ordered = `ORDER BY e.timestamp ${order}, e.id ${order} LIMIT ?`
    return sql(`SELECT * FROM (SELECT ${columns} FROM ${selection.from} WHERE ${text} ${ordered})`, ...values, limit)
  })
  const union = parts.map(({ text }) => text).join(' UNION ALL ')
  const statement = database.prepare(`SELECT arrival, CAST(timestamp AS TEXT) AS nanos, id FROM (${union})
    ORDER BY timestamp ${order}, id ${order} LIMIT ?`)
  return statement.all(...parts.flatMap(({ values }) => values), limit).map(({ arrival, nanos, id }) => ({
    arrival: Number(arrival),
    nanos: BigInt(String(nanos)),
    id: idText(id),
  }))
}

/**
 * The same for a filter that the full-text tables answer (`isTextual`), while all entries are counted: entries arrive in the order of
 * their time for the most part, so the tables are gone through in the order of their times, one and then ever more of them, until no
 * other can have a match that comes before those found.
 */
export function textPlacesOf(
  database: Database,
  filter: EntryFilter,
  select: Select,
  order: Order,
  after: Cursor | null,
  limit: number,
): readonly Place[] {
  const tables = tablesInOrder(database, filter, order, after)
  let found: readonly Place[] = []
  for (let at = 0, some = 1; at < tables.length; at += some, some *= 2) {
    const [last, table] = [found[limit - 1], tables[at]]
    if (last !== undefined && table !== undefined && isBeyond(table, last.nanos / MINUTE_NANOS, order)) break
    const selection = select(filter, tables.slice(at, at + some))
    const more = placesIn(database, filter, selection, order, after, limit)
    found = [...found, ...more].sort(order === 'asc' ? comparePlaces : (a, b) => comparePlaces(b, a)).slice(0, limit)
  }
  return found
}

/** The tables that may have a match, those with the first ones first. */
function tablesInOrder(
  database: Database,
  { from, to }: EntryFilter,
  order: Order,
  after: Cursor | null,
): readonly TimedTable[] {
  const begin = [from, order === 'asc' ? after?.timestamp : null]
  const end = [to, order === 'desc' ? after?.timestamp : null]
  const minutes = (times: readonly (string | null | undefined)[]): readonly bigint[] =>
    times.flatMap((time) => (time === null || time === undefined ? [] : [toNanos(time) / MINUTE_NANOS]))
  const [begins, ends] = [minutes(begin), minutes(end)]
  return timedTables(database)
    .filter(
      ({ firstMinute, lastMinute }) =>
        begins.every((minute) => lastMinute >= minute) && ends.every((minute) => firstMinute <= minute),
    )
    .sort((a, b) => (order === 'asc' ? a.firstMinute - b.firstMinute : b.lastMinute - a.lastMinute))
}

/** Whether all entries of a table come after all of the minute. */
const isBeyond = ({ firstMinute, lastMinute }: TimedTable, minute: bigint, order: Order): boolean =>
  order === 'asc' ? firstMinute > minute : lastMinute < minute

/** In the order of (timestamp, id), as SQLite has it: texts before bytes. */
function comparePlaces(a: Place, b: Place): number {
  if (a.nanos !== b.nanos) return a.nanos < b.nanos ? -1 : 1
  const [x, y] = [storedId(a.id), storedId(b.id)]
  if (typeof x !== typeof y) return typeof x === 'string' ? -1 : 1
  return Buffer.compare(Buffer.from(x), Buffer.from(y))
}

import { MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import type { Cursor, EntryFilter } from '../log-store.ts'
import type { Database } from './database.ts'
import { idText, storedId } from './ids.ts'
import { kindsOf, type Select, type Selection, whereKinds } from './selection.ts'
import { allOf, type Sql, sql } from './sql.ts'
import type { TimedTable } from './text-tables.ts'

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
 * The same for a filter that the full-text tables answer (`isTextual`), where their times are known (`timedTables`): entries arrive in the order of
 * their time for the most part, so the tables are gone through in the order of their times, one and then ever more of them, until no
 * other can have a match that comes before those found.
 */
export function textPlacesOf(
  database: Database,
  filter: EntryFilter,
  select: Select,
  tables: readonly TimedTable[],
  order: Order,
  after: Cursor | null,
  limit: number,
): readonly Place[] {
  const ordered = inOrder(tables, filter, order, after)
  let found: readonly Place[] = []
  for (let at = 0, some = 1; at < ordered.length; at += some, some *= 2) {
    const [last, table] = [found[limit - 1], ordered[at]]
    if (last !== undefined && table !== undefined && isBeyond(table, Number(last.nanos / MINUTE_NANOS), order)) break
    const selection = select(filter, ordered.slice(at, at + some))
    const more = placesOf(database, filter, selection, order, after, limit)
    found = [...found, ...more].sort(order === 'asc' ? comparePlaces : (a, b) => comparePlaces(b, a)).slice(0, limit)
  }
  return found
}

/** Those of the tables that may have a match, with the first matches first. */
function inOrder(
  tables: readonly TimedTable[],
  { from, to }: EntryFilter,
  order: Order,
  after: Cursor | null,
): readonly TimedTable[] {
  const begins = [from, order === 'asc' ? after?.timestamp : null].flatMap(minuteOf)
  const ends = [to, order === 'desc' ? after?.timestamp : null].flatMap(minuteOf)
  return tables
    .filter(
      ({ firstMinute, lastMinute }) =>
        begins.every((minute) => lastMinute >= minute) && ends.every((minute) => firstMinute <= minute),
    )
    .sort((a, b) => (order === 'asc' ? a.firstMinute - b.firstMinute : b.lastMinute - a.lastMinute))
}

const minuteOf = (timestamp: string | null | undefined): readonly number[] =>
  timestamp === null || timestamp === undefined ? [] : [Number(toNanos(timestamp) / MINUTE_NANOS)]

/** Whether all entries of a table come after all of the minute. */
const isBeyond = ({ firstMinute, lastMinute }: TimedTable, minute: number, order: Order): boolean =>
  order === 'asc' ? firstMinute > minute : lastMinute < minute

/** In the order of (timestamp, id), as SQLite has it: texts before bytes. */
function comparePlaces(a: Place, b: Place): number {
  if (a.nanos !== b.nanos) return a.nanos < b.nanos ? -1 : 1
  const [x, y] = [storedId(a.id), storedId(b.id)]
  if (typeof x !== typeof y) return typeof x === 'string' ? -1 : 1
  return Buffer.compare(Buffer.from(x), Buffer.from(y))
}

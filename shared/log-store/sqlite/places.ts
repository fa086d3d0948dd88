import { fromNanos, MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import { type Cursor, type EntryFilter, EVERY_ENTRY } from '../log-store.ts'
import { hasWords } from './compile-query.ts'
import type { StoreContext } from './context.ts'
import type { Database } from './database.ts'
import { idText, storedId } from './ids.ts'
import { BY_TIME, kindsOf, pathOf, type Slice, scanOf, tablesOf } from './scan.ts'
import { allOf, compose, digitsOf, join, type Sql, sql, TRUE } from './sql.ts'
import { TABLES_OF_A_SELECT, type TextTable } from './text-tables.ts'

type Order = 'asc' | 'desc'

/** The place of an entry in lists, which order by (timestamp, id), and its arrival. */
export interface Place {
  readonly arrival: number
  readonly nanos: bigint
  readonly id: string
}

/** The first matches of a slice after a place, in order. */
interface Wanted extends Slice {
  readonly order: Order
  readonly after: Cursor | null
  readonly limit: number
}

/**
 * The places of a list's page, found in the first of these ways that applies:
 *
 * 1. Of values of leaves and fingerprints: among the next 1,000 entries (`nearEntries`), compared one by one in the order of time. What many
 *    entries have is found there sooner than among thousands of matches.
 * 2. Of words, values and fingerprints: in the full-text tables in the order of their times, until no other table can have an earlier match.
 * 3. By one scan: of an id, of a flow, of given arrivals, or along time.
 */
export function placesOf(context: StoreContext, asked: Wanted): readonly Place[] {
  const { order, after } = asked
  const filter = after === null ? asked.filter : between(asked.filter, order, toNanos(after.timestamp), null)
  const wanted = { ...asked, filter }
  const tables = tablesOf(context, wanted)
  if (tables === null) return scannedPlaces(context.database, wanted)
  const near = hasWords(filter.query) ? null : nearPlaces(context, wanted)
  return near ?? placesInTables(context.database, tables, wanted)
}

/** The places if they are all among the next `nearEntries` entries; else null. */
function nearPlaces({ database, limits }: StoreContext, wanted: Wanted): readonly Place[] | null {
  const { filter, order, limit } = wanted
  const { team, kinds, from, to } = filter
  const every = { ...EVERY_ENTRY, team, kinds, from, to }
  const next = scannedPlaces(database, { ...wanted, filter: every, path: BY_TIME, limit: limits.nearEntries })
  const last = next.length < limits.nearEntries ? null : (next.at(-1)?.nanos ?? null)
  // Up to the last of them, but not to others of the same time.
  const near = last === null ? filter : between(filter, order, null, order === 'asc' ? last - 1n : last + 1n)
  const found = scannedPlaces(database, { ...wanted, filter: near, path: BY_TIME })
  return last === null || found.length === limit ? found : null
}

/** The wanted places by the path of the slice. */
function scannedPlaces(database: Database, wanted: Wanted): readonly Place[] {
  const { filter, path = pathOf(database, filter), order, after, limit } = wanted
  // By time, entries are ordered within each kind: each kind returns its first ones without sorting.
  const filters = path.by === 'time' ? kindsOf(filter).map((kind) => ({ ...filter, kinds: [kind] })) : [filter]
  const inOrder = sql(`ORDER BY timestamp ${order}, id ${order} LIMIT ?`, limit)
  const isAfter =
    after === null
      ? TRUE
      : sql(
          `(e.timestamp, e.id) ${order === 'asc' ? '>' : '<'} (?, ?)`,
          ...[toNanos(after.timestamp), storedId(after.id)],
        )
  const parts = filters.map((some): Sql => {
    const { from, where } = scanOf(database, { filter: some, path })
    return compose`SELECT * FROM (SELECT e.arrival AS arrival, e.timestamp AS timestamp, e.id AS id
      FROM ${from} WHERE ${allOf([where, isAfter])} ${inOrder})`
  })
  return database
    .all(compose`SELECT arrival, ${digitsOf('timestamp')} AS nanos, id FROM (${join(parts, ' UNION ALL ')}) ${inOrder}`)
    .map(({ arrival, nanos, id }) => ({
      arrival: Number(arrival),
      nanos: BigInt(String(nanos)),
      id: idText(id),
    }))
}

/**
 * Narrows a filter to the times from `first` to `last` in an order. A place would do so, too, but SQLite begins to read at the first bound of
 * a condition, not at the closest.
 */
function between(filter: EntryFilter, order: Order, first: bigint | null, last: bigint | null): EntryFilter {
  const [from, end] = order === 'asc' ? [first, last] : [last, first]
  const [ownFrom, ownTo] = [filter.from, filter.to]
  return {
    ...filter,
    from: from === null || (ownFrom !== null && toNanos(ownFrom) > from) ? ownFrom : fromNanos(from),
    to: end === null || (ownTo !== null && toNanos(ownTo) <= end) ? ownTo : fromNanos(end + 1n),
  }
}

/** The places from one full-text table at first, and then from ever more of them at a time. */
function placesInTables(database: Database, tables: readonly TextTable[], wanted: Wanted): readonly Place[] {
  const { order, limit } = wanted
  const ordered = tables.toSorted((a, b) =>
    order === 'asc' ? a.firstMinute - b.firstMinute : b.lastMinute - a.lastMinute,
  )
  let found: readonly Place[] = []
  for (let at = 0, some = 1; at < ordered.length; at += some, some = Math.min(2 * some, TABLES_OF_A_SELECT)) {
    const [last, table] = [found[limit - 1], ordered[at]]
    if (last !== undefined && table !== undefined && isBeyond(table, Number(last.nanos / MINUTE_NANOS), order)) break
    const path = { by: 'tables', tables: ordered.slice(at, at + some) } as const
    found = firstOf([...found, ...scannedPlaces(database, { ...wanted, path })], wanted)
  }
  return found
}

/** Whether all entries of a table come after this whole minute in the order. */
const isBeyond = ({ firstMinute, lastMinute }: TextTable, minute: number, order: Order): boolean =>
  order === 'asc' ? firstMinute > minute : lastMinute < minute

const firstOf = (places: readonly Place[], { order, limit }: Wanted): readonly Place[] =>
  places.toSorted(order === 'asc' ? comparePlaces : (a, b) => comparePlaces(b, a)).slice(0, limit)

/** Compares places by (timestamp, id) as SQLite does: texts before bytes. */
function comparePlaces(a: Place, b: Place): number {
  if (a.nanos !== b.nanos) return a.nanos < b.nanos ? -1 : 1
  const [x, y] = [storedId(a.id), storedId(b.id)]
  if (typeof x !== typeof y) return typeof x === 'string' ? -1 : 1
  return Buffer.compare(Buffer.from(x), Buffer.from(y))
}

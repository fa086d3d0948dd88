import { fromNanos, MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import { type Cursor, type EntryFilter, EVERY_ENTRY } from '../log-store.ts'
import { hasWords } from './compile-query.ts'
import type { StoreContext } from './context.ts'
import type { Matches } from './counts.ts'
import type { Database } from './database.ts'
import { idText, storedId } from './ids.ts'
import { hasFingerprint, planOf } from './plan.ts'
import { BY_TIME, kindsOf, pathOf, type Scan, type Slice, scanOf, tablesOf } from './scan.ts'
import { allOf, compose, digitsOf, join, type Sql, sql } from './sql.ts'
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
 * 1. Of a fingerprint or of values of leaves: among the next 1,000 entries (`nearEntries`), compared one by one in the order of time. What
 *    many entries have is found there sooner than among thousands of matches.
 * 2. Of a fingerprint: among the matches of the first minutes that have enough, by segments.
 * 3. Of words and values: in the full-text tables in the order of their times, until no other table can have an earlier match.
 * 4. By one scan: of an id, of a flow, of given arrivals, or along time.
 */
export function placesOf(context: StoreContext, asked: Wanted): readonly Place[] {
  const { order, after, path } = asked
  const filter = after === null ? asked.filter : between(asked.filter, order, toNanos(after.timestamp), null)
  const wanted = { ...asked, filter }
  const { database, limits } = context
  const tables = tablesOf(context, wanted)
  const isOfFingerprint = path === undefined && hasFingerprint(filter)
  if ((tables !== null || isOfFingerprint) && !hasWords(filter.query)) {
    const near = nearPlaces(database, limits.nearEntries, wanted)
    if (near !== null) return near
  }
  const counted = isOfFingerprint ? segmentPlaces(context, wanted) : null
  if (counted !== null) return counted
  return tables === null ? scannedPlaces(database, wanted) : textPlaces(database, tables, wanted)
}

/** The places if they are all among the next `entries` entries; else null. */
function nearPlaces(database: Database, entries: number, wanted: Wanted): readonly Place[] | null {
  const { filter, order, limit } = wanted
  const { team, kinds, from, to } = filter
  const every = { ...EVERY_ENTRY, team, kinds, from, to }
  const next = scannedPlaces(database, { ...wanted, filter: every, path: BY_TIME, limit: entries })
  const last = next.length < entries ? null : (next.at(-1) ?? null)
  const near = last === null ? filter : between(filter, order, null, last.nanos)
  const found = scannedPlaces(database, { ...wanted, filter: near, path: BY_TIME }, last)
  return last === null || found.length === limit ? found : null
}

/** The wanted places by the path of the slice, up to `last` and with it. */
function scannedPlaces(database: Database, wanted: Wanted, last: Place | null = null): readonly Place[] {
  const { filter, path = pathOf(database, filter) } = wanted
  // By time, entries are ordered within each kind: each kind returns its first ones without sorting.
  const filters = path.by === 'time' ? kindsOf(filter).map((kind) => ({ ...filter, kinds: [kind] })) : [filter]
  const scans = filters.map((some) => scanOf(database, { filter: some, path }))
  return firstOfScans(database, scans, wanted, last)
}

function firstOfScans(
  database: Database,
  scans: readonly Scan[],
  { order, after, limit }: Omit<Wanted, 'filter'>,
  last: Place | null,
): readonly Place[] {
  const columns = 'e.arrival AS arrival, e.timestamp AS timestamp, e.id AS id'
  const [beyond, upTo] = order === 'asc' ? (['>', '<='] as const) : (['<', '>='] as const)
  const isAt = (comparison: '<' | '>' | '<=' | '>=', nanos: bigint, id: string): Sql =>
    sql(`(e.timestamp, e.id) ${comparison} (?, ?)`, nanos, storedId(id))
  const stretch: readonly Sql[] = [
    ...(after === null ? [] : [isAt(beyond, toNanos(after.timestamp), after.id)]),
    ...(last === null ? [] : [isAt(upTo, last.nanos, last.id)]),
  ]
  const parts = scans.map(({ from, where }): Sql => {
    const ordered = sql(`ORDER BY e.timestamp ${order}, e.id ${order} LIMIT ?`, limit)
    return compose`SELECT * FROM (SELECT ${columns} FROM ${from} WHERE ${allOf([where, ...stretch])} ${ordered})`
  })
  const rows = database.all(
    compose`SELECT arrival, ${digitsOf('timestamp')} AS nanos, id FROM (${join(parts, ' UNION ALL ')})
      ${sql(`ORDER BY timestamp ${order}, id ${order} LIMIT ?`, limit)}`,
  )
  return rows.map(({ arrival, nanos, id }) => ({
    arrival: Number(arrival),
    nanos: BigInt(String(nanos)),
    id: idText(id),
  }))
}

/** The places by segments; null if nothing counted answers the filter, or if the last of the minutes that are needed has too many matches. */
function segmentPlaces(context: StoreContext, wanted: Wanted): readonly Place[] | null {
  const { filter, order, after, limit } = wanted
  const { database, limits } = context
  // Segments have minutes only: they cannot tell the matches of the cursor's minute that come before it from those after it.
  const { begun, rest } = after === null ? { begun: [], rest: filter } : aroundMinute(filter, after, order)
  const { matches, slices } = planOf(context, rest, 'facts')
  const candidates = matches && firstArrivals(matches, order, limit, Math.max(limits.candidatesMax, 2 * limit))
  if (candidates === null) return null
  const scan: Scan = {
    from: 'entries AS e NOT INDEXED',
    where: sql('e.arrival IN (SELECT value FROM json_each(?))', JSON.stringify(candidates)),
  }
  const found = [...begun, ...slices].flatMap((slice) =>
    scannedPlaces(database, { ...wanted, path: BY_TIME, ...slice }),
  )
  return firstOf([...firstOfScans(database, [scan], { ...wanted, after: null }, null), ...found], wanted)
}

/** The arrivals in the first minutes that have `limit` matches together; null if these are more than `most`. */
function firstArrivals(matches: Matches, order: Order, limit: number, most: number): readonly number[] | null {
  const sign = order === 'asc' ? 1 : -1
  let candidates: { readonly arrival: number; readonly minute: number }[] = []
  let last = Number.POSITIVE_INFINITY
  matches.forEach(({ first, minutes }, index) => {
    const minute = sign * (minutes[index] ?? 0)
    if (minute > last || candidates.length > most) return
    candidates.push({ arrival: first + index, minute })
    if (candidates.length <= most) return
    candidates.sort((a, b) => a.minute - b.minute)
    last = candidates[limit - 1]?.minute ?? last
    candidates = candidates.filter((candidate) => candidate.minute <= last)
  })
  return candidates.length > most ? null : candidates.map(({ arrival }) => arrival)
}

/** A filter in two parts: the minute of a cursor, and all that comes after it. */
function aroundMinute(
  filter: EntryFilter,
  { timestamp }: Cursor,
  order: Order,
): { readonly begun: readonly Slice[]; readonly rest: EntryFilter } {
  const start = toNanos(timestamp) - (toNanos(timestamp) % MINUTE_NANOS)
  const end = start + MINUTE_NANOS - 1n
  return {
    begun: [{ filter: between(filter, 'asc', start, end) }],
    rest: order === 'asc' ? between(filter, order, end + 1n, null) : between(filter, order, start - 1n, null),
  }
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
function textPlaces(database: Database, tables: readonly TextTable[], wanted: Wanted): readonly Place[] {
  const { order, limit } = wanted
  const ordered = tables.toSorted((a, b) =>
    order === 'asc' ? a.firstMinute - b.firstMinute : b.lastMinute - a.lastMinute,
  )
  let found: readonly Place[] = []
  for (let at = 0, some = 1; at < ordered.length; at += some, some = Math.min(2 * some, TABLES_OF_A_SELECT)) {
    const [last, table] = [found[limit - 1], ordered[at]]
    if (last !== undefined && table !== undefined && isBeyond(table, Number(last.nanos / MINUTE_NANOS), order)) break
    const path = { by: 'words', tables: ordered.slice(at, at + some) } as const
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

import { fromNanos, MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import { type Cursor, type EntryFilter, EVERY_ENTRY } from '../log-store.ts'
import { hasWords } from './compile-query.ts'
import type { Contents } from './contents.ts'
import type { Database } from './database.ts'
import { idText, storedId } from './ids.ts'
import type { StoreLimits } from './limits.ts'
import { hasFingerprint, type Rollup, type RollupOf, type RowsPart } from './rollup.ts'
import { uncountedAfter } from './rollups.ts'
import { isTextual, kindsOf, type Select, type Selection, type SelectParts, whereKinds } from './selection.ts'
import { allOf, digitsOf, type Sql, sql } from './sql.ts'
import { type ArrivalRange, TABLES_OF_A_SELECT, type TimedTable, tablesWithin, timedTables } from './text-tables.ts'

type Order = 'asc' | 'desc'

export interface Place {
  readonly arrival: number
  readonly nanos: bigint
  readonly id: string
}

/** The first matches of a filter after a place, in order. */
interface Wanted {
  readonly filter: EntryFilter
  readonly order: Order
  readonly after: Cursor | null
  readonly limit: number
}

/** The wanted places; only those in the range of arrivals, if given. Only in `Database.read`. */
export type PlacesOf = (wanted: Wanted, arrivals?: ArrivalRange) => readonly Place[]

/** The parts of the store that the readers of entries share. */
export interface EntryReads {
  readonly database: Database
  readonly contents: Contents
  readonly limits: StoreLimits
  readonly select: Select
  readonly selectParts: SelectParts
  readonly rollupOf: RollupOf
  readonly placesOf: PlacesOf
}

export const createPlacesOf =
  (database: Database, select: Select, rollupOf: RollupOf, limits: StoreLimits): PlacesOf =>
  (asked, arrivals) => {
    const { order, after } = asked
    const filter = after === null ? asked.filter : between(asked.filter, order, toNanos(after.timestamp), null)
    const wanted = { ...asked, filter }
    const isText = arrivals === undefined && isTextual(database, filter)
    const isScattered = arrivals === undefined && hasFingerprint(filter)
    if ((isText || isScattered) && !hasWords(filter.query)) {
      const near = nearPlaces(database, select, limits.nearEntries, wanted)
      if (near !== null) return near
    }
    if (isScattered) {
      const found = countedPlaces(database, select, rollupOf, limits.candidatesMax, wanted)
      if (found !== null) return found
    }
    const counted = isText ? uncountedAfter(database, limits) : null
    return counted === null
      ? selectedPlaces(database, select(filter, arrivals), wanted)
      : textPlaces(database, select, timedTables(database, counted), wanted)
  }

/** The places if they are all among the next `entries` entries, as those of frequent values are; else null. */
function nearPlaces(database: Database, select: Select, entries: number, wanted: Wanted): readonly Place[] | null {
  const { filter, order, limit } = wanted
  const { team, kinds, from, to } = filter
  const every = { ...EVERY_ENTRY, team, kinds, from, to }
  const next = selectedPlaces(database, select(every, 'byTime'), { ...wanted, filter: every, limit: entries })
  const last = next.length < entries ? null : (next.at(-1) ?? null)
  const near = last === null ? filter : between(filter, order, null, last.nanos)
  const found = selectedPlaces(database, select(near, 'byTime'), { ...wanted, filter: near }, last)
  return last === null || found.length === limit ? found : null
}

/** The wanted places of a selection, up to `last` and with it. */
function selectedPlaces(
  database: Database,
  selection: Selection,
  { filter, order, after, limit }: Wanted,
  last: Place | null = null,
): readonly Place[] {
  const columns = 'e.arrival AS arrival, e.timestamp AS timestamp, e.id AS id'
  const [beyond, upTo] = order === 'asc' ? (['>', '<='] as const) : (['<', '>='] as const)
  const isAt = (comparison: '<' | '>' | '<=' | '>=', nanos: bigint, id: string): Sql =>
    sql(`(e.timestamp, e.id) ${comparison} (?, ?)`, nanos, storedId(id))
  const stretch: readonly Sql[] = [
    ...(after === null ? [] : [isAt(beyond, toNanos(after.timestamp), after.id)]),
    ...(last === null ? [] : [isAt(upTo, last.nanos, last.id)]),
  ]
  const kinds = kindsOf(filter)
  // By time, entries are ordered within each kind: each kind returns its first ones without sorting.
  const parts = (selection.byTime ? kinds.map((kind) => [kind]) : [kinds]).map((some): Sql => {
    const { text, values } = allOf([whereKinds(selection, some), ...stretch])
    const ordered = `ORDER BY e.timestamp ${order}, e.id ${order} LIMIT ?`
    return sql(`SELECT * FROM (SELECT ${columns} FROM ${selection.from} WHERE ${text} ${ordered})`, ...values, limit)
  })
  const union = parts.map(({ text }) => text).join(' UNION ALL ')
  const statement = database.prepare(`SELECT arrival, ${digitsOf('timestamp')} AS nanos, id FROM (${union})
    ORDER BY timestamp ${order}, id ${order} LIMIT ?`)
  return statement.all(...parts.flatMap(({ values }) => values), limit).map(({ arrival, nanos, id }) => ({
    arrival: Number(arrival),
    nanos: BigInt(String(nanos)),
    id: idText(id),
  }))
}

/**
 * The places by the arrays of counted entries: they are among the matches of the first minutes that have enough together. Null if the filter
 * has no rollup, or if one of these minutes has too many matches.
 */
function countedPlaces(
  database: Database,
  select: Select,
  rollupOf: RollupOf,
  candidatesMax: number,
  wanted: Wanted,
): readonly Place[] | null {
  const { filter, order, after, limit } = wanted
  // Arrays cannot tell the matches of a minute that come before the cursor from those after it.
  const { begun, rest } = after === null ? { begun: [], rest: filter } : aroundMinute(filter, after, order)
  const rollup = rollupOf(rest, 'facts')
  const candidates = rollup && firstArrivals(rollup, order, limit, Math.max(candidatesMax, 2 * limit))
  if (rollup === null || candidates === null) return null
  const own: Selection = {
    from: 'entries AS e NOT INDEXED',
    where: sql('e.arrival IN (SELECT value FROM json_each(?))', JSON.stringify(candidates)),
    byTime: false,
  }
  const beside = [...begun, ...rollup.beside].flatMap((part) =>
    selectedPlaces(database, select(part.filter, part.arrivals ?? 'byTime'), { ...wanted, filter: part.filter }),
  )
  return firstOf([...selectedPlaces(database, own, { ...wanted, after: null }), ...beside], wanted)
}

/** The arrivals in the first minutes that have `limit` matches together; null if these are more than `most`. */
function firstArrivals(rollup: Rollup, order: Order, limit: number, most: number): readonly number[] | null {
  const sign = order === 'asc' ? 1 : -1
  let candidates: { readonly arrival: number; readonly minute: number }[] = []
  let last = Number.POSITIVE_INFINITY
  rollup.forEach(({ first, minutes }, index) => {
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
): { readonly begun: readonly RowsPart[]; readonly rest: EntryFilter } {
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

/**
 * Entries mostly arrive in the order of their time, so the full-text tables are searched in the order of their times, first one and then
 * ever more of them, until no other table can have a match that comes before those found.
 */
function textPlaces(
  database: Database,
  select: Select,
  tables: readonly TimedTable[],
  wanted: Wanted,
): readonly Place[] {
  const { filter, order, limit } = wanted
  const ordered = inOrder(tables, wanted)
  let found: readonly Place[] = []
  for (let at = 0, some = 1; at < ordered.length; at += some, some = Math.min(2 * some, TABLES_OF_A_SELECT)) {
    const [last, table] = [found[limit - 1], ordered[at]]
    if (last !== undefined && table !== undefined && isBeyond(table, Number(last.nanos / MINUTE_NANOS), order)) break
    const selection = select(filter, ordered.slice(at, at + some))
    found = firstOf([...found, ...selectedPlaces(database, selection, wanted)], wanted)
  }
  return found
}

/** The tables that may have a match, those with the first matches first. */
function inOrder(tables: readonly TimedTable[], { filter: { from, to }, order, after }: Wanted): readonly TimedTable[] {
  const place = after?.timestamp ?? null
  const within = order === 'asc' ? tablesWithin(tables, [from, place], [to]) : tablesWithin(tables, [from], [to, place])
  return within.toSorted((a, b) => (order === 'asc' ? a.firstMinute - b.firstMinute : b.lastMinute - a.lastMinute))
}

/** Whether all entries of a table come after this whole minute in the order. */
const isBeyond = ({ firstMinute, lastMinute }: TimedTable, minute: number, order: Order): boolean =>
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

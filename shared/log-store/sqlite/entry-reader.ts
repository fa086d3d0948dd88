/** Lists, single entries and tails: the functions answer the calls of their names in `LogStoreReader`, but with texts of records. */
import type { EntryKind } from '../../contract/records.ts'
import { mayBeLong, parseRecord, rowOf } from '../../contract/rows.ts'
import { fromNanos, MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import {
  type Cursor,
  type EntryFilter,
  EVERY_ENTRY,
  PAGE_BYTES_MAX,
  type PageRequest,
  type TailCursor,
  TailCursorError,
} from '../log-store.ts'
import { hasWords } from './compile-query.ts'
import type { Contents } from './contents.ts'
import type { StoreContext } from './context.ts'
import type { Database } from './database.ts'
import { HAS_ID, idParameters, idText, storedId } from './ids.ts'
import { BY_TIME, inPartsOf, kindsOf, type Slice, scanOf, TABLES_AT_A_TIME } from './scan.ts'
import { KINDS } from './schema.ts'
import { allOf, compose, digitsOf, join, type Sql, sql, TRUE } from './sql.ts'
import { lastArrival, type TextTable } from './text-tables.ts'

/** A page of rows also ends early once this many characters were read for it. */
const READ_BYTES_MAX = 16 * 1024 * 1024

/** The record of an entry cut to its row, as text. */
const rowText = (source: string): string => (mayBeLong(source) ? JSON.stringify(rowOf(parseRecord(source))) : source)

/** A page of entries as the text of their records, which is cheaper to pass to another thread than an object. */
export interface SourcePage {
  readonly sources: readonly string[]
  readonly next: Cursor | null
}

interface SourceTail {
  readonly more: boolean
  readonly entries: readonly { readonly source: string; readonly cursor: TailCursor }[]
  readonly cursor: TailCursor
}

/** The texts of these entries up to the first that would make the page too long, at least one. */
export function gather(contents: Contents, arrivals: readonly number[], form: 'row' | 'whole'): readonly string[] {
  const sources: string[] = []
  let [read, given] = [0, 0]
  for (const arrival of arrivals) {
    const source = contents.source(arrival)
    const text = form === 'row' ? rowText(source) : source
    read += source.length
    given += text.length
    if (sources.length > 0 && (given > PAGE_BYTES_MAX || read > READ_BYTES_MAX)) break
    sources.push(text)
  }
  return sources
}

export function search(
  context: StoreContext,
  filter: EntryFilter,
  { limit, order, after, form = 'whole' }: PageRequest,
): SourcePage {
  const rest = after === null ? filter : between(filter, order, toNanos(after.timestamp), null)
  const found = placesOf(context, { ...inPartsOf(context, rest), order, after, limit: limit + 1 })
  const arrivals = found.slice(0, limit).map(({ arrival }) => arrival)
  const sources = gather(context.contents, arrivals, form)
  const last = found[sources.length - 1]
  const isMore = found.length > sources.length && last !== undefined
  return { sources, next: isMore ? { timestamp: fromNanos(last.nanos), id: last.id } : null }
}

export function get({ database, contents }: StoreContext, team: string, kind: EntryKind, id: string) {
  const found = database
    .prepare(`SELECT arrival FROM entries AS e INDEXED BY entries_by_id WHERE ${HAS_ID} AND team = ? AND kind = ?`)
    .get(...idParameters(storedId(id)), team, KINDS[kind])
  return found && contents.source(Number(found['arrival']))
}

export function tail(
  { database, contents, limits }: StoreContext,
  filter: EntryFilter,
  cursor: TailCursor | null,
  limit: number,
): SourceTail {
  const end = lastArrival(database)
  if (cursor === null) return { entries: [], more: false, cursor: String(end) }
  const after = arrivalOf(cursor)
  if (after > end) throw new TailCursorError('the cursor of the tail is of another file')
  const last = Math.min(end, after + limits.tailArrivals)
  const { from, where } = scanOf(database, { filter, path: { by: 'arrivals', after, last } })
  const arrivals = database
    .all(compose`SELECT e.arrival FROM ${from} WHERE ${where} ORDER BY e.arrival LIMIT ${sql('?', limit)}`)
    .map(({ arrival }) => Number(arrival))
  const sources = gather(contents, arrivals, 'row')
  const entries = sources.map((source, index) => ({ source, cursor: String(arrivals[index]) }))
  const isWhole = sources.length === arrivals.length && arrivals.length < limit
  return {
    entries,
    more: !isWhole || last < end,
    cursor: isWhole ? String(last) : (entries.at(-1)?.cursor ?? cursor),
  }
}

function arrivalOf(cursor: TailCursor): number {
  const arrival = Number(cursor)
  if (!/^\d+$/.test(cursor) || !Number.isSafeInteger(arrival))
    throw new TailCursorError('the cursor of the tail is none of ours')
  return arrival
}

type Order = 'asc' | 'desc'

/** The place of an entry in lists, which order by (timestamp, id), and its arrival. */
interface Place {
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
export function placesOf(context: StoreContext, wanted: Wanted): readonly Place[] {
  const { filter, path } = wanted
  if (path.by !== 'tables') return scannedPlaces(context.database, wanted)
  const near = hasWords(filter.query) ? null : nearPlaces(context, wanted)
  return near ?? placesInTables(context.database, path.tables, wanted)
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

/** The wanted places by one scan of the slice. */
function scannedPlaces(database: Database, wanted: Wanted): readonly Place[] {
  const { filter, path, order, after, limit } = wanted
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
  for (let at = 0, some = 1; at < ordered.length; at += some, some = Math.min(2 * some, TABLES_AT_A_TIME)) {
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

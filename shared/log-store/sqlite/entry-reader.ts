/** Lists, single entries and tails: the functions answer the calls of their names in `LogStoreReader`, but with texts of records. */
import type { EntryKind } from '../../contract/records.ts'
import { mayBeLong, parseRecord, rowOf } from '../../contract/rows.ts'
import { fromNanos } from '../../contract/timestamp.ts'
import {
  type Cursor,
  type EntryFilter,
  PAGE_BYTES_MAX,
  type PageRequest,
  type TailCursor,
  TailCursorError,
} from '../log-store.ts'
import type { Contents } from './contents.ts'
import type { StoreContext } from './context.ts'
import { storedId } from './ids.ts'
import { placesOf } from './places.ts'
import { scanOf } from './scan.ts'
import { KINDS } from './schema.ts'
import { compose, sql } from './sql.ts'
import { lastArrival } from './text-tables.ts'

/** A page of rows also ends early once this many characters were read for it. */
const READ_BYTES_MAX = 16 * 1024 * 1024

/** The record of an entry cut to its row, as text. */
const rowText = (source: string): string => (mayBeLong(source) ? JSON.stringify(rowOf(parseRecord(source))) : source)

/** A page of entries as the text of their records, which is cheaper to pass to another thread than an object. */
export interface SourcePage {
  readonly sources: readonly string[]
  readonly next: Cursor | null
}

export interface SourceTail {
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
  const found = placesOf(context, { filter, order, after, limit: limit + 1 })
  const arrivals = found.slice(0, limit).map(({ arrival }) => arrival)
  const sources = gather(context.contents, arrivals, form)
  const last = found[sources.length - 1]
  const isMore = found.length > sources.length && last !== undefined
  return { sources, next: isMore ? { timestamp: fromNanos(last.nanos), id: last.id } : null }
}

export function get({ database, contents }: StoreContext, team: string, kind: EntryKind, id: string) {
  const found = database
    .prepare('SELECT arrival FROM entries WHERE id = ? AND team = ? AND kind = ?')
    .get(storedId(id), team, KINDS[kind])
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

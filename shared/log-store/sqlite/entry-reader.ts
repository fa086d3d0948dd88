import { parseKeepingDigits } from '../../contract/exact-json.ts'
import type { EntryKind, EntryRecord } from '../../contract/records.ts'
import { mayBeLong, rowOf } from '../../contract/rows.ts'
import { fromNanos } from '../../contract/timestamp.ts'
import {
  type Cursor,
  type EntryFilter,
  PAGE_BYTES_MAX,
  type PageRequest,
  type TailCursor,
  TailCursorError,
} from '../log-store.ts'
import { lastArrival } from './arrivals.ts'
import type { Contents } from './contents.ts'
import { storedId } from './ids.ts'
import { placesOf } from './places.ts'
import { type ReadContext, scanOf } from './scan.ts'
import { KINDS } from './schema.ts'

/** A page of rows also ends early once this many characters were read for it. */
const READ_BYTES_MAX = 16 * 1024 * 1024

/** The record of an entry cut to its row, as text. */
const rowText = (source: string): string =>
  mayBeLong(source) ? JSON.stringify(rowOf(parseKeepingDigits(source) as EntryRecord)) : source

/** Entries are returned as the text of their records, which is cheaper to pass to another thread than an object. */
export interface EntryReader {
  search(filter: EntryFilter, page: PageRequest): SourcePage
  get(team: string, kind: EntryKind, id: string): string | undefined
  tail(filter: EntryFilter, after: TailCursor | null, limit: number): SourceTail
}

export interface SourcePage {
  readonly sources: readonly string[]
  readonly next: Cursor | null
}

export interface SourceTail {
  readonly more: boolean
  readonly entries: readonly { readonly source: string; readonly cursor: TailCursor }[]
  readonly cursor: TailCursor
}

/** The texts of these entries up to the first that would make the page too long, at least one. Only in `Database.read`. */
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

export function createEntryReader(context: ReadContext): EntryReader {
  const { database, contents, limits } = context
  const searchPage = (filter: EntryFilter, { limit, order, after, form = 'whole' }: PageRequest): SourcePage => {
    const found = placesOf(context, { filter, order, after, limit: limit + 1 })
    const sources = gather(
      contents,
      found.slice(0, limit).map(({ arrival }) => arrival),
      form,
    )
    const last = found[sources.length - 1]
    return {
      sources,
      next:
        found.length > sources.length && last !== undefined ? { timestamp: fromNanos(last.nanos), id: last.id } : null,
    }
  }

  const tailFrom = (filter: EntryFilter, after: number, limit: number): SourceTail => {
    const end = lastArrival(database)
    if (after > end) throw new TailCursorError('the cursor of the tail is of another file')
    const last = Math.min(end, after + limits.tailArrivals)
    const { from, where } = scanOf(database, { filter, path: { by: 'arrivals', after, last } })
    const arrivals = database
      .prepare(`SELECT e.arrival FROM ${from} WHERE ${where.text} ORDER BY e.arrival LIMIT ?`)
      .all(...where.values, limit)
      .map(({ arrival }) => Number(arrival))
    const sources = gather(contents, arrivals, 'row')
    const entries = sources.map((source, index) => ({ source, cursor: String(arrivals[index]) }))
    const isWhole = sources.length === arrivals.length && arrivals.length < limit
    return {
      entries,
      more: !isWhole || last < end,
      cursor: isWhole ? String(last) : (entries.at(-1)?.cursor ?? String(after)),
    }
  }

  return {
    search: (filter, page) => database.read(() => searchPage(filter, page)),
    get: (team, kind, id) =>
      database.read(() => {
        const found = database
          .prepare('SELECT arrival FROM entries WHERE id = ? AND team = ? AND kind = ?')
          .get(storedId(id), team, KINDS[kind])
        return found && contents.source(Number(found['arrival']))
      }),
    tail: (filter, after, limit) =>
      database.read(() =>
        after === null
          ? { entries: [], more: false, cursor: String(lastArrival(database)) }
          : tailFrom(filter, arrivalOf(after), limit),
      ),
  }
}

function arrivalOf(cursor: TailCursor): number {
  const arrival = Number(cursor)
  if (!/^\d+$/.test(cursor) || !Number.isSafeInteger(arrival))
    throw new TailCursorError('the cursor of the tail is none of ours')
  return arrival
}

import type { Entry } from '../../schemas/answers.ts'
import { iso } from '../lib/times.ts'

export type Order = 'desc' | 'asc'

/** The loaded entries: all matching ones from the first on, in order. */
export interface Rows {
  readonly entries: readonly Entry[]
  readonly order: Order
  /** The beginning of the range, which a tail does not know; undefined for none. */
  readonly from: string | undefined
  /** The parameters that request the rows after the last loaded one; null if there are no more. */
  readonly next: Readonly<Record<string, string>> | null
}

/** Maximum number of rows kept while a tail is followed. Older rows are dropped, and loaded again when the reader scrolls to them. */
export const FOLLOWED_MAX = 5_000

/**
 * Adds an entry to those of a tail that wait for their list. The oldest beyond what a list keeps are dropped: the list is read after they
 * came, and shows them when the reader scrolls to them.
 */
export function queue(waiting: Entry[], entry: Entry): void {
  waiting.push(entry)
  if (waiting.length > FOLLOWED_MAX) waiting.shift()
}

export const NO_ROWS: Rows = { entries: [], order: 'desc', from: undefined, next: null }

/** A key that sorts by time and id, regardless of how many fractional digits a timestamp has (3 to 9 in the API). */
const placeOf = (timestamp: string, id = ''): string => timestamp.slice(0, -1).padEnd(29, '0') + id

/** Appends a page to the rows. */
export const withPage = (rows: Rows, page: readonly Entry[], next: Rows['next']): Rows => ({
  ...rows,
  entries: [...rows.entries, ...unseen(rows.entries, page)],
  next,
})

/** The entries that are not yet known, without duplicates. */
function unseen(known: readonly Entry[], entries: readonly Entry[]): readonly Entry[] {
  const ids = new Set(known.map(({ id }) => id))
  return entries.filter(({ id }) => !ids.has(id) && ids.add(id))
}

/** Maximum number of entries held back. */
export const HELD_MAX = 1_000

/** A list that a tail continues, newest first. */
export interface Followed {
  readonly rows: Rows
  /** Entries from the tail, held back so as not to disturb the reader. */
  readonly held: readonly Entry[]
  /** The number of held entries, including those dropped beyond the maximum; if any were dropped, the list has to be reloaded. */
  readonly heldCount: number
  /** How many arrived outside the loaded rows: loading more rows, or another range, shows them. */
  readonly elsewhere: number
}

export const NOTHING_FOLLOWED: Followed = { rows: NO_ROWS, held: [], heldCount: 0, elsewhere: 0 }

/**
 * Adds arrived entries without duplicates: inserted in order, or held back while the reader must not be disturbed. Excess rows at the end
 * are dropped and will be loaded next. A tail has no range, so entries before that of the rows count as elsewhere.
 */
export function follow<List extends Followed>(list: List, arrived: readonly Entry[], paused: boolean): List {
  const { rows, held, heldCount, elsewhere } = list
  const fresh = unseen([...rows.entries, ...held], arrived)
  const last = rows.next === null ? undefined : rows.entries.at(-1)
  const least = last === undefined ? '' : placeOf(last.timestamp, last.id)
  const within = fresh.filter(({ timestamp, id }) => {
    const place = placeOf(timestamp, id)
    return place >= placeOf(rows.from ?? '') && place >= least
  })
  const next = { ...list, elsewhere: elsewhere + fresh.length - within.length }
  if (paused) return { ...next, held: [...held, ...within].slice(0, HELD_MAX), heldCount: heldCount + within.length }
  const entries = merged(rows.entries, within)
  return { ...next, rows: entries.length > FOLLOWED_MAX ? shortened(rows, entries) : { ...rows, entries } }
}

/** Merges rows and fresh entries, newest first. Fresh entries are mostly the newest, so that only the first rows are compared. */
function merged(rows: readonly Entry[], fresh: readonly Entry[]): readonly Entry[] {
  const all: Entry[] = []
  let at = 0
  const sorted = fresh
    .map((entry) => ({ entry, place: placeOf(entry.timestamp, entry.id) }))
    .sort((a, b) => (a.place < b.place ? 1 : -1))
  for (const { entry, place } of sorted) {
    for (let row = rows[at]; row !== undefined && placeOf(row.timestamp, row.id) > place; row = rows[at]) {
      all.push(row)
      at += 1
    }
    all.push(entry)
  }
  return [...all, ...rows.slice(at)]
}

function shortened(rows: Rows, all: readonly Entry[]): Rows {
  const entries = all.slice(0, FOLLOWED_MAX)
  // More rows may share the last row's millisecond; duplicates are dropped when the page arrives.
  return { ...rows, entries, next: { to: iso(Date.parse(entries.at(-1)?.timestamp ?? '') + 1) } }
}

/** Inserts the held entries; undefined if some were dropped and the list has to be reloaded. */
export const released = <List extends Followed>(list: List): List | undefined =>
  list.heldCount > list.held.length ? undefined : follow({ ...list, held: [], heldCount: 0 }, list.held, false)

/**
 * Applies a repeated read of the first page: adds its new entries or, if they exceed a page, marks the list as incomplete so that it is
 * reloaded. Further loaded rows stay, as does the reader's position.
 */
export function readAgain<List extends Followed>(
  list: List,
  page: readonly Entry[],
  next: Rows['next'],
  paused: boolean,
): List {
  const { rows, held, heldCount } = list
  // In ascending order, new entries are on the last page.
  if (rows.order === 'asc') return rows.next === null ? { ...list, rows: { ...rows, entries: page, next } } : list
  const fresh = unseen([...rows.entries, ...held], page).length
  return next === null || fresh < page.length ? follow(list, page, paused) : { ...list, heldCount: heldCount + fresh }
}

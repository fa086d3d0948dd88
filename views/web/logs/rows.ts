import type { Entry } from '../../schemas/answers.ts'
import { iso } from '../lib/times.ts'

export type Order = 'desc' | 'asc'

/** The entries that are there: all that match from the first one on, in their order. */
export interface Rows {
  readonly entries: readonly Entry[]
  readonly order: Order
  /** The parameters that ask for the rows after the last; null where it is the last of all. */
  readonly next: Readonly<Record<string, string>> | null
}

/** The most rows that a tail leaves in memory. Older ones go, and are read again where one goes down to them. */
export const FOLLOWED_MAX = 5_000

export const NO_ROWS: Rows = { entries: [], order: 'desc', next: null }

/** A key that sorts by time and id, whatever number of digits a timestamp has below seconds: the API's have 3 to 9. */
const placeOf = (timestamp: string, id = ''): string => timestamp.slice(0, -1).padEnd(29, '0') + id

/** The rows with a page after the last one. */
export const withPage = (rows: Rows, page: readonly Entry[], next: Rows['next']): Rows => ({
  ...rows,
  entries: [...rows.entries, ...unseen(rows.entries, page)],
  next,
})

/** The entries that are not known, each once. */
export function unseen(known: readonly Entry[], entries: readonly Entry[]): readonly Entry[] {
  const ids = new Set(known.map(({ id }) => id))
  return entries.filter(({ id }) => !ids.has(id) && ids.add(id))
}

/** The most entries that are held back. */
export const HELD_MAX = 1_000

/** A list that a tail goes on, newest first. */
export interface Followed {
  readonly rows: Rows
  /** Entries that a tail brought while its reader was not to be disturbed. */
  readonly held: readonly Entry[]
  /** How many these are with those that were too many to hold: then the list has to be read again. */
  readonly heldCount: number
  /** How many arrived whose place is not in sight: reading on finds them, or another range. */
  readonly elsewhere: number
}

export const NOTHING_FOLLOWED: Followed = { rows: NO_ROWS, held: [], heldCount: 0, elsewhere: 0 }

/**
 * The list with what arrived, each once: put in its place, or held back while its reader is not to be disturbed. Rows at the end
 * that are too many go, and are the next to be read. A tail knows no range, so what happened before `from` is somewhere else.
 */
export function follow(list: Followed, arrived: readonly Entry[], paused: boolean, from = ''): Followed {
  const { rows, held, heldCount, elsewhere } = list
  const fresh = unseen([...rows.entries, ...held], arrived)
  const last = rows.next === null ? undefined : rows.entries.at(-1)
  const least = last === undefined ? '' : placeOf(last.timestamp, last.id)
  const within = fresh.filter(({ timestamp, id }) => {
    const place = placeOf(timestamp, id)
    return place >= placeOf(from) && place >= least
  })
  const next = { ...list, elsewhere: elsewhere + fresh.length - within.length }
  if (paused) return { ...next, held: [...held, ...within].slice(0, HELD_MAX), heldCount: heldCount + within.length }
  const entries = merged(rows.entries, within)
  return { ...next, rows: entries.length > FOLLOWED_MAX ? shortened(rows, entries) : { ...rows, entries } }
}

/** Rows and fresh entries, newest first. What is fresh is new in most cases, so that only the first rows are compared. */
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
  // Of the last row's millisecond there may be more; rows that are there already are left out of the page.
  return { ...rows, entries, next: { to: iso(Date.parse(entries.at(-1)?.timestamp ?? '') + 1) } }
}

/** The list with what was held back; undefined where it has to be read again to have all of it. */
export const released = (list: Followed): Followed | undefined =>
  list.heldCount > list.held.length ? undefined : follow({ ...list, held: [], heldCount: 0 }, list.held, false)

/**
 * The list after its first page was read again: with what is new on it, or, where that is more than a page, with the word that all has to be
 * read again. What was read on stays, and so does one's place.
 */
export function readAgain(
  list: Followed,
  page: readonly Entry[],
  next: Rows['next'],
  paused: boolean,
  from?: string,
): Followed {
  const { rows, held, heldCount } = list
  // In the order of the oldest first, new entries are on the last page.
  if (rows.order === 'asc') return rows.next === null ? { ...list, rows: { ...rows, entries: page, next } } : list
  const fresh = unseen([...rows.entries, ...held], page).length
  return next === null || fresh < page.length
    ? follow(list, page, paused, from)
    : { ...list, heldCount: heldCount + fresh }
}

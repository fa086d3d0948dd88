import type { Entry } from '../api/types.ts'

export type Order = 'desc' | 'asc'

/** The entries in sight: a window on all that match, in their order. */
export interface Rows {
  readonly entries: readonly Entry[]
  readonly order: Order
  /** Whether there are more before the first and after the last. */
  readonly moreBefore: boolean
  readonly moreAfter: boolean
}

/** The most rows in sight; beyond, those at the other end go. */
export const ROWS_MAX = 800

export const NO_ROWS: Rows = { entries: [], order: 'desc', moreBefore: false, moreAfter: false }

/** Below zero where `a` stands before `b` in the order of the list: by (timestamp, id). */
function compare(a: Entry, b: Entry, order: Order): number {
  const [one, other] = [sortable(a.timestamp) + a.id, sortable(b.timestamp) + b.id]
  return one === other ? 0 : one < other === (order === 'asc') ? -1 : 1
}

/** A canonical timestamp as a text that stands in the order of time, whatever follows it: the API's have 3 to 9 digits below seconds. */
const sortable = (timestamp: string): string => timestamp.slice(0, -1).padEnd(29, '0')

/** The rows with a page after the last one; rows in front that are too many go. */
export function withAfter(rows: Rows, page: readonly Entry[], moreAfter: boolean): Rows {
  const entries = unseen(rows.entries, page)
  const all = [...rows.entries, ...entries]
  const surplus = Math.max(0, all.length - ROWS_MAX)
  return { ...rows, entries: all.slice(surplus), moreBefore: rows.moreBefore || surplus > 0, moreAfter }
}

/** The rows with a page before the first one; rows at the end that are too many go. */
export function withBefore(rows: Rows, page: readonly Entry[], moreBefore: boolean): Rows {
  const all = [...unseen(rows.entries, page), ...rows.entries]
  const surplus = all.length > ROWS_MAX
  return { ...rows, entries: all.slice(0, ROWS_MAX), moreBefore, moreAfter: rows.moreAfter || surplus }
}

/**
 * The rows with entries that arrived, each once and in its place. Those whose place is outside the window are not put in, and
 * counted in `elsewhere`: reading on finds them.
 */
export function withArrived(
  rows: Rows,
  arrived: readonly Entry[],
): { readonly rows: Rows; readonly added: readonly Entry[]; readonly elsewhere: number } {
  const fresh = unseen(rows.entries, arrived)
  const first = rows.entries[0]
  const last = rows.entries.at(-1)
  const added = fresh.filter((entry) => {
    const before = first !== undefined && rows.moreBefore && compare(entry, first, rows.order) < 0
    const after = last !== undefined && rows.moreAfter && compare(entry, last, rows.order) > 0
    return !before && !after
  })
  const elsewhere = fresh.length - added.length
  if (added.length === 0) return { rows, added, elsewhere }
  const all = [...rows.entries, ...added].sort((a, b) => compare(a, b, rows.order))
  // What arrives live stands in front, so what goes is at the end.
  const surplus = all.length > ROWS_MAX
  const next = { ...rows, entries: all.slice(0, ROWS_MAX), moreAfter: rows.moreAfter || surplus }
  return { rows: next, added, elsewhere }
}

/** Those that are not known, each once. */
export function unseen(known: readonly Entry[], entries: readonly Entry[]): readonly Entry[] {
  const ids = new Set(known.map(({ id }) => id))
  return entries.filter(({ id }) => !ids.has(id) && ids.add(id))
}

/** What a tail brought while its reader was not to be disturbed. */
export interface Held {
  readonly entries: readonly Entry[]
  /** All that came, also what was let go because it was too much to hold: then the list has to be read again. */
  readonly count: number
}

/** The most entries that are held back. */
export const HELD_MAX = 1_000

export const NOTHING_HELD: Held = { entries: [], count: 0 }

export function hold(held: Held, arrived: readonly Entry[]): Held {
  const fresh = unseen(held.entries, arrived)
  const entries = [...held.entries, ...fresh]
  return { entries: entries.slice(0, HELD_MAX), count: held.count + fresh.length }
}

/** A list that a tail goes on: its rows, what is held back, and how many arrived whose place is not in sight. */
export interface Followed {
  readonly rows: Rows
  readonly held: Held
  readonly elsewhere: number
}

/**
 * The list with what arrived: put in, or held back while its reader is not to be disturbed or where the newest rows are not in
 * sight. A tail knows no range, so what happened before `from` is somewhere else.
 */
export function follow(
  { rows, held, elsewhere }: Followed,
  arrived: readonly Entry[],
  { paused, from }: { readonly paused: boolean; readonly from: string | undefined },
): Followed {
  const fresh = unseen(rows.entries, arrived)
  const within = fresh.filter(({ timestamp }) => from === undefined || sortable(timestamp) >= sortable(from))
  const outside = elsewhere + fresh.length - within.length
  if (paused || rows.moreBefore) return { rows, held: hold(held, within), elsewhere: outside }
  const next = withArrived(rows, within)
  return { rows: next.rows, held, elsewhere: outside + next.elsewhere }
}

/** The list with what was held back; undefined where it has to be read again to have all of it. */
export function released({ rows, held, elsewhere }: Followed): Followed | undefined {
  if (rows.moreBefore || held.count > held.entries.length) return undefined
  const next = withArrived(rows, held.entries)
  return { rows: next.rows, held: NOTHING_HELD, elsewhere: elsewhere + next.elsewhere }
}

/** Removal in steps, each a short transaction, so that writes and reads continue in between. */
import type { SQLOutputValue } from 'node:sqlite'
import { toNanos } from '../../contract/timestamp.ts'
import { removeContents } from './contents.ts'
import type { StoreContext } from './context.ts'
import type { Database } from './database.ts'
import { MINUTE_CHARACTERS } from './flow-writer.ts'
import { entriesBy } from './names.ts'
import { COUNTED_COLUMNS, countedEntry, subtractCounts } from './rollups.ts'
import { RECEIVED } from './sources.ts'
import { beginTextTable, dropTextTable, lastArrival, type TextTable, textTables } from './text-tables.ts'

const DOCUMENTS_OF_A_STEP = 500
const FLOWS_OF_A_STEP = 500
/** This many short rows are searched in a few milliseconds. */
const ARRIVALS_OF_A_STEP = 50_000
/** The oldest documents are removed table by table, so a table should be a small part of the limit. */
const TABLES_OF_A_LIMIT = 8
const RECEIVED_MINUTE = `strftime('%FT%H:%M', ${RECEIVED} / 1000000000, 'unixepoch')`
const SELECT_ENTRY = `SELECT ${COUNTED_COLUMNS}, correlation_key, ${RECEIVED_MINUTE} AS received_minute
  FROM ${entriesBy('')} WHERE e.arrival = ?`
/** Deletes the flow of a removed entry that was its last one. A flow of which entries are still to come was received later. */
const DELETE_ITS_FLOW = `DELETE FROM flows WHERE team = $team AND key = $key
  AND last_day <= $minute AND length(last_day) = ${MINUTE_CHARACTERS}
  AND NOT EXISTS (SELECT 1 FROM entries WHERE team = $team AND correlation_key = $key)`

/** Removes entries with all that counts and shows them; returns their facts. */
function removeArrivals(context: StoreContext, arrivals: readonly number[]) {
  const { database } = context
  const removed = arrivals.flatMap((arrival) => {
    const row = database.prepare(SELECT_ENTRY).get(arrival)
    database.prepare('DELETE FROM entries WHERE arrival = ?').run(arrival)
    return row === undefined ? [] : [readRemoved(row)]
  })
  removeContents(database, arrivals)
  subtractCounts(context, removed)
  return removed
}

/**
 * Among arrivals after `after`, removes documents received before the day (yyyy-mm-dd, UTC). `next` is the arrival after which the next step
 * begins; null if nothing is left to do.
 */
export function removeDocumentsBefore(
  context: StoreContext,
  day: string,
  after: number,
): { readonly removed: number; readonly next: number | null } {
  const { database } = context
  const last = lastArrival(database)
  const end = Math.min(after + ARRIVALS_OF_A_STEP, last)
  const found = database
    .prepare(
      `SELECT arrival FROM entries NOT INDEXED WHERE arrival > ? AND arrival <= ? AND ${RECEIVED} < ? ORDER BY arrival LIMIT ?`,
    )
    .all(after, end, toNanos(`${day}T00:00:00.000Z`), DOCUMENTS_OF_A_STEP)
    .map(({ arrival }) => Number(arrival))
  removeArrivals(context, found)
  const reached = found.length === DOCUMENTS_OF_A_STEP ? (found.at(-1) ?? end) : end
  return { removed: found.length, next: reached < last ? reached : null }
}

/** Removes flows whose last entry was received before the day or minute and that have no entries left. Returns how many. */
export function removeFlowsBefore({ database }: StoreContext, time: string): number {
  // Of a row with only a day, the last entry may have been received at the end of it.
  const { changes } = database
    .prepare(`DELETE FROM flows WHERE (team, key) IN (
      SELECT team, key FROM flows INDEXED BY flows_by_day WHERE last_day < ?1
      AND (length(last_day) = ${MINUTE_CHARACTERS} OR last_day < substr(?1, 1, 10))
      AND NOT EXISTS (SELECT 1 FROM entries WHERE team = flows.team AND correlation_key = flows.key) LIMIT ?2)`)
    .run(time, FLOWS_OF_A_STEP)
  return Number(changes)
}

/** Drops one full-text table without remaining documents; false if there is none. */
export function dropEmptyTextTable({ database }: StoreContext): boolean {
  const empty = textTables(database)
    .slice(0, -1)
    .find((table) => arrivalsOf(database, table, 1).length === 0)
  if (empty !== undefined) dropTextTable(database, empty)
  return empty !== undefined
}

const arrivalsOf = (database: Database, { firstArrival, nextArrival }: TextTable, limit: number): readonly number[] =>
  database
    .prepare('SELECT arrival FROM entries NOT INDEXED WHERE arrival >= ? AND arrival < ? ORDER BY arrival LIMIT ?')
    .all(firstArrival, nextArrival, limit)
    .map(({ arrival }) => Number(arrival))

/**
 * If the file uses more than `bytesMax` bytes, removes flows of which nothing else is left, then the documents that arrived first. `more`:
 * whether there may be another step.
 */
export function createRemoveOldest() {
  /** The minute before which no flow without entries was left; looked for once, as that is a search of all flows before it. */
  let clearedBefore = ''

  return (context: StoreContext, bytesMax: number): { readonly removed: number; readonly more: boolean } => {
    const { database } = context
    const used = usedBytes(database)
    const tables = textTables(database)
    splitForLimit(database, tables, used, bytesMax)
    const [oldest] = tables
    if (used <= bytesMax || oldest === undefined) return { removed: 0, more: false }
    const first = firstReceived(database)
    if (first !== null && first !== clearedBefore) {
      if (removeFlowsBefore(context, first) > 0) return { removed: 0, more: true }
      clearedBefore = first
    }
    const arrivals = arrivalsOf(database, oldest, DOCUMENTS_OF_A_STEP)
    for (const { values, key, receivedMinute: minute } of removeArrivals(context, arrivals)) {
      // Within a minute, its flows would otherwise stay while its entries go, and take their room.
      if (key !== null) database.prepare(DELETE_ITS_FLOW).run({ team: values[0] ?? null, key, minute })
    }
    if (arrivals.length < DOCUMENTS_OF_A_STEP && tables.length > 1) dropTextTable(database, oldest)
    return { removed: arrivals.length, more: tables.length > 1 || arrivals.length > 0 }
  }
}

/** The minute in which the first of the documents was received; null if there is none, and if a clock was ahead then. */
function firstReceived(database: Database): string | null {
  const minuteOf = (order: 'ASC' | 'DESC'): string => {
    const select = `SELECT ${RECEIVED_MINUTE} AS minute FROM entries ORDER BY arrival ${order} LIMIT 1`
    return String(database.prepare(select).get()?.['minute'] ?? '')
  }
  const first = minuteOf('ASC')
  return first !== '' && first <= minuteOf('DESC') ? first : null
}

const readRemoved = (row: Readonly<Record<string, SQLOutputValue>>) => ({
  ...countedEntry(row),
  key: row['correlation_key'] ?? null,
  receivedMinute: row['received_minute'] ?? null,
})

/** The file never shrinks, but its free pages are reused, so only the others count. */
function usedBytes(database: Database): number {
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
}

/** Begins a new table if the last one has grown beyond a small part of the limit. */
function splitForLimit(database: Database, tables: readonly TextTable[], used: number, bytesMax: number): void {
  const current = tables.at(-1)
  const last = lastArrival(database)
  if (current === undefined || last < current.firstArrival) return
  const first = database.prepare('SELECT min(arrival) AS arrival FROM entries').get()?.['arrival']
  const kept = last - Number(first ?? last) + 1
  const share = (used / kept) * (last - current.firstArrival + 1)
  if (share > bytesMax / TABLES_OF_A_LIMIT) beginTextTable(database, current.number + 1, last + 1)
}

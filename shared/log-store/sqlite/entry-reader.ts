import type { EntryKind } from '../../contract/records.ts'
import { fromNanos, toNanos } from '../../contract/timestamp.ts'
import type { Cursor, EntryFilter, PageRequest, TailCursor } from '../log-store.ts'
import type { Database } from './database.ts'
import { lastArrival } from './entry-writer.ts'
import { idText, storedId } from './ids.ts'
import type { StoreLimits } from './limits.ts'
import { KINDS, kindsOf, type Select, type Selection, whereKinds } from './selection.ts'
import { allOf, type Sql, sql } from './sql.ts'

/** Entries come out as the text of their records, which costs less to hand to another thread than an object. */
export interface EntryReader {
  search(filter: EntryFilter, page: PageRequest): SourcePage
  get(team: string, kind: EntryKind, id: string): string | undefined
  count(filter: EntryFilter): number
  tail(filter: EntryFilter, after: TailCursor | null, limit: number): SourceTail
}

export interface SourcePage {
  readonly sources: readonly string[]
  readonly next: Cursor | null
}

export interface SourceTail {
  readonly entries: readonly { readonly source: string; readonly cursor: TailCursor }[]
  readonly cursor: TailCursor
}

export function createEntryReader(database: Database, select: Select, limits: StoreLimits): EntryReader {
  const sourceOf = (arrival: unknown): string =>
    String(database.prepare('SELECT source FROM contents WHERE arrival = ?').get(Number(arrival))?.['source'])

  const searchPage = (filter: EntryFilter, { limit, order, after }: PageRequest): SourcePage => {
    const found = placesOf(database, filter, select(filter), order, after, limit + 1)
    const page = found.slice(0, limit)
    const last = page.at(-1)
    return {
      sources: page.map(({ arrival }) => sourceOf(arrival)),
      next: found.length > limit && last !== undefined ? { timestamp: fromNanos(last.nanos), id: last.id } : null,
    }
  }

  const countAll = (filter: EntryFilter): number => {
    const selection = select(filter)
    const { text, values } = whereKinds(selection, kindsOf(filter))
    const counted = database.prepare(`SELECT count(*) AS count FROM ${selection.from} WHERE ${text}`).get(...values)
    return Number(counted?.['count'])
  }

  const tailFrom = (filter: EntryFilter, after: number, limit: number): SourceTail => {
    const last = Math.min(lastArrival(database), after + limits.tailArrivals)
    const selection = select(filter, { after, last })
    const { text, values } = whereKinds(selection, kindsOf(filter))
    const entries = database
      .prepare(`SELECT e.arrival FROM ${selection.from} WHERE ${text} ORDER BY e.arrival LIMIT ?`)
      .all(...values, limit)
      .map(({ arrival }) => ({ source: sourceOf(arrival), cursor: String(arrival) }))
    const full = entries.length === limit ? entries.at(-1)?.cursor : undefined
    return { entries, cursor: full ?? String(Math.max(after, last)) }
  }

  return {
    search: (filter, page) => database.read(() => searchPage(filter, page)),
    get: (team, kind, id) =>
      database.read(() => {
        const found = database
          .prepare('SELECT arrival FROM entries WHERE id = ? AND team = ? AND kind = ?')
          .get(storedId(id), team, KINDS[kind])
        return found && sourceOf(found['arrival'])
      }),
    count: (filter) => database.read(() => countAll(filter)),
    tail: (filter, after, limit) =>
      database.read(() =>
        after === null
          ? { entries: [], cursor: String(lastArrival(database)) }
          : tailFrom(filter, arrivalOf(after), limit),
      ),
  }
}

function arrivalOf(cursor: TailCursor): number {
  const arrival = Number(cursor)
  if (!/^\d+$/.test(cursor) || !Number.isSafeInteger(arrival))
    throw new RangeError('the cursor of the tail is none of ours')
  return arrival
}

export interface Place {
  readonly arrival: number
  readonly nanos: bigint
  readonly id: string
}

/** The first matches after a place, in order. In `Database.read` only. */
export function placesOf(
  database: Database,
  filter: EntryFilter,
  selection: Selection,
  order: 'asc' | 'desc',
  after: Cursor | null,
  limit: number,
): readonly Place[] {
  const columns = 'e.arrival AS arrival, e.timestamp AS timestamp, e.id AS id'
  const beyond: readonly Sql[] =
    after === null
      ? []
      : [sql(`(e.timestamp, e.id) ${order === 'asc' ? '>' : '<'} (?, ?)`, toNanos(after.timestamp), storedId(after.id))]
  const kinds = kindsOf(filter)
  // By time, entries lie in order kind by kind: each kind gives its first ones without sorting.
  const parts = (selection.byTime ? kinds.map((kind) => [kind]) : [kinds]).map((some): Sql => {
    const { text, values } = allOf([whereKinds(selection, some), ...beyond])
    const ordered = `ORDER BY e.timestamp ${order}, e.id ${order} LIMIT ?`
    return sql(`SELECT * FROM (SELECT ${columns} FROM ${selection.from} WHERE ${text} ${ordered})`, ...values, limit)
  })
  const union = parts.map(({ text }) => text).join(' UNION ALL ')
  const statement = database.prepare(`SELECT arrival, CAST(timestamp AS TEXT) AS nanos, id FROM (${union})
    ORDER BY timestamp ${order}, id ${order} LIMIT ?`)
  return statement.all(...parts.flatMap(({ values }) => values), limit).map(({ arrival, nanos, id }) => ({
    arrival: Number(arrival),
    nanos: BigInt(String(nanos)),
    id: idText(id),
  }))
}

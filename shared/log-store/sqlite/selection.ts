import { levelRank } from '../../contract/levels.ts'
import type { EntryKind } from '../../contract/records.ts'
import { toNanos } from '../../contract/timestamp.ts'
import type { Query } from '../../query/ast.ts'
import type { EntryFilter } from '../log-store.ts'
import { categoryOrBelow, compileQuery } from './compile-query.ts'
import { type Database, goOn } from './database.ts'
import { storedId } from './ids.ts'
import type { StoreLimits } from './limits.ts'
import { allOf, FALSE, type Sql, sql } from './sql.ts'
import { type ArrivalRange, selectMatching, textTables } from './text-tables.ts'

/**
 * The entries that a filter selects, as a FROM and a WHERE over `entries AS e`. SQLite knows nothing of how many documents a word finds,
 * so the way to the entries is chosen here and not by its planner:
 *
 * - by the id or the correlationKey where the filter names one,
 * - by the full-text index where it finds few (it is asked),
 * - along the arrivals of a range, for a tail,
 * - otherwise by time.
 */
export interface Selection {
  readonly from: string
  readonly where: Sql
  /** Whether `from` yields the entries of one kind in the order of (timestamp, id). */
  readonly byTime: boolean
}

export const KINDS = { event: 0, application: 1 } as const satisfies Record<EntryKind, number>

const GO_ON = sql(goOn('e.arrival'))

/** The selection of a filter, of the arrivals of a range where there is one. In `Database.read` only. The kinds are left to the caller. */
export type Select = (filter: EntryFilter, range?: ArrivalRange) => Selection

export const createSelect =
  (database: Database, limits: StoreLimits): Select =>
  (filter, range) =>
    selectEntries(database, limits, filter, range ?? null)

function selectEntries(
  database: Database,
  limits: StoreLimits,
  filter: EntryFilter,
  range: ArrivalRange | null,
): Selection {
  const tables = textTables(database)
  const arrivals = (expression: string): Sql | null => selectMatching(expression, tables, range)
  // A unary plus keeps SQLite from using the condition to find entries: it only checks them.
  const matching = (expression: string, prefix = '+'): Sql => {
    const selected = arrivals(expression)
    return selected === null ? FALSE : sql(`${prefix}e.arrival IN (${selected.text})`, ...selected.values)
  }
  const { match, rest } = compileQuery(filter.query, (expression) => matching(expression))
  const conditions = [...filterConditions(filter), rest]
  const selection = (from: string, way: readonly Sql[], checks: readonly Sql[], byTime = false): Selection => ({
    from: `entries AS e ${from}`,
    where: allOf([GO_ON, ...way, ...conditions, ...checks]),
    byTime,
  })
  const check = match === null ? [] : [matching(match)]
  if (range !== null) {
    return selection('NOT INDEXED', [sql('e.arrival > ? AND e.arrival <= ?', range.after, range.last)], check)
  }
  const id = pinned(filter.query, 'id')
  if (id !== null) return selection('INDEXED BY entries_by_id', [sql('e.id = ?', storedId(id))], check)
  const key = filter.correlationKey ?? pinned(filter.query, 'correlationKey')
  if (key !== null) return selection('INDEXED BY entries_by_flow', [sql('e.correlation_key = ?', key)], check)
  if (match !== null && isFew(database, arrivals(match), limits.fewMatches))
    return selection('NOT INDEXED', [matching(match, '')], [])
  return selection('INDEXED BY entries_by_time', [], check, true)
}

/** The text that every match has in this field, or null where there is none. */
function pinned(query: Query, field: 'id' | 'correlationKey'): string | null {
  if (query.type === 'equals') return query.field === field && !query.prefix ? query.value : null
  if (query.type !== 'and') return null
  return query.queries.map((one) => pinned(one, field)).find((value) => value !== null) ?? null
}

function isFew(database: Database, arrivals: Sql | null, fewMatches: number): boolean {
  if (arrivals === null) return true
  const counted = `SELECT count(*) AS count FROM (SELECT rowid FROM (${arrivals.text}) LIMIT ${fewMatches + 1})`
  return Number(database.prepare(counted).get(...arrivals.values)?.['count']) <= fewMatches
}

function filterConditions(filter: EntryFilter): readonly Sql[] {
  const equal = (column: string, value: string | null): readonly Sql[] =>
    value === null ? [] : [sql(`e.${column} = ?`, value)]
  return [
    sql('e.team = ?', filter.team),
    ...(filter.from === null ? [] : [sql('e.timestamp >= ?', toNanos(filter.from))]),
    ...(filter.to === null ? [] : [sql('e.timestamp < ?', toNanos(filter.to))]),
    ...(filter.levelMin === null ? [] : [sql('e.level >= ?', levelRank(filter.levelMin))]),
    ...(filter.levelMax === null ? [] : [sql('e.level <= ?', levelRank(filter.levelMax))]),
    ...equal('environment', filter.environment),
    ...equal('correlation_key', filter.correlationKey),
    ...equal('event', filter.event),
    ...equal('step', filter.step),
    ...equal('project', filter.project),
    ...(filter.category === null ? [] : [categoryOrBelow(filter.category)]),
  ]
}

/** The kinds that a filter names, each once; all where it names none. */
export function kindsOf({ kinds }: EntryFilter): readonly number[] {
  return kinds.length === 0 ? Object.values(KINDS) : [...new Set(kinds.map((kind) => KINDS[kind]))]
}

/** A WHERE with the kinds of the filter. */
export function whereKinds(selection: Selection, kinds: readonly number[]): Sql {
  return allOf([selection.where, sql(`e.kind IN (${kinds.join(', ')})`)])
}

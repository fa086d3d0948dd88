import { levelRank } from '../../contract/levels.ts'
import { toNanos } from '../../contract/timestamp.ts'
import type { Query } from '../../query/ast.ts'
import type { EntryFilter } from '../log-store.ts'
import { categoryOrBelow, compileQuery, hasWords } from './compile-query.ts'
import { type Database, goOn } from './database.ts'
import { storedFingerprint, storedId } from './ids.ts'
import type { StoreLimits } from './limits.ts'
import { uncountedAfter } from './rollups.ts'
import { KINDS } from './schema.ts'
import { allOf, anyOf, FALSE, type Sql, sql } from './sql.ts'
import {
  type ArrivalRange,
  hasAllWords,
  selectMatching,
  type TextTable,
  type TimedTable,
  tablesWithin,
  textTables,
  timedTables,
} from './text-tables.ts'

/**
 * The entries that a filter selects, as a FROM and a WHERE over `entries AS e`. SQLite cannot know how many documents a word finds, so
 * the access path is chosen here and not by its planner:
 *
 * - by the id or the correlationKey if the filter names one,
 * - through the full-text tables that may have entries of the filter's range, or some of them for a part of a list (places.ts),
 * - along the arrivals of a range, for a tail,
 * - otherwise by time.
 */
export interface Selection {
  readonly from: string
  readonly where: Sql
  /** Whether `from` yields the entries of one kind in the order of (timestamp, id). */
  readonly byTime: boolean
}

const GO_ON = sql(goOn('e.arrival'))

/**
 * The selection of a filter, limited to a range of arrivals or to some full-text tables if given; with `byTime` it searches no full-text
 * table for its entries. Only in `Database.read`. The caller adds the kinds.
 */
export type Select = (filter: EntryFilter, part?: Part) => Selection

type Part = ArrivalRange | readonly TimedTable[] | 'byTime'

export const createSelect =
  (database: Database, limits: StoreLimits): Select =>
  (filter, part) =>
    selectEntries(database, limits, filter, part ?? null)

/** Selections that together have each entry of a filter once. Only in `Database.read`. */
export type SelectParts = (filter: EntryFilter, arrivals?: ArrivalRange) => readonly Selection[]

/** Full-text tables of a part: SQLite gathers the matches of a part before it reads their entries, which takes longer the more there are. */
const TABLES_OF_A_PART = 4

/** Matches that are counted need no order, so those of words come in parts. */
export const createSelectParts =
  (database: Database, limits: StoreLimits, select: Select): SelectParts =>
  (filter, arrivals) => {
    const counted = arrivals === undefined && isTextual(database, filter) ? uncountedAfter(database, limits) : null
    if (counted === null) return [select(filter, arrivals)]
    const tables = tablesWithin(timedTables(database, counted), [filter.from], [filter.to])
    const parts = Math.ceil(tables.length / TABLES_OF_A_PART)
    return Array.from({ length: parts }, (_, index) =>
      select(filter, tables.slice(index * TABLES_OF_A_PART, (index + 1) * TABLES_OF_A_PART)),
    )
  }

/** Whether a filter is answered by the full-text tables, not by the index of an id or a correlationKey. Only in `Database.read`. */
export function isTextual(database: Database, { query, correlationKey }: EntryFilter): boolean {
  if (correlationKey !== null || pinned(query, 'id') !== null || pinned(query, 'correlationKey') !== null) return false
  return hasWords(query) || compileQuery(query, () => FALSE, hasAllWords(database)).match !== null
}

function selectEntries(database: Database, limits: StoreLimits, filter: EntryFilter, part: Part | null): Selection {
  const byTime = part === 'byTime'
  const some = Array.isArray(part) ? (part as readonly TimedTable[]) : null
  const range = part !== null && !byTime && 'after' in part ? part : null
  const tables = some ?? (range === null ? tablesOf(database, limits, filter) : textTables(database))
  const arrivals = (expression: string): Sql | null => selectMatching(expression, tables, range)
  // A unary plus keeps SQLite from finding entries by the condition: it only checks them.
  const matching = (expression: string, prefix = '+'): Sql => {
    const selected = arrivals(expression)
    return selected === null ? FALSE : sql(`${prefix}e.arrival IN (${selected.text})`, ...selected.values)
  }
  const { match, rest } = compileQuery(filter.query, (expression) => matching(expression), hasAllWords(database))
  const conditions = [...filterConditions(filter), rest]
  const selection = (from: string, way: readonly Sql[], checks: readonly Sql[], byTime = false): Selection => ({
    from: `entries AS e ${from}`,
    where: allOf([GO_ON, ...way, ...conditions, ...checks]),
    byTime,
  })
  const check = match === null || !hasWords(filter.query) ? [] : [matching(match)]
  const alongTime = (): Selection => selection('INDEXED BY entries_by_time', [], check, true)
  if (byTime) return alongTime()
  if (range !== null) {
    return selection('NOT INDEXED', [sql('e.arrival > ? AND e.arrival <= ?', range.after, range.last)], check)
  }
  if (some !== null) {
    const way = match === null ? anyOf(some.map(stretchOf)) : matching(match, '')
    return selection('NOT INDEXED', [way], [])
  }
  const id = pinned(filter.query, 'id')
  if (id !== null) return selection('INDEXED BY entries_by_id', [sql('e.id = ?', storedId(id))], check)
  const key = filter.correlationKey ?? pinned(filter.query, 'correlationKey')
  if (key !== null) return selection('INDEXED BY entries_by_flow', [sql('e.correlation_key = ?', key)], check)
  return match === null ? alongTime() : selection('NOT INDEXED', [matching(match, '')], [])
}

/** The full-text tables that may have entries of the filter's range. */
function tablesOf(database: Database, limits: StoreLimits, { from, to }: EntryFilter): readonly TextTable[] {
  const counted = uncountedAfter(database, limits)
  return counted === null ? textTables(database) : tablesWithin(timedTables(database, counted), [from], [to])
}

const stretchOf = ({ firstArrival, nextArrival }: TimedTable): Sql =>
  sql('e.arrival >= ? AND e.arrival < ?', firstArrival, nextArrival)

/** The text that every match has in this field; null if there is none. */
function pinned(query: Query, field: 'id' | 'correlationKey'): string | null {
  if (query.type === 'equals') return query.field === field && !query.prefix ? query.value : null
  if (query.type !== 'and') return null
  return query.queries.map((one) => pinned(one, field)).find((value) => value !== null) ?? null
}

function filterConditions(filter: EntryFilter): readonly Sql[] {
  const fingerprint = (column: string, id: string | null): readonly Sql[] =>
    id === null ? [] : [sql(`e.${column} = ?`, storedFingerprint(id))]
  return [
    sql('e.team = ?', filter.team),
    ...(filter.from === null ? [] : [sql('e.timestamp >= ?', toNanos(filter.from))]),
    ...(filter.to === null ? [] : [sql('e.timestamp < ?', toNanos(filter.to))]),
    ...equal('correlation_key', filter.correlationKey),
    ...fingerprint('template', filter.template),
    ...fingerprint('exception_group', filter.exceptionGroup),
    ...factConditions(filter),
  ]
}

/** The conditions on facts by which entries are counted (rollups.ts), except for the Team and the kinds. */
export function factConditions(filter: EntryFilter): readonly Sql[] {
  return [
    ...(filter.levelMin === null ? [] : [sql('e.level >= ?', levelRank(filter.levelMin))]),
    ...(filter.levelMax === null ? [] : [sql('e.level <= ?', levelRank(filter.levelMax))]),
    ...equal('environment', filter.environment),
    ...equal('event', filter.event),
    ...equal('step', filter.step),
    ...equal('project', filter.project),
    ...(filter.category === null ? [] : [categoryOrBelow(filter.category)]),
  ]
}

const equal = (column: string, value: string | null): readonly Sql[] =>
  value === null ? [] : [sql(`e.${column} = ?`, value)]

/** The kinds that a filter names, without duplicates; all if it names none. */
export function kindsOf({ kinds }: EntryFilter): readonly number[] {
  return kinds.length === 0 ? Object.values(KINDS) : [...new Set(kinds.map((kind) => KINDS[kind]))]
}

/** A WHERE with the kinds of the filter. */
export function whereKinds(selection: Selection, kinds: readonly number[]): Sql {
  return allOf([selection.where, sql(`e.kind IN (${kinds.join(', ')})`)])
}

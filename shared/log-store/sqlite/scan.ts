import { levelRank } from '../../contract/levels.ts'
import type { EntryKind } from '../../contract/records.ts'
import { toNanos } from '../../contract/timestamp.ts'
import type { EntryFilter } from '../log-store.ts'
import { categoryOrBelow, compileRest, hasWords, necessaryMatch, pinned } from './compile-query.ts'
import type { StoreContext } from './context.ts'
import { type Database, goOn } from './database.ts'
import { storedFingerprint, storedId } from './ids.ts'
import { uncountedAfter } from './rollups.ts'
import { KINDS } from './schema.ts'
import { allOf, anyOf, compose, type Sql, sql } from './sql.ts'
import {
  type ArrivalRange,
  hasAllWords,
  selectPostings,
  type TextTable,
  tablesOver,
  tablesWithin,
} from './text-tables.ts'

/**
 * The access path to the rows of a filter. SQLite cannot know how many documents a word finds, so the path is chosen here and not by its
 * planner:
 *
 * - `id`, `flow`: the index of the id or of the correlation key that the filter names,
 * - `words`: the posting lists of these full-text tables, which have words and values of leaves; where no match needs any, as for `-retry`,
 *   the rows of the tables' arrivals,
 * - `arrivals`: the rows of a range of arrivals, for a tail and for entries that are not counted yet (plan.ts),
 * - `time`: the index of Team, kind and time, in the order of lists.
 */
export type Path =
  | { readonly by: 'id' | 'flow'; readonly value: string }
  | { readonly by: 'words'; readonly tables: readonly TextTable[] }
  | ({ readonly by: 'arrivals' } & ArrivalRange)
  | { readonly by: 'time' }

export const BY_TIME: Path = { by: 'time' }

/** Some of the entries that match a filter: the filter, narrowed, and the path to their rows, if it is not `pathOf` the filter. */
export interface Slice {
  readonly filter: EntryFilter
  readonly path?: Path
}

/** A slice in SQL: a FROM and a WHERE over `entries AS e`. */
export interface Scan {
  readonly from: string
  readonly where: Sql
}

const GO_ON = sql(goOn('e.arrival'))

/** The path to all matches of a filter at once. */
export function pathOf(database: Database, filter: EntryFilter): Path {
  const { query } = filter
  const id = pinned(query, 'id')
  if (id !== null) return { by: 'id', value: id }
  const key = filter.correlationKey ?? pinned(query, 'correlationKey')
  if (key !== null) return { by: 'flow', value: key }
  if (necessaryMatch(query, hasAllWords(database)) === null) return BY_TIME
  return { by: 'words', tables: tablesWithin(database, filter) }
}

/** The full-text tables that can be read one after another for a slice; null if its path needs none. */
export function tablesOf({ database, limits }: StoreContext, { filter, path }: Slice): readonly TextTable[] | null {
  if (path !== undefined) return null
  const all = pathOf(database, filter)
  if (all.by === 'words') return all.tables
  // All rows of these tables are read: not while many entries are uncounted, so that the times of many tables are unknown.
  const isByTables = all.by === 'time' && hasWords(filter.query) && uncountedAfter(database, limits) !== null
  return isByTables ? tablesWithin(database, filter) : null
}

/** Full-text tables of a scan: SQLite gathers the matches of a scan before it reads their entries, which takes longer the more there are. */
const TABLES_OF_A_SCAN = 4

/** Scans that together have each entry of a slice once, in no order. */
export function scansOf(context: StoreContext, slice: Slice): readonly Scan[] {
  const { database } = context
  const tables = tablesOf(context, slice)
  if (tables === null) return [scanOf(database, slice)]
  return Array.from({ length: Math.ceil(tables.length / TABLES_OF_A_SCAN) }, (_, index) => {
    const some = tables.slice(index * TABLES_OF_A_SCAN, (index + 1) * TABLES_OF_A_SCAN)
    return scanOf(database, { filter: slice.filter, path: { by: 'words', tables: some } })
  })
}

/** A slice as one scan. */
export function scanOf(database: Database, { filter, path = pathOf(database, filter) }: Slice): Scan {
  const range = path.by === 'arrivals' ? path : null
  // A unary plus keeps SQLite from finding entries by the condition: it only checks them.
  const among = (match: string, plus = '+'): Sql => {
    const ofRange = () => (range === null ? tablesWithin(database, filter) : tablesOver(database, range))
    const tables = path.by === 'words' ? path.tables : ofRange()
    return compose`${plus}e.arrival IN (${selectPostings(match, tables, range)})`
  }
  const match = necessaryMatch(filter.query, hasAllWords(database))
  const rest = compileRest(filter.query, (words) => among(words))
  // A condition that only narrows the leaves needs no check: `rest` has their predicates.
  const check = match === null || !hasWords(filter.query) ? [] : [among(match)]
  const scan = (index: string, way: readonly Sql[], checks: readonly Sql[]): Scan => ({
    from: `entries AS e ${index}`,
    where: allOf([GO_ON, ...way, ...predicates(filter), rest, ...checks]),
  })
  switch (path.by) {
    case 'id':
      return scan('INDEXED BY entries_by_id', [sql('e.id = ?', storedId(path.value))], check)
    case 'flow':
      return scan('INDEXED BY entries_by_flow', [sql('e.correlation_key = ?', path.value)], check)
    case 'words':
      return scan('NOT INDEXED', [match === null ? anyOf(path.tables.map(arrivalsOf)) : among(match, '')], [])
    case 'arrivals':
      return scan('NOT INDEXED', [sql('e.arrival > ? AND e.arrival <= ?', path.after, path.last)], check)
    case 'time':
      return scan('INDEXED BY entries_by_time', [], check)
  }
}

const arrivalsOf = ({ firstArrival, nextArrival }: TextTable): Sql =>
  sql('e.arrival >= ? AND e.arrival < ?', firstArrival, nextArrival)

/** The predicates of a filter besides its query. */
function predicates(filter: EntryFilter): readonly Sql[] {
  const fingerprint = (column: string, id: string | null): readonly Sql[] =>
    id === null ? [] : [sql(`e.${column} = ?`, storedFingerprint(id))]
  return [
    sql('e.team = ?', filter.team),
    sql(`e.kind IN (${kindsOf(filter).map((kind) => KINDS[kind])})`),
    ...(filter.from === null ? [] : [sql('e.timestamp >= ?', toNanos(filter.from))]),
    ...(filter.to === null ? [] : [sql('e.timestamp < ?', toNanos(filter.to))]),
    ...equal('correlation_key', filter.correlationKey),
    ...fingerprint('template', filter.template),
    ...fingerprint('exception_group', filter.exceptionGroup),
    ...factPredicates(filter),
  ]
}

/** The predicates on facts by which entries are counted (rollups.ts), except for the Team and the kinds. */
export function factPredicates(filter: EntryFilter): readonly Sql[] {
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
export const kindsOf = ({ kinds }: EntryFilter): readonly EntryKind[] =>
  kinds.length === 0 ? (Object.keys(KINDS) as EntryKind[]) : [...new Set(kinds)]

import { levelRank } from '../../contract/levels.ts'
import type { EntryKind } from '../../contract/records.ts'
import { toNanos } from '../../contract/timestamp.ts'
import type { KeywordField, Query } from '../../query/ast.ts'
import type { EntryFilter } from '../log-store.ts'
import {
  categoryOrBelow,
  compileQuery,
  hasWords,
  KEYWORDS,
  type Narrowing,
  narrowingOf,
  pinned,
  selectPinned,
  subjectsOf,
  wordsAndRest,
} from './compile-query.ts'
import type { StoreContext } from './context.ts'
import { type Database, goOn, type Row } from './database.ts'
import { HAS_ID, idParameters, storedFingerprint, storedId } from './ids.ts'
import { entriesBy, FACTS_AS_ENTRIES } from './names.ts'
import { countedArrival, FACTS, uncountedAfter } from './rollups.ts'
import { KINDS } from './schema.ts'
import { fingerprintsOf, forEachCounted } from './segments.ts'
import { allOf, anyOf, compose, FALSE, join, type Sql, sql, TRUE } from './sql.ts'
import {
  type ArrivalRange,
  isRenewed,
  NO_END,
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
 * - `tables`: the arrivals of these full-text tables that may match, by their posting lists, which have words and values of leaves, by the
 *   indices of ids and keys beside these (`payment OR id:…`), and by segments, which have fingerprints; all arrivals, where no match needs a
 *   word, as for `-retry`,
 * - `arrivals`: the rows of a range of arrivals, for a tail and for entries that are not counted yet (counts.ts),
 * - `time`: the index of Team, kind and time, in the order of lists.
 */
type Path =
  | { readonly by: 'id' | 'flow'; readonly value: string }
  | { readonly by: 'tables'; readonly tables: readonly TextTable[] }
  | ({ readonly by: 'arrivals' } & ArrivalRange)
  | { readonly by: 'time' }

export const BY_TIME: Path = { by: 'time' }

/** Some of the entries that match a filter: the filter, narrowed, and the path to their rows. */
export interface Slice {
  readonly filter: EntryFilter
  readonly path: Path
}

/** A slice in SQL: a FROM and a WHERE over `entriesBy` an index (names.ts). */
interface Scan {
  readonly from: string
  readonly where: Sql
}

const GO_ON = goOn('e.arrival')

/** All matches of a filter, by the path for one scan. */
export function wholeOf(database: Database, filter: EntryFilter): Slice {
  const { query } = filter
  const id = pinned(query, 'id')
  if (id !== null) return { filter, path: { by: 'id', value: id } }
  const key = filter.correlationKey ?? pinned(query, 'correlationKey')
  if (key !== null) return { filter, path: { by: 'flow', value: key } }
  if (narrowingOf(query, isRenewed(database)) === null) return { filter, path: BY_TIME }
  return { filter, path: { by: 'tables', tables: tablesWithin(database, filter) } }
}

/**
 * All matches of a filter, by the path for several scans of some full-text tables each (`scansOf`, entry-reader.ts). They read by table
 * also where posting lists do not say which of its entries may match: one scan would look for the words, or the fingerprints, of all
 * tables before its first entry.
 */
export function inPartsOf({ database, limits }: Pick<StoreContext, 'database' | 'limits'>, filter: EntryFilter): Slice {
  const whole = wholeOf(database, filter)
  const isByTables = whole.path.by === 'time' && (hasWords(filter.query) || isBySegments(database, filter))
  // Not while many entries are uncounted: the times of many tables are unknown then, and segments are missing.
  if (!isByTables || uncountedAfter(database, limits) === null) return whole
  return { filter, path: { by: 'tables', tables: tablesWithin(database, filter) } }
}

/** Full-text tables of a scan: SQLite gathers the matches of a scan before it reads their entries, which takes longer the more there are. */
const TABLES_OF_A_SCAN = 4

/** Full-text tables that are searched at a time, so that the arrivals which segments give for them are a million at most. */
export const TABLES_AT_A_TIME = 32

/** Scans that together have each entry of a slice once, in no order. */
export function scansOf(database: Database, { filter, path }: Slice): readonly Scan[] {
  if (path.by !== 'tables') return [scanOf(database, { filter, path })]
  return Array.from({ length: Math.ceil(path.tables.length / TABLES_OF_A_SCAN) }, (_, index) => {
    const tables = path.tables.slice(index * TABLES_OF_A_SCAN, (index + 1) * TABLES_OF_A_SCAN)
    return scanOf(database, { filter, path: { by: 'tables', tables } })
  })
}

/** A slice as one scan. */
export function scanOf(database: Database, { filter, path }: Slice): Scan {
  const { words, rest } = wordsAndRest(filter.query)
  // A unary plus keeps SQLite from finding entries by the condition: it only checks them.
  const check = (match: string): Sql => compose`+e.arrival IN (${postingsOf(match)})`
  const postingsOf = (match: string): Sql => {
    if (path.by === 'tables') return selectPostings(match, path.tables, null)
    if (path.by === 'arrivals') return selectPostings(match, tablesOver(database, path), path)
    return selectPostings(match, tablesWithin(database, filter), null)
  }
  const scan = (index: string, way: Sql = TRUE): Scan => {
    const checked = words === null || path.by === 'tables' ? TRUE : check(words)
    const conditions = [sql(GO_ON), way, ...predicates(filter), checked, compileQuery(rest, check)]
    return { from: entriesBy(index), where: allOf(conditions) }
  }
  switch (path.by) {
    case 'id':
      return scan('INDEXED BY entries_by_id', sql(HAS_ID, ...idParameters(storedId(path.value))))
    case 'flow':
      return scan('INDEXED BY entries_by_flow', sql('e.correlation_key = ?', path.value))
    case 'tables':
      return scan('NOT INDEXED', inTables(database, path.tables, filter))
    case 'arrivals':
      return scan('NOT INDEXED', sql('e.arrival > ? AND e.arrival <= ?', path.after, path.last))
    case 'time':
      return scan('INDEXED BY entries_by_time')
  }
}

/** The condition that an arrival is one of those in these tables that may match. */
function inTables(database: Database, tables: readonly TextTable[], filter: EntryFilter): Sql {
  const narrowing = narrowingOf(filter.query, isRenewed(database))
  // Without words, as where values of leaves alone are searched, the rows are few, and segments are not worth their reading.
  const hasFew = narrowing !== null && !hasWords(filter.query)
  if (hasFew || !isBySegments(database, filter) || tables.length > TABLES_AT_A_TIME)
    return byTables(tables, narrowing, 0, filter)
  // Segments have no ids and keys.
  const match = narrowing?.pins.length === 0 ? narrowing.match : null
  const has = fingerprintsOf(filter)
  // Entries of a combination without a number have 0.
  const facts = new Set([0, ...combinationsOf(database, filter, 'e.number').map(({ number }) => Number(number))])
  const arrivals: number[] = []
  forEachCounted(database, tables, match, (segment, index) => {
    if (has(segment, index) && facts.has(segment.facts[index] ?? 0)) arrivals.push(segment.first + index)
  })
  const bySegments = sql('e.arrival IN (SELECT value FROM json_each(?))', JSON.stringify(arrivals))
  const counted = countedArrival(database)
  const uncounted = tables.filter(({ nextArrival }) => nextArrival > counted + 1)
  return uncounted.length === 0 ? bySegments : anyOf([bySegments, byTables(uncounted, narrowing, counted, filter)])
}

/** The condition of `inTables` by the posting lists and indices alone, for arrivals after `after`. */
function byTables(
  tables: readonly TextTable[],
  narrowing: Narrowing | null,
  after: number,
  { team }: EntryFilter,
): Sql {
  const within = (column: string): Sql =>
    anyOf(
      tables.map(({ firstArrival, nextArrival }) =>
        sql(`${column} >= ? AND ${column} < ?`, Math.max(after + 1, firstArrival), nextArrival),
      ),
    )
  if (narrowing === null) return within('e.arrival')
  const { match, pins } = narrowing
  const range = after === 0 ? null : { after, last: NO_END }
  const selects = [
    ...(match === null ? [] : [selectPostings(match, tables, range)]),
    ...pins.map((pin) => selectPinned(team, pin)),
  ]
  const found = compose`e.arrival IN (${join(selects, ' UNION ALL ')})`
  return pins.length === 0 ? found : allOf([found, within('+e.arrival')])
}

/** The combinations of facts that matches may have (rollups.ts): these columns of FACTS_AS_ENTRIES. */
export function combinationsOf(database: Database, filter: EntryFilter, columns: string): readonly Row[] {
  const team = sql('e.team = (SELECT number FROM rollup_teams WHERE team = ?)', filter.team)
  const where = allOf([team, ...combinationPredicates(filter)])
  return database.all(compose`SELECT ${columns} FROM ${FACTS_AS_ENTRIES} WHERE ${where}`)
}

/** Whether a query compares nothing but these facts. */
export const isOfFacts = (query: Query, facts: readonly string[]): boolean =>
  subjectsOf(query).every((subject) => facts.includes(subject))

/** The predicates on combinations of facts that a filter's matches satisfy, besides the Team's. */
export const combinationPredicates = (filter: EntryFilter): readonly Sql[] => [
  ...(filter.kinds.length === 0 ? [] : [sql(`e.kind IN (${kindsOf(filter).map((kind) => KINDS[kind])})`)]),
  ...factPredicates(filter),
  ...(filter.query.type !== 'all' && isOfFacts(filter.query, FACTS) ? [compileQuery(filter.query, () => FALSE)] : []),
]

/** Whether a filter names a template or a group of exceptions: these are in segments and rows, not in full-text tables and rollups. */
export const hasFingerprint = ({ template, exceptionGroup }: EntryFilter): boolean =>
  template !== null || exceptionGroup !== null

const isBySegments = (database: Database, filter: EntryFilter): boolean => hasFingerprint(filter) && isRenewed(database)

/** The predicates of a filter besides its query. */
function predicates(filter: EntryFilter): readonly Sql[] {
  const fingerprint = (column: string, id: string | null): readonly Sql[] =>
    id === null ? [] : [sql(`e.${column} = ?`, storedFingerprint(id))]
  return [
    sql('e.team = ?', filter.team),
    sql(`e.kind IN (${kindsOf(filter).map((kind) => KINDS[kind])})`),
    ...(filter.from === null ? [] : [sql('e.timestamp >= ?', toNanos(filter.from))]),
    ...(filter.to === null ? [] : [sql('e.timestamp < ?', toNanos(filter.to))]),
    ...equal('correlationKey', filter.correlationKey),
    ...fingerprint('template', filter.template),
    ...fingerprint('exception_group', filter.exceptionGroup),
    ...factPredicates(filter),
  ]
}

/** The predicates on facts by which entries are counted (rollups.ts), except for the Team and the kinds. */
function factPredicates(filter: EntryFilter): readonly Sql[] {
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

const equal = (field: KeywordField, value: string | null): readonly Sql[] =>
  value === null ? [] : [sql(`${KEYWORDS[field]} = ?`, value)]

/** The kinds that a filter names, without duplicates; all if it names none. */
export const kindsOf = ({ kinds }: EntryFilter): readonly EntryKind[] =>
  kinds.length === 0 ? (Object.keys(KINDS) as EntryKind[]) : [...new Set(kinds)]

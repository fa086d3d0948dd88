/**
 * A query as SQL over `entriesBy` an index (names.ts). Of `payment failed scope.tenant:acme level>=Error`, a conjunction:
 *
 * - the full-text query that has exactly the meaning of some conjuncts (`wordsAndRest`) has the words "payment" and "failed";
 * - the rest is compiled to predicates on an entry (`compileQuery`): the level, and the leaf;
 * - the full-text query that every match satisfies (`narrowingOf`) has "acme" among the leaves, too: a leaf's words do not tell its path.
 */
import { toNanos } from '../../contract/timestamp.ts'
import type { Comparison, KeywordField, NumberField, Query, TextField, TimeField } from '../../query/ast.ts'
import { keyRange } from '../../query/sort-key.ts'
import { splitWords } from '../../query/words.ts'
import { HAS_ID, ID_TEXT, idParameters, storedId } from './ids.ts'
import { HAS_LEAF, LEAF_WITHIN, needleText } from './leaf-bytes.ts'
import { columnOf } from './names.ts'
import { TEXT_BITS, TEXT_COLUMNS } from './schema.ts'
import { RECEIVED } from './sources.ts'
import { allOf, anyOf, compose, FALSE, type Sql, sql, TRUE } from './sql.ts'
import { matchPhrase, matchValues } from './words-index.ts'

/** The arrivals that satisfy a full-text query, as a condition on `e.arrival`. */
type Matching = (expression: string) => Sql

/** The fields of an entry in SQL. */
export const KEYWORDS = {
  id: ID_TEXT,
  environment: columnOf('environment'),
  correlationKey: 'e.correlation_key',
  event: columnOf('event'),
  step: columnOf('step'),
  project: columnOf('project'),
  category: columnOf('category'),
  eventName: columnOf('event_name'),
} as const satisfies Record<KeywordField, string>
export const NUMBERS = { eventId: 'e.event_id' } as const satisfies Record<NumberField, string>
const TIMES = { timestamp: 'e.timestamp', receivedAt: RECEIVED } as const satisfies Record<TimeField, string>
/** Maximum words of a leaf's value in a full-text query, which takes time for each word of a phrase at each place where it may begin. */
const LEAF_WORDS_MAX = 20

/** The queries all of which a match satisfies. */
function conjunctsOf(query: Query): readonly Query[] {
  if (query.type === 'and') return query.queries.flatMap(conjunctsOf)
  return query.type === 'all' ? [] : [query]
}

/** A query in two parts that together mean the same: the full-text query of its conjuncts that are only words, if there are any, and the rest. */
export function wordsAndRest(query: Query): { readonly words: string | null; readonly rest: Query } {
  const [words, others] = [[] as string[], [] as Query[]]
  for (const one of conjunctsOf(query)) {
    const match = exactMatch(one)
    if (match === null) others.push(one)
    else words.push(match)
  }
  return {
    words: combined('and', words),
    rest: others.length === 0 ? { type: 'all' } : { type: 'and', queries: others },
  }
}

/** The text that every match has in this field; null if there is none. */
export function pinned(query: Query, field: 'id' | 'correlationKey'): string | null {
  for (const one of conjunctsOf(query)) if (isPin(one) && one.field === field) return one.value
  return null
}

/** Whether the query searches words: only full-text tables can say whether an entry has them. */
export const hasWords = (query: Query): boolean => subjectsOf(query).includes('words')

const hasLeaves = (query: Query): boolean => subjectsOf(query).some((subject) => subject.startsWith('leaf'))

/** A full-text query with exactly the query's meaning, if that consists only of words; else null. */
function exactMatch(query: Query): string | null {
  switch (query.type) {
    case 'words':
      return query.words.length === 0 ? null : matchWords(query)
    case 'and':
    case 'or':
      return combined(query.type, query.queries.map(exactMatch))
    default:
      return null
  }
}

/** The id of one entry, or the key of one flow. */
type Pin = Extract<Query, { type: 'equals' }> & { readonly field: 'id' | 'correlationKey' }

/** A condition that every match meets: it satisfies the full-text query, or has one of the ids and keys. */
export interface Narrowing {
  readonly match: string | null
  readonly pins: readonly Pin[]
}

/**
 * A condition that all matches of the query meet, and few other entries; null if the query has no such part. `valuesIndexed`: whether all
 * entries have their `valueWords` in the index.
 */
export function narrowingOf(query: Query, valuesIndexed: boolean): Narrowing | null {
  const byMatch = (match: string | null): Narrowing | null => (match === null ? null : { match, pins: [] })
  switch (query.type) {
    case 'words':
      return byMatch(exactMatch(query))
    case 'leaf':
      return byMatch(matchLeaf(query))
    case 'leafRange':
      return byMatch(valuesIndexed ? matchValues(query) : null)
    case 'equals':
      return isPin(query) ? { match: null, pins: [query] } : null
    case 'and': {
      const parts = query.queries.map((one) => narrowingOf(one, valuesIndexed)).filter((part) => part !== null)
      const matches = parts.flatMap(({ match, pins }) => (pins.length === 0 ? match : []))
      return byMatch(combined('and', matches)) ?? parts[0] ?? null
    }
    case 'or': {
      const parts = query.queries.map((one) => narrowingOf(one, valuesIndexed))
      if (parts.length === 0 || parts.includes(null)) return null
      const matches = parts.flatMap((part) => part?.match ?? [])
      return { match: combined('or', matches), pins: parts.flatMap((part) => part?.pins ?? []) }
    }
    default:
      return null
  }
}

const isPin = (query: Query): query is Pin =>
  query.type === 'equals' && !query.prefix && (query.field === 'id' || query.field === 'correlationKey')

/** The arrivals of a Team's entries with this id or key. */
export const selectPinned = (team: string, { field, value }: Pin): Sql =>
  field === 'id'
    ? sql(`SELECT arrival FROM entries AS e INDEXED BY entries_by_id WHERE ${HAS_ID}`, ...idParameters(storedId(value)))
    : sql('SELECT arrival FROM entries INDEXED BY entries_by_flow WHERE team = ? AND correlation_key = ?', team, value)

/** Null if any part is null, or if there are none. */
function combined(type: 'and' | 'or', parts: readonly (string | null)[]): string | null {
  if (parts.length === 0 || parts.includes(null)) return null
  return parts.map((part) => `(${part})`).join(type === 'and' ? ' AND ' : ' OR ')
}

function matchWords({ field, words, phrase, prefix }: Extract<Query, { type: 'words' }>): string {
  const columns = field === null ? TEXT_COLUMNS : [field]
  if (phrase) return matchPhrase(columns, words, prefix)
  return words
    .map((word, index) => `(${matchPhrase(columns, [word], prefix && index === words.length - 1)})`)
    .join(' AND ')
}

/** The words of a value follow each other in the index; for a prefix, the last one may continue. The first words narrow enough. */
function matchLeaf({ field, value, prefix }: Extract<Query, { type: 'leaf' }>): string | null {
  const all = splitWords(value)
  const words = all.slice(0, LEAF_WORDS_MAX)
  const open = prefix && words.length === all.length
  return words.length === 0 ? null : matchPhrase(field === 'payload' ? ['payload', 'leaves'] : ['leaves'], words, open)
}

/** The value is 0 or 1, never NULL, so that NOT works as expected. */
export function compileQuery(query: Query, matching: Matching): Sql {
  const match = exactMatch(query)
  if (match !== null) return matching(match)
  switch (query.type) {
    case 'all':
      return TRUE
    case 'words':
      return FALSE
    case 'equals':
      return compileEquals(query)
    case 'leaf':
      return containsLeaf(needleText(query.field, query.path, query.value, query.prefix))
    case 'leafRange':
      return compileLeafRange(query)
    case 'leafExists':
      return containsLeaf(needleText(query.field, query.path))
    case 'exists':
      return compileExists(query.field)
    case 'level':
      return sql(`e.level ${query.comparison} ?`, query.rank)
    case 'number':
      return sql(`coalesce(${NUMBERS[query.field]} ${query.comparison} ?, 0)`, query.value)
    case 'time':
      return compareTime(query.field, query.comparison, query.value)
    case 'not':
      return compose`NOT (${compileQuery(query.query, matching)})`
    case 'and':
      return allInOrder(query.queries, (one) => compileQuery(one, matching))
    case 'or':
      return compileOr(query.queries, matching)
  }
}

/** Leaves are asked for last, as they are in blocks that have to be unpacked. */
const allInOrder = (queries: readonly Query[], compileOne: (query: Query) => Sql): Sql =>
  allOf([...queries.filter((one) => !hasLeaves(one)), ...queries.filter(hasLeaves)].map(compileOne))

/** A word may stand for many names: their identifiers are searched as one list, not one by one. */
function compileOr(queries: readonly Query[], matching: Matching): Sql {
  const lists = new Map<string, string[]>()
  const others: Sql[] = []
  for (const one of queries) {
    const column = one.type === 'equals' && !one.prefix && LISTED.includes(one.field) ? KEYWORDS[one.field] : undefined
    if (column === undefined || one.type !== 'equals') others.push(compileQuery(one, matching))
    else lists.set(column, [...(lists.get(column) ?? []), one.value])
  }
  const listed = [...lists].map(([column, values]) =>
    sql(`coalesce(${column} IN (${values.map(() => '?').join(', ')}), 0)`, ...values),
  )
  return anyOf([...listed, ...others])
}

const LISTED: readonly KeywordField[] = ['project', 'event', 'step']

function compileEquals({ field, value, prefix }: Extract<Query, { type: 'equals' }>): Sql {
  const column = KEYWORDS[field]
  if (prefix) return sql(`coalesce(instr(${column}, ?) = 1, 0)`, value)
  if (field === 'category') return categoryOrBelow(value)
  return field === 'id' ? sql('e.id = ?', storedId(value)) : sql(`${column} IS ?`, value)
}

/** A category and all categories below it. */
export const categoryOrBelow = (category: string): Sql =>
  sql(`coalesce(${KEYWORDS.category} = ? OR instr(${KEYWORDS.category}, ?) = 1, 0)`, category, `${category}.`)

function compileExists(field: Extract<Query, { type: 'exists' }>['field']): Sql {
  if (field === 'eventId') return sql(`${NUMBERS[field]} IS NOT NULL`)
  if (field in TEXT_BITS) return sql(`e.texts & ${TEXT_BITS[field as TextField]} <> 0`)
  return sql(`coalesce(${KEYWORDS[field as KeywordField]} <> '', 0)`)
}

const containsLeaf = (needle: string): Sql => sql(`coalesce(${HAS_LEAF}(e.arrival, ?), 0)`, needle)

function compileLeafRange(query: Extract<Query, { type: 'leafRange' }>): Sql {
  const needle = needleText(query.field, query.path)
  const range = keyRange(query)
  if (range === undefined) return FALSE
  return sql(`coalesce(${LEAF_WITHIN}(e.arrival, ?, ?, ?), 0)`, needle, range.from, range.to)
}

const compareTime = (field: TimeField, comparison: Comparison, value: string): Sql =>
  sql(`${TIMES[field]} ${comparison} ?`, toNanos(value))

/** The fields that a query compares, and the types of its conditions on anything else. */
export function subjectsOf(query: Query): readonly string[] {
  switch (query.type) {
    case 'all':
      return []
    case 'equals':
    case 'exists':
      return [query.field]
    case 'not':
      return subjectsOf(query.query)
    case 'and':
    case 'or':
      return query.queries.flatMap(subjectsOf)
    default:
      return [query.type]
  }
}

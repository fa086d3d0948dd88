import { levelRank } from '../../contract/levels.ts'
import type { Comparison, KeywordField, LeafField, NumberField, Query, TextField } from '../../query/ast.ts'
import { keyRange } from '../../query/sort-key.ts'
import type { EntryFilter } from '../log-store.ts'
import { leafTerm, sortTerm } from './entry-body.ts'

/** A clause of Elasticsearch's query language. */
export type Clause = Readonly<Record<string, unknown>>

const TEXTS: readonly TextField[] = ['message', 'exception', 'payload']
/** The fields in which words without a field are searched. Documents from earlier releases have no details. */
const WORDS: readonly string[] = [...TEXTS, 'details']
/** The fields with the terms of leaves. */
export const LEAVES = { payload: 'payloadLeaves', scope: 'scopeLeaves' } as const satisfies Record<LeafField, string>
/** The number of words tried for the prefix at the end of a phrase; Elasticsearch's default of 50 would silently miss matches. */
const PHRASE_EXPANSIONS = 10_000
const INTEGER_MIN = -(2 ** 31)
const INTEGER_MAX = 2 ** 31 - 1

const NOTHING: Clause = { match_none: {} }

/** All clauses hold. A single one is not wrapped, as the nesting depth of queries is limited. */
export const allOf = (clauses: readonly Clause[]): Clause =>
  clauses.length === 1 ? (clauses[0] as Clause) : { bool: { filter: clauses } }
/** At least one clause holds; with no clauses, nothing matches. */
export const anyOf = (clauses: readonly Clause[]): Clause => {
  if (clauses.length === 0) return NOTHING
  return clauses.length === 1 ? (clauses[0] as Clause) : { bool: { should: clauses, minimum_should_match: 1 } }
}
export const term = (field: string, value: string | number): Clause => ({ term: { [field]: value } })
const prefix = (field: string, value: string): Clause => ({ prefix: { [field]: value } })

/** A category and all categories below it. */
const categoryOrBelow = (category: string): Clause =>
  anyOf([term('category', category), prefix('category', `${category}.`)])

const EXACT = ['environment', 'correlationKey', 'event', 'step', 'project', 'template', 'exceptionGroup'] as const

/** A filter as one clause. The Team always comes first: no search runs without it. */
export function compileFilter(filter: EntryFilter, ...more: readonly Clause[]): Clause {
  const clauses: Clause[] = [term('team', filter.team)]
  if (filter.from !== null) clauses.push({ range: { timestamp: { gte: filter.from } } })
  if (filter.to !== null) clauses.push({ range: { timestamp: { lt: filter.to } } })
  if (filter.levelMin !== null) clauses.push({ range: { level: { gte: levelRank(filter.levelMin) } } })
  if (filter.levelMax !== null) clauses.push({ range: { level: { lte: levelRank(filter.levelMax) } } })
  for (const field of EXACT) {
    const value = filter[field]
    if (value !== null) clauses.push(term(field, value))
  }
  if (filter.category !== null) clauses.push(categoryOrBelow(filter.category))
  if (filter.query.type !== 'all') clauses.push(compileQuery(filter.query))
  return allOf([...clauses, ...more])
}

/** A query as a clause that finds the same entries as `matches` does. */
export function compileQuery(query: Query): Clause {
  switch (query.type) {
    case 'all':
      return { match_all: {} }
    case 'words':
      return compileWords(query)
    case 'equals':
      if (query.prefix) return prefix(query.field, query.value)
      return query.field === 'category' ? categoryOrBelow(query.value) : term(query.field, query.value)
    case 'leaf':
      return (query.prefix ? prefix : term)(LEAVES[query.field], leafTerm(query.path, query.value))
    case 'exists':
      return compileExists(query.field)
    case 'leafRange':
      return compileLeafRange(query)
    case 'leafExists':
      return prefix(LEAVES[query.field], leafTerm(query.path, ''))
    case 'level':
      return compareIntegers('level', query.comparison, query.rank)
    case 'number':
      return compareIntegers(query.field, query.comparison, query.value)
    case 'time':
      return compareTimes(query.field, query.comparison, query.value)
    case 'not':
      return { bool: { must_not: alternativesOf(query.query) } }
    case 'and':
      return compileAnd(query.queries)
    case 'or':
      return query.queries.length === 0 ? NOTHING : anyOf(alternativesOf(query))
  }
}

/** The clauses of an `or`; an `or` inside an `or` is flattened. */
const alternativesOf = (query: Query): readonly Clause[] =>
  query.type === 'or' ? query.queries.flatMap(alternativesOf) : [compileQuery(query)]

/**
 * Elasticsearch allows clauses to be nested 30 deep, and a search may have 20 levels of groups, each an `or` of `and`s with a `not`. So one
 * `bool` clause serves for all three: it takes the exclusions, and the deepest `or` as its alternatives.
 */
function compileAnd(queries: readonly Query[]): Clause {
  if (queries.length === 1) return compileQuery(queries[0] as Query)
  const deepest = queries.filter(({ type }) => type === 'or').sort((a, b) => depthOf(b) - depthOf(a))[0]
  const filter: Clause[] = []
  const excluded: Clause[] = []
  for (const query of queries) {
    if (query.type === 'not') excluded.push(...alternativesOf(query.query))
    else if (query !== deepest) filter.push(compileQuery(query))
  }
  const should = deepest === undefined ? [] : alternativesOf(deepest)
  if (deepest !== undefined && should.length === 0) return NOTHING
  return {
    bool: {
      ...(filter.length > 0 && { filter }),
      ...(excluded.length > 0 && { must_not: excluded }),
      ...(should.length > 0 && { should, minimum_should_match: 1 }),
    },
  }
}

function depthOf(query: Query): number {
  switch (query.type) {
    case 'not':
      return depthOf(query.query) + 1
    case 'and':
    case 'or':
      return Math.max(0, ...query.queries.map(depthOf)) + 1
    default:
      return 0
  }
}

function compileWords({ field, words, phrase, prefix: open }: Extract<Query, { type: 'words' }>): Clause {
  const fields = field === null ? WORDS : [field]
  const inOne = (sought: readonly string[], last: boolean): Clause =>
    anyOf(fields.map((name) => sequence(name, sought, open && last)))
  if (words.length === 0) return NOTHING
  if (phrase) return inOne(words, true)
  return allOf(words.map((word, index) => inOne([word], index === words.length - 1)))
}

/** Consecutive words; with `open`, the last one may be the beginning of a word. */
function sequence(field: string, words: readonly string[], open: boolean): Clause {
  const [first = ''] = words
  if (words.length === 1) return open ? prefix(field, first) : term(field, first)
  const query = words.join(' ')
  if (!open) return { match_phrase: { [field]: { query } } }
  return { match_phrase_prefix: { [field]: { query, max_expansions: PHRASE_EXPANSIONS } } }
}

function compileLeafRange(query: Extract<Query, { type: 'leafRange' }>): Clause {
  const range = keyRange(query)
  if (range === undefined) return NOTHING
  const [from, to] = [sortTerm(query.path, range.from), sortTerm(query.path, range.to)]
  return { range: { [LEAVES[query.field]]: { gte: from, lt: to } } }
}

/** The field has a value that is not empty. Elasticsearch counts an empty keyword as a value; an empty text or number is not stored. */
function compileExists(field: KeywordField | TextField | NumberField): Clause {
  const exists = { exists: { field } }
  if (field === 'eventId' || TEXTS.some((name) => name === field)) return exists
  return { bool: { filter: [exists], must_not: [term(field, '')] } }
}

/** Clamps the bounds to the range of an integer field, which refuses others instead of finding nothing. */
function compareIntegers(field: string, comparison: Comparison, value: number): Clause {
  const { least, most } = bounds(comparison, value)
  if (Number.isNaN(value) || least > most || least > INTEGER_MAX || most < INTEGER_MIN) return NOTHING
  return { range: { [field]: { gte: Math.max(least, INTEGER_MIN), lte: Math.min(most, INTEGER_MAX) } } }
}

function bounds(comparison: Comparison, value: number): { readonly least: number; readonly most: number } {
  switch (comparison) {
    case '=':
      return { least: Math.ceil(value), most: Math.floor(value) }
    case '>':
      return { least: Math.floor(value) + 1, most: Number.POSITIVE_INFINITY }
    case '>=':
      return { least: Math.ceil(value), most: Number.POSITIVE_INFINITY }
    case '<':
      return { least: Number.NEGATIVE_INFINITY, most: Math.ceil(value) - 1 }
    case '<=':
      return { least: Number.NEGATIVE_INFINITY, most: Math.floor(value) }
  }
}

const OPERATORS = { '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte' } as const

function compareTimes(field: string, comparison: Comparison, value: string): Clause {
  const range = comparison === '=' ? { gte: value, lte: value } : { [OPERATORS[comparison]]: value }
  return { range: { [field]: range } }
}

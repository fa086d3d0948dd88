import { searchText } from '../contract/keyword.ts'
import { nearestOf } from '../nearest.ts'
import type { Comparison, ParsedQuery, Query } from './ast.ts'
import { anyTextClause, combine, fieldClause, phraseOf } from './clause.ts'
import { FIELD_NAMES, FIELDS, findField } from './fields.ts'
import { type Lexeme, lex, type Problem } from './lexer.ts'
import { escapeName } from './term.ts'
import { splitWords } from './words.ts'

/** Maximum length of a search text, in UTF-16 units. */
export const QUERY_LENGTH_MAX = 4_096
/** Maximum words and fields of one search; every word of a phrase counts. */
export const QUERY_TERMS_MAX = 100
/** Maximum nesting of groups. */
export const QUERY_DEPTH_MAX = 20

/**
 * Reads a search text by the grammar of docs/query.md. A text outside the grammar is searched as text, word by word, and the reading says
 * why. Never throws, and takes time proportional to the text.
 */
export function parseQuery(text: string): ParsedQuery {
  const safe = searchText(text)
  if (safe.length > QUERY_LENGTH_MAX) {
    const problem = `The search is longer than ${QUERY_LENGTH_MAX} characters; only the first ${QUERY_LENGTH_MAX} are searched for.`
    return readAsText(safe.slice(0, QUERY_LENGTH_MAX), { problem, at: QUERY_LENGTH_MAX })
  }
  const { lexemes, problem } = lex(safe)
  if (problem !== null) return readAsText(safe, problem)
  if (lexemes.length === 0) return { query: { type: 'all' }, reading: { read: 'query' } }
  const query = parseLexemes(lexemes, safe.length)
  return isProblem(query) ? readAsText(safe, query) : { query, reading: { read: 'query' } }
}

/** Every piece between spaces becomes a word, or a phrase if it has several; beyond the allowed number, words are dropped. */
function readAsText(text: string, { problem, at }: Problem): ParsedQuery {
  let left = QUERY_TERMS_MAX
  const queries = text
    .split(/\s+/)
    .map((piece) => {
      const words = splitWords(piece).slice(0, left)
      left -= words.length
      return words
    })
    .filter((words) => words.length > 0)
    .map((words) => phraseOf(null, words, false))
  const query: Query = queries.length === 0 ? { type: 'all' } : combine('and', queries)
  return { query, reading: { read: 'text', problem, at } }
}

/** The reading position. */
interface Cursor {
  readonly lexemes: readonly Lexeme[]
  readonly textEnd: number
  index: number
  terms: number
}

/** Recursive descent, one function per precedence: OR binds weakest, then AND (also implicit), then NOT. */
function parseLexemes(lexemes: readonly Lexeme[], textEnd: number): Query | Problem {
  const cursor: Cursor = { lexemes, textEnd, index: 0, terms: 0 }
  const query = readOr(cursor, 0)
  const rest = peek(cursor)
  return isProblem(query) || rest === undefined ? query : { problem: misplaced(rest), at: rest.at }
}

const peek = (cursor: Cursor): Lexeme | undefined => cursor.lexemes[cursor.index]

function readOr(cursor: Cursor, depth: number): Query | Problem {
  const parts: Query[] = []
  for (;;) {
    const part = readAnd(cursor, depth)
    if (isProblem(part)) return part
    parts.push(part)
    if (peek(cursor)?.kind !== 'or') return combine('or', parts)
    cursor.index += 1
  }
}

function readAnd(cursor: Cursor, depth: number): Query | Problem {
  const parts: Query[] = []
  for (;;) {
    const part = readNot(cursor, depth)
    if (isProblem(part)) return part
    parts.push(part)
    const kind = peek(cursor)?.kind
    if (kind === 'and') cursor.index += 1
    else if (kind === undefined || kind === 'or' || kind === 'close') return combine('and', parts)
  }
}

function readNot(cursor: Cursor, depth: number): Query | Problem {
  let negated = false
  for (; peek(cursor)?.kind === 'not'; cursor.index += 1) negated = !negated
  const query = readPrimary(cursor, depth)
  if (!negated || isProblem(query)) return query
  return query.type === 'not' ? query.query : { type: 'not', query }
}

function readPrimary(cursor: Cursor, depth: number): Query | Problem {
  const lexeme = peek(cursor)
  if (lexeme === undefined) return { problem: 'Something to search for is missing at the end.', at: cursor.textEnd }
  switch (lexeme.kind) {
    case 'open':
      return readGroup(cursor, lexeme.at, depth)
    case 'field':
    case 'value':
      return readTerm(cursor, lexeme)
    default:
      return { problem: misplaced(lexeme), at: lexeme.at }
  }
}

function readGroup(cursor: Cursor, at: number, depth: number): Query | Problem {
  if (depth === QUERY_DEPTH_MAX) return { problem: `Groups can be ${QUERY_DEPTH_MAX} deep at most.`, at }
  cursor.index += 1
  const query = readOr(cursor, depth + 1)
  if (isProblem(query)) return query
  if (peek(cursor)?.kind !== 'close') return { problem: 'The parenthesis is not closed.', at }
  cursor.index += 1
  return query
}

function readTerm(cursor: Cursor, lexeme: Extract<Lexeme, { kind: 'field' | 'value' }>): Query | Problem {
  const clause = readClause(cursor, lexeme)
  if (isProblem(clause)) return clause
  cursor.terms += termsOf(clause)
  if (cursor.terms <= QUERY_TERMS_MAX) return clause
  return { problem: `A search can have ${QUERY_TERMS_MAX} words and fields at most.`, at: lexeme.at }
}

/** Every word counts, and any other condition counts as one. */
function termsOf(clause: Query): number {
  const parts = clause.type === 'and' ? clause.queries : [clause]
  const words = parts.reduce((sum, part) => sum + (part.type === 'words' ? part.words.length : 0), 0)
  return Math.max(1, words)
}

function readClause(cursor: Cursor, lexeme: Extract<Lexeme, { kind: 'field' | 'value' }>): Query | Problem {
  cursor.index += 1
  if (lexeme.kind === 'value') return anyTextClause(lexeme)
  const reference = findField(lexeme.name)
  if (reference === undefined) return { problem: unknownField(lexeme.name), at: lexeme.at }
  return fieldClause(reference, takeComparison(cursor), takeFieldValue(cursor))
}

function takeComparison(cursor: Cursor): Comparison | null {
  const lexeme = peek(cursor)
  if (lexeme?.kind !== 'comparison') return null
  cursor.index += 1
  return lexeme.comparison
}

/** The lexer puts a value or a range after every field. */
function takeFieldValue(cursor: Cursor): Extract<Lexeme, { kind: 'value' | 'range' }> {
  const lexeme = peek(cursor)
  cursor.index += 1
  if (lexeme?.kind === 'value' || lexeme?.kind === 'range') return lexeme
  throw new Error('a field without a value came from the lexer')
}

const isProblem = (read: Query | Problem): read is Problem => 'problem' in read

const misplaced = ({ kind }: Lexeme): string =>
  kind === 'close'
    ? 'The closing parenthesis has nothing before it, or no opening one.'
    : `${kind.toUpperCase()} needs something to search for on both sides; as a word it goes into quotes.`

/** Beside a shorter name any field would be near. */
const NAME_LENGTH_MIN = 4

function unknownField(name: string): string {
  const nearest = name.length < NAME_LENGTH_MIN ? undefined : nearestOf(name, FIELDS, (field) => field.name)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest.name}?`
  const leaves = `scope.${escapeName(name)} or payload.${escapeName(name)}`
  return (
    `There is no field "${name}".${meant} A value in scope data or a payload is ${leaves}. Fields are ${FIELD_NAMES}. ` +
    'A colon that is part of the text goes into quotes.'
  )
}

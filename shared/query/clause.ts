import { parseGuid } from '../contract/guid.ts'
import { LEVELS } from '../contract/levels.ts'
import { DAY_MS, parseTimestamp, timestampOf } from '../contract/timestamp.ts'
import type { Comparison, LeafBound, NumberField, Query, TextField, TimeField } from './ast.ts'
import type { Field, FieldReference } from './fields.ts'
import type { Lexeme, Problem } from './lexer.ts'
import { sortKey, typeOf } from './sort-key.ts'
import { splitWords } from './words.ts'

type ValueLexeme = Extract<Lexeme, { kind: 'value' }>
type RangeLexeme = Extract<Lexeme, { kind: 'range' }>

/** Maximum words of a phrase: a store takes time for each word of a phrase at each place where it may begin. */
export const PHRASE_WORDS_MAX = 20

const ENDS_IN_WORD = /[\p{L}\p{N}]$/u
const INTEGER = /^[+-]?\d{1,15}$/
const HEX = /^[0-9a-f]+$/i
const DATE = /^\d{4}-\d{2}-\d{2}$/
const ORDERED = 'eventId, level, timestamp, receivedAt and values of scope.<key> and payload.<key>'
const COMPARED = 'numbers (1.5), times (2026-01-31T09:30Z) and durations (200ms)'
/** The end of a range without a bound. */
const OPEN = '*'

/** The query of a value without a field: words in any of the texts. */
export function anyTextClause(value: ValueLexeme): Query | Problem {
  return isLoneStar(value) ? { type: 'all' } : textClause(null, value)
}

/** The query of a field with a value, such as `level:>=warning`. */
export function fieldClause(
  reference: FieldReference,
  comparison: Comparison | null,
  given: ValueLexeme | RangeLexeme,
): Query | Problem {
  const value = comparison === null && given.kind === 'value' ? (asRange(reference, given) ?? given) : given
  if (reference.kind === 'leaf') return leafClause(reference, comparison, value)
  const { field } = reference
  switch (field.kind) {
    case 'text':
    case 'keyword':
    case 'guid':
    case 'hex':
      if (comparison !== null || value.kind === 'range') return noOrder(field.name, value.at)
      return field.kind === 'hex' ? hexClause(field, value) : textualClause(field, value)
    case 'number':
    case 'level':
    case 'time':
      return value.kind === 'range' ? rangeClause(field, value) : orderedClause(field, comparison ?? '=', value)
  }
}

/** Reads `a..b` as `[a TO b]` if the field has an order; in a leaf it stays a text unless both ends can be compared. */
function asRange(reference: FieldReference, { text, quoted, star, at, end }: ValueLexeme): RangeLexeme | undefined {
  const [from = '', to = '', ...more] = quoted || star ? [] : text.split('..')
  if (from === '' || to === '' || more.length > 0) return undefined
  const isRange =
    reference.kind === 'leaf'
      ? [from, to].every((one) => sortKey(one) !== undefined)
      : ['number', 'level', 'time'].includes(reference.field.kind)
  return isRange ? { kind: 'range', from, to, at, end } : undefined
}

function leafClause(
  { field, path }: LeafReference,
  comparison: Comparison | null,
  value: ValueLexeme | RangeLexeme,
): Query | Problem {
  if (value.kind === 'range') {
    return leafRange({ field, path, from: boundOf(value.from), to: boundOf(value.to) }, value.at)
  }
  if (comparison === null || comparison === '=') {
    if (isLoneStar(value)) return { type: 'leafExists', field, path }
    return { type: 'leaf', field, path, value: value.text, prefix: value.star }
  }
  if (value.star) return { problem: `A * cannot end a value that is compared.`, at: value.end - 1 }
  const bound = { value: value.text, isIncluded: comparison.endsWith('=') }
  const [from, to] = comparison.startsWith('>') ? [bound, null] : [null, bound]
  return leafRange({ field, path, from, to }, value.at)
}

const boundOf = (end: string): LeafBound | null => (end === OPEN ? null : { value: end, isIncluded: true })

type LeafRange = Extract<Query, { type: 'leafRange' }>

function leafRange({ field, path, from, to }: Omit<LeafRange, 'type'>, at: number): Query | Problem {
  if (from === null && to === null) return { type: 'leafExists', field, path }
  const name = `${field}.${path}`
  const types = new Set<string>()
  for (const { value } of [from, to].filter((bound) => bound !== null)) {
    const key = sortKey(value)
    if (key === undefined) return { problem: `${name} is compared with ${COMPARED}, not with "${value}".`, at }
    types.add(typeOf(key))
  }
  if (types.size > 1) return { problem: `Both ends of a range of ${name} are numbers, or times, or durations.`, at }
  return { type: 'leafRange', field, path, from, to }
}

type LeafReference = Extract<FieldReference, { kind: 'leaf' }>
type Textual = Extract<Field, { kind: 'text' | 'keyword' | 'guid' }>
type Hex = Extract<Field, { kind: 'hex' }>
type Ordered = Extract<Field, { kind: 'number' | 'level' | 'time' }>

function textualClause(field: Textual, value: ValueLexeme): Query | Problem {
  if (isLoneStar(value)) return { type: 'exists', field: field.name }
  if (field.kind === 'text') return textClause(field.name, value)
  return {
    type: 'equals',
    field: field.name,
    value: value.star ? storedPrefix(field, value.text) : storedValue(field, value.text),
    prefix: value.star,
  }
}

/** The value in its stored form. .NET's filters end a category in a dot to mean everything below it. */
function storedValue({ kind, name }: Textual, text: string): string {
  if (kind === 'guid') return parseGuid(text) ?? text
  return name === 'category' ? withoutLastDot(text) : text
}

/** GUIDs are stored in lower case. */
const storedPrefix = ({ kind }: Textual, text: string): string => (kind === 'guid' ? text.toLowerCase() : text)

/** A category in the form that is searched, with or without a dot at its end. */
export const withoutLastDot = (category: string): string => category.replace(/(?<=.)\.$/s, '')

/** The intakes for other clients store these ids in lower case; a client of our own format may have sent upper case, or both mixed. */
function hexClause({ name, path }: Hex, value: ValueLexeme): Query | Problem {
  if (isLoneStar(value)) return { type: 'leafExists', field: 'scope', path }
  const { text, at, star: prefix } = value
  if (!HEX.test(text)) return { problem: `The ids of ${name} are hexadecimal digits, not "${text}".`, at }
  const cases = new Set([text.toLowerCase(), text.toUpperCase(), text])
  return combine(
    'or',
    [...cases].map((id) => ({ type: 'leaf', field: 'scope', path, value: id, prefix })),
  )
}

/** One word, or several as a phrase: `order-4711` matches where `order` and `4711` follow each other. */
function textClause(field: TextField | null, value: ValueLexeme): Query | Problem {
  const words = splitWords(value.text)
  if (words.length === 0) {
    return { problem: `There is no letter or digit to search for in "${value.text}".`, at: value.at }
  }
  // In `order-*` the last word is complete: only what follows the dash is open.
  const prefix = value.star && ENDS_IN_WORD.test(value.text)
  return phraseOf(field, words, prefix)
}

/** The query of words that follow each other. In a long phrase, only the first ones have to; the others have to occur. */
export function phraseOf(field: TextField | null, words: readonly string[], prefix: boolean): Query {
  if (words.length <= PHRASE_WORDS_MAX) return { type: 'words', field, words, phrase: words.length > 1, prefix }
  return {
    type: 'and',
    queries: [
      { type: 'words', field, words: words.slice(0, PHRASE_WORDS_MAX), phrase: true, prefix: false },
      { type: 'words', field, words: words.slice(PHRASE_WORDS_MAX), phrase: false, prefix },
    ],
  }
}

function rangeClause(field: Ordered, { from, to, at, end }: RangeLexeme): Query | Problem {
  const bounds: Query[] = []
  for (const [comparison, text] of [['>=', from] as const, ['<=', to] as const]) {
    if (text === OPEN) continue
    const bound = orderedClause(field, comparison, { kind: 'value', text, quoted: false, star: false, at, end })
    if ('problem' in bound) return bound
    bounds.push(bound)
  }
  return bounds.length === 0 ? { type: 'all' } : combine('and', bounds)
}

function orderedClause(field: Ordered, comparison: Comparison, value: ValueLexeme): Query | Problem {
  if (isLoneStar(value) && comparison === '=') {
    return field.kind === 'number' ? { type: 'exists', field: field.name } : { type: 'all' }
  }
  if (value.star) return { problem: `A * cannot end a value of ${field.name}.`, at: value.end - 1 }
  switch (field.kind) {
    case 'number':
      return numberClause(field.name, comparison, value)
    case 'level':
      return levelClause(comparison, value)
    case 'time':
      return timeClause(field.name, comparison, value)
  }
}

function numberClause(field: NumberField, comparison: Comparison, { text, at }: ValueLexeme): Query | Problem {
  if (!INTEGER.test(text)) return { problem: `${field} is compared with whole numbers, not with "${text}".`, at }
  // Adding zero turns minus zero into zero.
  return { type: 'number', field, comparison, value: Number(text) + 0 }
}

function levelClause(comparison: Comparison, { text, at }: ValueLexeme): Query | Problem {
  const named = LEVELS.filter((level) => text !== '' && level.toLowerCase().startsWith(text.toLowerCase()))
  const [level] = named
  if (level === undefined || named.length > 1) {
    return { problem: `"${text}" is not a level; levels are ${LEVELS.join(', ')}.`, at }
  }
  return { type: 'level', comparison, rank: LEVELS.indexOf(level) }
}

function timeClause(field: TimeField, comparison: Comparison, { text, at }: ValueLexeme): Query | Problem {
  const value = parseTimestamp(text)
  if (value === undefined) {
    return { problem: `"${text}" is not a date or time such as 2026-01-31 or 2026-01-31T09:30:00Z.`, at }
  }
  if (!DATE.test(text) || comparison === '>=' || comparison === '<') return { type: 'time', field, comparison, value }
  // A date is the whole day, as in the query syntax of Lucene.
  const nextDay = timestampOf(Date.parse(value) + DAY_MS)
  const from: Query = { type: 'time', field, comparison: '>=', value: comparison === '>' ? nextDay : value }
  const to: Query = { type: 'time', field, comparison: '<', value: nextDay }
  return comparison === '=' ? { type: 'and', queries: [from, to] } : comparison === '>' ? from : to
}

/** Nested lists of the same operator become one; a list of one is that one. */
export function combine(type: 'and' | 'or', parts: readonly Query[]): Query {
  const queries = parts.flatMap((part) => (part.type === type ? part.queries : [part]))
  const [only] = queries
  return only !== undefined && queries.length === 1 ? only : { type, queries }
}

const isLoneStar = ({ text, quoted, star }: ValueLexeme): boolean => star && !quoted && text === ''

const noOrder = (name: string, at: number): Problem => ({
  problem: `${name} has no order: >, >=, <, <= and ranges work with ${ORDERED}.`,
  at,
})

import { findField } from '../../shared/query/fields.ts'
import { type Lexeme, lex } from '../../shared/query/lexer.ts'
import { printTerm, type Term } from '../../shared/query/term.ts'
import { splitWords } from '../../shared/query/words.ts'

/**
 * Adds the term to the search and removes its negation. A search that was read as text (`asText`, as the read API reported) keeps its
 * meaning: its words are quoted.
 */
export function addTerm(text: string, term: Term, asText = false): string {
  const query = asText || lex(text).problem !== null ? quotePieces(text) : text
  const base = trimmed(removeTerm(query, { ...term, negated: !term.negated }))
  if (hasTerm(base, term)) return base
  if (base === '' || base === '*') return printTerm(term)
  return `${hasTopOr(base) ? `(${base})` : base} ${printTerm(term)}`
}

/** Strips surrounding blanks, except an escaped one at the end; a trailing backslash is doubled so that it does not escape what follows. */
function trimmed(text: string): string {
  const { lexemes } = lex(text)
  const inner = text.slice(lexemes[0]?.at, lexemes.at(-1)?.end)
  return /(?<!\\)(?:\\\\)*\\$/.test(inner) ? `${inner}\\` : inner
}

/** Removes the term; the search is unchanged if the term is not one of its top-level AND conditions. */
export function removeTerm(text: string, term: Term): string {
  const found = findTerm(text, term)
  if (found === undefined) return text
  const before = text.slice(0, found.before)
  const after = text.slice(found.after)
  return `${before}${before !== '' && after !== '' ? ' ' : ''}${after}`
}

/** Whether the term is one of the top-level AND conditions. */
export const hasTerm = (text: string, term: Term): boolean => findTerm(text, term) !== undefined

/** The end of the text before a term, and the beginning of the text after it. */
interface Span {
  readonly before: number
  readonly after: number
}

/** Finds the term, together with the AND that joins it to the rest. */
function findTerm(text: string, term: Term): Span | undefined {
  const { lexemes, problem } = lex(text)
  if (problem !== null || hasTopOr(text)) return undefined
  let depth = 0
  for (const [index, lexeme] of lexemes.entries()) {
    if (lexeme.kind === 'open') depth += 1
    else if (lexeme.kind === 'close') depth -= 1
    else if (depth === 0 && isTerm(lexemes, index, term)) return spanOf(lexemes, index, term)
  }
  return undefined
}

function isTerm(lexemes: readonly Lexeme[], index: number, { field, value, prefix, negated }: Term): boolean {
  const name = lexemes[index]
  const found = lexemes[index + 1]
  return (
    name?.kind === 'field' &&
    found?.kind === 'value' &&
    found.text === value &&
    found.star === (prefix === true) &&
    isSameField(name.name, field) &&
    (lexemes[index - 1]?.kind === 'not') === (negated === true) &&
    !(negated === true && lexemes[index - 2]?.kind === 'not')
  )
}

function isSameField(left: string, right: string): boolean {
  const a = findField(left)
  const b = findField(right)
  if (a?.kind === 'leaf' && b?.kind === 'leaf') return a.field === b.field && a.path === b.path
  return a?.kind === 'field' && b?.kind === 'field' && a.field === b.field
}

function spanOf(lexemes: readonly Lexeme[], index: number, { negated }: Term): Span {
  const first = negated ? index - 1 : index
  const joined = lexemes[first - 1]?.kind === 'and'
  const before = lexemes[joined ? first - 2 : first - 1]
  // In `a:1 AND b`, removing the first term also removes the AND, as nothing precedes it.
  const next = index + 2
  const after = lexemes[!joined && lexemes[next]?.kind === 'and' ? next + 1 : next]
  return { before: before?.end ?? 0, after: after?.at ?? Number.POSITIVE_INFINITY }
}

/**
 * The search for words and values that begin with those of this one: `order NullRef` as `order* NullRef*`. Those that are negated, compared
 * or of a field without beginnings stay as they are, as does all of a text that cannot be split into terms.
 */
export function withStars(text: string): string {
  const { lexemes, problem } = lex(text)
  if (problem !== null) return text
  const ends = lexemes.flatMap((one, index) => (takesStar(lexemes, index) ? [one.end] : []))
  return ends.reduceRight((starred, end) => `${starred.slice(0, end)}*${starred.slice(end)}`, text)
}

function takesStar(lexemes: readonly Lexeme[], index: number): boolean {
  const [value, before] = [lexemes[index], lexemes[index - 1]]
  if (value?.kind !== 'value' || value.star || !/[\p{L}\p{N}]$/u.test(value.text)) return false
  if (before?.kind !== 'field') return before?.kind !== 'not' && before?.kind !== 'comparison'
  const field = findField(before.name)
  const hasBeginnings = field?.kind === 'leaf' || field?.field.kind === 'text' || field?.field.kind === 'keyword'
  return hasBeginnings && lexemes[index - 2]?.kind !== 'not'
}

function hasTopOr(text: string): boolean {
  let depth = 0
  for (const { kind } of lex(text).lexemes) {
    if (kind === 'open') depth += 1
    if (kind === 'close') depth -= 1
    if (kind === 'or' && depth === 0) return true
  }
  return false
}

/** Rewrites text that the grammar rejects into a query with the same meaning: each word becomes a phrase. */
const quotePieces = (text: string): string =>
  text
    .split(/\s+/)
    .filter((piece) => splitWords(piece).length > 0)
    .map((piece) => `"${piece.replace(/["\\]/g, '\\$&')}"`)
    .join(' ')

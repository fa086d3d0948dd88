import type { Comparison } from './ast.ts'

/** A piece of a search text, from `at` up to but not including `end` (UTF-16 units from 0). */
export type Lexeme = { readonly at: number; readonly end: number } & (
  | { readonly kind: 'open' | 'close' | 'and' | 'or' | 'not' }
  /** A name and its colon. */
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'comparison'; readonly comparison: Comparison }
  /** `star`: a `*` follows it. */
  | { readonly kind: 'value'; readonly text: string; readonly quoted: boolean; readonly star: boolean }
  | { readonly kind: 'range'; readonly from: string; readonly to: string }
)

/** The fault by which a text is not a query: a sentence for its author, and its place (UTF-16 units from 0). */
export interface Problem {
  readonly problem: string
  readonly at: number
}

/** The pieces of a text up to its end or up to the first problem. */
interface Lexed {
  readonly lexemes: readonly Lexeme[]
  readonly problem: Problem | null
}

const BLANKS = /\s+/y
const COMPARISON = /[<>]=?/y
const QUOTED = /"((?:\\.|[^"\\])*)"(\*?)/sy
const RANGE = /\[([^\]]*)\]/y
const RANGE_ENDS = /^\s*(\S+)\s+TO\s+(\S+)\s*$/i
/** A backslash makes the next character literal. */
const NAME = /((?:\\.|[^\s()":\\])+):/sy
const BARE = /(?:\\.?|[^\s()"\\])+/sy
const STAR_OR_ESCAPED = /\\.|\*/gs
const OPERATORS: ReadonlyMap<string, 'and' | 'or' | 'not'> = new Map([
  ['AND', 'and'],
  ['OR', 'or'],
  ['NOT', 'not'],
])

export function lex(text: string): Lexed {
  const lexemes: Lexeme[] = []
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const step = readStep(text, at)
    if ('problem' in step) return { lexemes, problem: step }
    lexemes.push(...step)
    at = step.at(-1)?.end ?? text.length
  }
  return { lexemes, problem: null }
}

/** The lexemes that begin at `at`: one, or all of a field with its value. At least one, which is not empty. */
function readStep(text: string, at: number): readonly Lexeme[] | Problem {
  const char = text[at]
  if (char === '(') return [{ kind: 'open', at, end: at + 1 }]
  if (char === ')') return [{ kind: 'close', at, end: at + 1 }]
  if (char === '-' && /[^\s)]/.test(text[at + 1] ?? ' ')) return [{ kind: 'not', at, end: at + 1 }]
  const name = match(NAME, text, at)
  if (name !== null) return readField(text, at, name)
  const value = readValue(text, at)
  if ('problem' in value) return value
  if (value.kind !== 'value' || value.quoted) return [value]
  const operator = OPERATORS.get(text.slice(at, value.end))
  return operator === undefined ? [value] : [{ kind: operator, at, end: value.end }]
}

function readField(text: string, at: number, name: RegExpExecArray): readonly Lexeme[] | Problem {
  const field: Lexeme = { kind: 'field', name: unescaped(name[1] ?? ''), at, end: at + name[0].length }
  const sign = match(COMPARISON, text, field.end)
  const begin = field.end + (sign?.[0].length ?? 0)
  const value = sign === null && text[begin] === '[' ? readRange(text, begin) : readFieldValue(text, begin, name[0])
  if ('problem' in value) return value
  if (sign === null) return [field, value]
  return [field, { kind: 'comparison', comparison: sign[0] as Comparison, at: field.end, end: begin }, value]
}

function readFieldValue(text: string, at: number, name: string): Lexeme | Problem {
  const next = text[at]
  if (next === '(') {
    return { problem: `A group cannot follow "${name}"; write ${name}a OR ${name}b instead.`, at }
  }
  if (next === undefined || next === ')' || /\s/.test(next)) {
    return { problem: `There is no value after "${name}"; a colon that is part of the text goes into quotes.`, at }
  }
  return readValue(text, at)
}

function readValue(text: string, at: number): Lexeme | Problem {
  if (text[at] !== '"') return readBare(text, at)
  const quoted = match(QUOTED, text, at)
  if (quoted === null) return { problem: 'The quotation mark is not closed.', at }
  const [whole, inner = '', star] = quoted
  return { kind: 'value', text: unescaped(inner), quoted: true, star: star === '*', at, end: at + whole.length }
}

function readBare(text: string, at: number): Lexeme | Problem {
  const raw = match(BARE, text, at)?.[0] ?? ''
  const stars = [...raw.matchAll(STAR_OR_ESCAPED)].filter(([found]) => found === '*').map(({ index }) => index)
  const star = stars.at(-1) === raw.length - 1
  if (stars.length > (star ? 1 : 0)) {
    const problem = 'A * can only be the end of a value; a * that is part of the text goes into quotes.'
    return { problem, at: at + (stars[0] ?? 0) }
  }
  const kept = star ? raw.slice(0, -1) : raw
  return { kind: 'value', text: unescaped(kept), quoted: false, star, at, end: at + raw.length }
}

function readRange(text: string, at: number): Lexeme | Problem {
  const range = match(RANGE, text, at)
  const ends = RANGE_ENDS.exec(range?.[1] ?? '')
  if (range === null || ends === null) return { problem: 'A range is written as [a TO b].', at }
  const [, from = '', to = ''] = ends
  return { kind: 'range', from, to, at, end: at + range[0].length }
}

const unescaped = (text: string): string => text.replace(/\\(.)/gs, '$1')

function match(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at
  return sticky.exec(text)
}

const skipBlanks = (text: string, at: number): number => at + (match(BLANKS, text, at)?.[0].length ?? 0)

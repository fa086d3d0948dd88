import { LEVELS } from '../../shared/contract/levels.ts'
import type { LeafName } from '../../shared/query/ast.ts'
import { FIELDS, findField, LEAF_FAMILIES } from '../../shared/query/fields.ts'
import { type Lexeme, lex } from '../../shared/query/lexer.ts'
import { escapeName, quoteValue } from '../../shared/query/term.ts'
import type { Completion } from '../schemas/answers.ts'

export type Choice = Completion['choices'][number]

/** The values that occur in entries, by field name. */
export type KnownValues = Readonly<Record<string, readonly KnownValue[] | undefined>>

export interface KnownValue {
  readonly value: string
  readonly name?: string | null
  readonly count?: number
}

/** Searchable values and names; read only when needed. */
export interface Known {
  readonly values: () => Promise<KnownValues>
  /** Names of leaves, such as `scope.RequestId`, including some that begin with `typed`; only those of values that are `wanted`. */
  readonly paths: (typed: string, wanted?: (value: string) => boolean) => Promise<readonly string[]>
  /** Values of a leaf, such as `scope.tenant`, including some that begin with `typed`. */
  readonly leafValues: (leaf: LeafName, typed: string) => Promise<readonly KnownValue[]>
  /** Event names, including some that begin with `typed`. */
  readonly eventNames: (typed: string) => Promise<readonly KnownValue[]>
}

const CHOICES_MAX = 12
/** Fields whose values can be listed; other fields get no completions. */
const COUNTED: readonly string[] = ['level', 'environment', 'event', 'step', 'project', 'category']
const NOTHING: readonly Choice[] = []

/** Stands for the text still to be typed, so that the lexer accepts an unfinished query. */
const PLACEHOLDER = 'x'
/** The rest of the word or value that the caret is in. */
const REST_OF_WORD = /^[^\s()":]*:?/
const REST_OF_VALUE = /^[^\s()"]*/
const REST_OF_QUOTED = /^(?:\\.|[^"\\])*"?\*?/s

/** Completes the text at the caret; no choices when nothing can follow. */
export async function complete(text: string, caret: number, known: Known): Promise<Completion> {
  const nothing = { from: caret, to: caret, choices: NOTHING }
  const head = text.slice(0, caret)
  const rest = text.slice(caret)
  const bare = lex(head + PLACEHOLDER)
  const quoted = bare.problem !== null && isInQuotes(head, bare.problem.at)
  const lexemes = quoted ? lex(`${head + PLACEHOLDER}"`).lexemes : bare.lexemes
  const last = lexemes.at(-1)
  if (last?.kind !== 'value' || last.end < caret) return nothing
  const typed = last.text.slice(0, -PLACEHOLDER.length)
  const field = fieldBefore(lexemes)
  if (field === undefined) {
    if (quoted || typed === '') return nothing
    return found(text, last.at, caret + lengthOf(REST_OF_WORD, rest), namesLike(typed, await known.paths(typed)))
  }
  const end = caret + lengthOf(quoted ? REST_OF_QUOTED : REST_OF_VALUE, rest)
  return found(text, last.at, end, await valuesLike(field, typed, known))
}

/** Full names of leaves that begin with the text, for inputs that take a name instead of a search. */
export const completeName = (text: string, paths: readonly string[]): Completion => ({
  from: 0,
  to: text.length,
  choices: paths
    .filter((path) => startsWith(path, text))
    .slice(0, CHOICES_MAX)
    .map((path) => ({ insert: path, label: path })),
})

/** Drops a choice's trailing blank if the text already has one. */
function found(text: string, from: number, to: number, choices: readonly Choice[]): Completion {
  const isSpaced = /^\s/.test(text.slice(to))
  const shown = choices.slice(0, CHOICES_MAX)
  return { from, to, choices: isSpaced ? shown.map((one) => ({ ...one, insert: one.insert.trimEnd() })) : shown }
}

const lengthOf = (shape: RegExp, text: string): number => shape.exec(text)?.[0].length ?? 0

/** Whether the lexer stopped at a quotation mark that is still to be closed. */
const isInQuotes = (head: string, at: number): boolean => head[at] === '"'

function fieldBefore(lexemes: readonly Lexeme[]): string | undefined {
  const one = lexemes.at(-2)
  const field = one?.kind === 'comparison' ? lexemes.at(-3) : one
  return field?.kind === 'field' ? field.name : undefined
}

function namesLike(typed: string, paths: readonly string[]): readonly Choice[] {
  const names: readonly Choice[] = [
    ...FIELDS.map(({ name, help }) => ({ insert: `${name}:`, label: name, help })),
    ...LEAF_FAMILIES.map(({ name, help }) => ({ insert: `${name}.`, label: `${name}.`, help })),
    ...paths.map((path) => ({ insert: `${escapeName(path)}:`, label: path })),
  ]
  const aliases = FIELDS.flatMap(({ name, help, aliases }) =>
    aliases
      .filter((alias) => startsWith(alias, typed) && !startsWith(name, typed))
      .map((alias) => ({ insert: `${alias}:`, label: alias, help })),
  )
  const begins = names.filter(({ label }) => startsWith(label, typed) && label !== typed)
  // `tenant` is on its way to `scope.tenant`.
  const within = names.filter(
    (one) => !begins.includes(one) && one.label.toLowerCase().includes(`.${typed.toLowerCase()}`),
  )
  return [...begins, ...aliases, ...within]
}

async function valuesLike(name: string, typed: string, known: Known): Promise<readonly Choice[]> {
  const all = await valuesOf(name, typed, known)
  const begins = new Set(all.filter(({ value, name }) => startsWith(value, typed) || startsWith(name ?? '', typed)))
  const contains = all.filter((one) => !begins.has(one) && includes(one, typed))
  return [...begins, ...contains].slice(0, CHOICES_MAX).map(({ value, name, count }) => ({
    insert: `${quoteValue(value)} `,
    label: value,
    ...(name != null && { help: name }),
    ...(count !== undefined && { count }),
  }))
}

async function valuesOf(name: string, typed: string, known: Known): Promise<readonly KnownValue[]> {
  const reference = findField(name)
  if (reference?.kind === 'leaf') return known.leafValues(reference, typed)
  const field = reference?.field.name ?? ''
  if (field === 'eventName') return known.eventNames(typed)
  if (!COUNTED.includes(field)) return []
  const given = (await known.values())[field] ?? []
  return field === 'level' ? levelsOf(given) : given
}

/** All levels, most severe first, with the counts that are known. */
const levelsOf = (counted: readonly KnownValue[]): readonly KnownValue[] =>
  LEVELS.toReversed().map((value) => counted.find((one) => one.value === value) ?? { value })

const startsWith = (text: string, beginning: string): boolean => text.toLowerCase().startsWith(beginning.toLowerCase())

const includes = ({ value, name }: KnownValue, part: string): boolean =>
  `${value}\n${name ?? ''}`.toLowerCase().includes(part.toLowerCase())

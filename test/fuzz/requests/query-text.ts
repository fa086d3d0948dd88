import { FIELDS, LEAF_FAMILIES } from '../../../shared/query/fields.ts'
import type { Random } from '../random.ts'
import { characterOf, GUIDS, NUMBERS, TIMES, textOf } from '../values.ts'

const GROUPS_DEEP = 4
const WORDS = [
  'order',
  'payment',
  'timeout',
  'a',
  'fz',
  '4711',
  '支付',
  'naïve',
  'x*',
  'order-47*',
  'C\\*',
  '*',
] as const
const PATHS = ['RequestId', 'user.id', 'amount', 'a\\ b', 'order.id', 'tags', '__proto__', 'x'.repeat(300)] as const

/** A search by the grammar of docs/query.md; it need not find anything. */
export const queryOf = (random: Random): string => anyOf(random, 0)

function anyOf(random: Random, depth: number): string {
  const parts = Array.from({ length: random.size(4) }, () => unary(random, depth))
  return parts.join(
    random.weighted([
      [4, ' '],
      [2, ' AND '],
      [2, ' OR '],
      [1, '\t\n '],
    ]),
  )
}

function unary(random: Random, depth: number): string {
  const negation = random.weighted([
    [8, ''],
    [1, '-'],
    [1, 'NOT '],
  ])
  if (depth < GROUPS_DEEP && random.oneIn(8)) return `${negation}(${anyOf(random, depth + 1)})`
  return negation + (random.oneIn(2) ? fieldTerm(random) : word(random))
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

const word = (random: Random): string =>
  random.oneIn(4) ? quoted(textOf(random, 4)) + (random.oneIn(4) ? '*' : '') : random.pick(WORDS)

function fieldTerm(random: Random): string {
  if (random.oneIn(4)) {
    const family = random.pick(LEAF_FAMILIES)
    return `${random.pick([family.name, ...family.aliases])}.${random.pick(PATHS)}:${word(random)}`
  }
  const field = random.pick(FIELDS)
  const name = random.pick([field.name, ...field.aliases, field.name.toUpperCase()])
  const value = searchedValue(random, field.kind)
  if (field.kind !== 'number' && field.kind !== 'level' && field.kind !== 'time') return `${name}:${value}`
  if (random.oneIn(4))
    return `${name}:[${random.pick([value, '*'])} TO ${random.pick([searchedValue(random, field.kind), '*'])}]`
  return `${name}:${random.pick(['', '>', '>=', '<', '<='])}${value}`
}

function searchedValue(random: Random, kind: (typeof FIELDS)[number]['kind']): string {
  switch (kind) {
    case 'number':
      return random.oneIn(3) ? random.pick(NUMBERS) : String(random.between(-5000, 5000))
    case 'level':
      return random.pick(['trace', 'Debug', 'info', 'warn', 'ERROR', 'critical', 'e', 'none'])
    case 'time':
      return random.oneIn(2)
        ? random.pick(['2026-01-31', '2026-01-31T09:30', '2026-01-31T09:30:00.5Z'])
        : quoted(random.pick(TIMES))
    case 'guid':
      return random.pick(GUIDS)
    case 'hex':
      return random.pick(['5b8efff798038103d269b633813fc60c', 'EEE19B7E*', '00', 'xyz', '*', '"ab"'])
    case 'keyword':
      return random.pick(['order-placed', 'Acme.*', 'Acme.Billing', '*', quoted(textOf(random, 2))])
    case 'text':
      return word(random)
  }
}

const SIGNS = [
  '(',
  ')',
  '"',
  ':',
  '*',
  '-',
  '\\',
  '[',
  ']',
  'TO',
  'AND',
  'OR',
  'NOT',
  '>',
  '<=',
  '~',
  '^',
  '/',
  '{',
  '\0',
] as const

/** The search with a violation of the grammar, or of a limit. */
export function brokenQuery(text: string, random: Random): string {
  const at = random.int(text.length + 1)
  const insert = (piece: string): string => text.slice(0, at) + piece + text.slice(at)
  return random.weighted<() => string>([
    [5, () => insert(random.pick(SIGNS))],
    [3, () => insert(characterOf(random))],
    [2, () => text.slice(0, at)],
    [1, () => '('.repeat(random.size(2_000)) + text + ')'.repeat(random.size(2_000))],
    [
      1,
      () =>
        `${random.pick(['a:', 'a ', '-', 'NOT ', '"', 'level:e ', 'a OR ', '\\', 'x*'])}`.repeat(random.size(1_500)),
    ],
    [1, () => `"${'a '.repeat(random.size(2_000))}"`],
  ])()
}

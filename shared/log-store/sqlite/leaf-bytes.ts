import type { EntryDocument, Leaf } from '../../contract/documents.ts'
import type { LeafField } from '../../query/ast.ts'
import { isWithin, type KeyRange, sortKey } from '../../query/sort-key.ts'
import { asBuffer } from '../../runtime/utf8.ts'
import { roundedNumber } from '../statistics.ts'
import type { Database } from './database.ts'

/**
 * Leaves and sets as bytes that SQLite can search with `instr`. Neither paths nor values contain a NUL (searchText replaces it), so a NUL
 * ends each; two begin a leaf. A leaf is then found as `\0\0`, the mark of its field, its path, `\0`, its value and the next two NULs.
 * Nothing else matches: a path begins with its mark, so two NULs before a mark never occur within a leaf.
 */
export const FIELD_MARKS = { payload: 'p', scope: 's' } as const satisfies Record<LeafField, string>

/** Null if there is no leaf. */
export function leafBytes({ payloadLeaves, scopeLeaves }: EntryDocument): Buffer | null {
  if (payloadLeaves.length + scopeLeaves.length === 0) return null
  return Buffer.from(`${leafText('payload', payloadLeaves)}${leafText('scope', scopeLeaves)}\0\0`)
}

function leafText(field: LeafField, leaves: readonly Leaf[]): string {
  let text = ''
  for (const [path, value] of leaves) text += `\0\0${FIELD_MARKS[field]}${path}\0${value}`
  return text
}

/**
 * The bytes that `leafBytes` contains for a leaf with this value or, with `prefix`, with a value that begins like it; without a value, for
 * any leaf at the path.
 */
export const leafNeedle = (field: LeafField, path: string, value = '', prefix = true): Buffer =>
  Buffer.from(`\0\0${FIELD_MARKS[field]}${path}\0${value}${prefix ? '' : '\0\0'}`)

/**
 * The arguments of `leafNeedle` as a text, which SQLite passes to a function at less cost than bytes, and without NULs. It is made anew for
 * each row, so `needleOf` remembers its bytes.
 */
export const needleText = (...given: Parameters<typeof leafNeedle>): string => JSON.stringify(given)

const needles = new Map<string, Buffer>()
const NEEDLES_MAX = 100

function needleOf(text: string): Buffer {
  const known = needles.get(text)
  if (known !== undefined) return known
  const needle = leafNeedle(...(JSON.parse(text) as Parameters<typeof leafNeedle>))
  if (needles.size >= NEEDLES_MAX) needles.clear()
  needles.set(text, needle)
  return needle
}

/** The values of the leaves at a path; the needle is `leafNeedle` without a value. */
function leafValues(leaves: Uint8Array, needle: Uint8Array): readonly string[] {
  const bytes = asBuffer(leaves)
  const values: string[] = []
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at)) {
    const begin = at + needle.length
    at = bytes.indexOf(0, begin)
    values.push(bytes.toString('utf8', begin, at))
  }
  return values
}

/** Whether any of these values is within the range. */
export function hasLeafWithin(leaves: Uint8Array, needle: Uint8Array, range: KeyRange): boolean {
  for (const value of leafValues(leaves, needle)) {
    const key = sortKey(value)
    if (key !== undefined && isWithin(range, key)) return true
  }
  return false
}

/** The values without duplicates. */
export function leafTexts(leaves: Uint8Array, needle: Uint8Array): readonly string[] {
  const values = leafValues(leaves, needle)
  return values.length < 2 ? values : [...new Set(values)]
}

/** The numbers among these values, rounded (statistics.ts) and without duplicates. */
export function roundedNumbers(values: readonly string[]): readonly number[] {
  const numbers = values.map(roundedNumber).filter((number) => number !== undefined)
  return numbers.length < 2 ? numbers : [...new Set(numbers)]
}

/** SQL functions of an arrival and a needle (`needleText`): whether its entry has such a leaf. */
export const HAS_LEAF = 'has_leaf'
/** The same, with the two bounds of a range of keys: whether the value of such a leaf is within it. */
export const LEAF_WITHIN = 'leaf_within'
/** SQL functions of an arrival and a needle: the values of its leaves, or their numbers, as a JSON array; null if there is no such leaf. */
export const LEAF_TEXTS = 'leaf_texts'
export const LEAF_NUMBERS = 'leaf_numbers'

/** Defines these functions; `leavesOf` gives the leaves of an entry, null if there are none. */
export function defineLeafFunctions(database: Database, leavesOf: (arrival: number) => Uint8Array | null): void {
  const define = (
    name: string,
    work: (leaves: Uint8Array, needle: Uint8Array, from: string, to: string) => string | number | null,
  ): void =>
    database.define(name, (arrival, needle, from = '', to = '') => {
      const leaves = leavesOf(Number(arrival))
      return leaves === null ? null : work(leaves, needleOf(String(needle)), String(from), String(to))
    })
  define(HAS_LEAF, (leaves, needle) => (asBuffer(leaves).indexOf(needle) === -1 ? 0 : 1))
  define(LEAF_WITHIN, (leaves, needle, from, to) => (hasLeafWithin(leaves, needle, { from, to }) ? 1 : 0))
  define(LEAF_TEXTS, (leaves, needle) => arrayOf(leafTexts(leaves, needle)))
  define(LEAF_NUMBERS, (leaves, needle) => arrayOf(roundedNumbers(leafValues(leaves, needle))))
}

const arrayOf = (values: readonly unknown[]): string | null => (values.length === 0 ? null : JSON.stringify(values))

/** A set of texts, which can be searched with `memberNeedle`. */
export const setBytes = (members: readonly string[]): Buffer =>
  Buffer.from(members.length === 0 ? '' : `\0${members.join('\0')}\0`)

/** The members of a set; a damaged row may have another value in its place, which has none. */
export function setMembers(bytes: unknown): readonly string[] {
  return !(bytes instanceof Uint8Array) || bytes.length === 0 ? [] : asBuffer(bytes).toString().slice(1, -1).split('\0')
}

export const memberNeedle = (member: string): Buffer => Buffer.from(`\0${member}\0`)

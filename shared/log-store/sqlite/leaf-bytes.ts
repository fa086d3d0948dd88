import type { EntryDocument, Leaf } from '../../contract/documents.ts'
import type { LeafField } from '../../query/ast.ts'
import { isWithin, type KeyRange, sortKey } from '../../query/sort-key.ts'
import { roundedNumber } from '../statistics.ts'

/**
 * Leaves and sets as bytes that SQLite can search with `instr`. Neither paths nor values contain a NUL (searchText replaces it), so a NUL
 * ends each; two begin a leaf. A leaf is then found as `\0\0`, the mark of its field, its path, `\0`, its value and the next two NULs.
 * Nothing else matches: a path begins with its mark, so two NULs before a mark never occur within a leaf.
 */
const MARKS = { payload: 'p', scope: 's' } as const satisfies Record<LeafField, string>

/** Null if there is no leaf. */
export function leafBytes({ payloadLeaves, scopeLeaves }: EntryDocument): Buffer | null {
  if (payloadLeaves.length + scopeLeaves.length === 0) return null
  return Buffer.from(`${leafText('payload', payloadLeaves)}${leafText('scope', scopeLeaves)}\0\0`)
}

function leafText(field: LeafField, leaves: readonly Leaf[]): string {
  let text = ''
  for (const [path, value] of leaves) text += `\0\0${MARKS[field]}${path}\0${value}`
  return text
}

/** The bytes that `leafBytes` contains for a leaf with this value or, with `prefix`, with a value that begins like it. */
export const leafNeedle = (field: LeafField, path: string, value: string, prefix: boolean): Buffer =>
  Buffer.from(`\0\0${MARKS[field]}${path}\0${value}${prefix ? '' : '\0\0'}`)

/** The values of the leaves at a path; the needle is `leafNeedle` with an empty value and `prefix`. */
export function* leafValues(leaves: Uint8Array, needle: Uint8Array): Iterable<string> {
  const bytes = Buffer.from(leaves.buffer, leaves.byteOffset, leaves.byteLength)
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at)) {
    const begin = at + needle.length
    at = bytes.indexOf(0, begin)
    yield bytes.toString('utf8', begin, at)
  }
}

/** Whether any of these values is within the range. */
export function hasLeafWithin(leaves: Uint8Array, needle: Uint8Array, range: KeyRange): boolean {
  for (const value of leafValues(leaves, needle)) {
    const key = sortKey(value)
    if (key !== undefined && isWithin(range, key)) return true
  }
  return false
}

/** These values without duplicates, as a JSON array. */
export const leafTexts = (leaves: Uint8Array, needle: Uint8Array): string =>
  JSON.stringify([...new Set(leafValues(leaves, needle))])

/** The numbers among these values, rounded (statistics.ts) and without duplicates, as a JSON array. */
export function leafNumbers(leaves: Uint8Array, needle: Uint8Array): string {
  const numbers = new Set<number>()
  for (const value of leafValues(leaves, needle)) {
    const number = roundedNumber(value)
    if (number !== undefined) numbers.add(number)
  }
  return JSON.stringify([...numbers])
}

/** A set of texts, which can be searched with `memberNeedle`. */
export const setBytes = (members: readonly string[]): Buffer =>
  Buffer.from(members.length === 0 ? '' : `\0${members.join('\0')}\0`)

export function setMembers(bytes: Uint8Array): readonly string[] {
  return bytes.length === 0 ? [] : Buffer.from(bytes).toString().slice(1, -1).split('\0')
}

export const memberNeedle = (member: string): Buffer => Buffer.from(`\0${member}\0`)

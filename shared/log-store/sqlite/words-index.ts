import type { EntryDocument } from '../../contract/documents.ts'
import { murmur2 } from '../../contract/partitioner.ts'
import type { LeafField, Query } from '../../query/ast.ts'
import { keyRange, sortKey, typeOf } from '../../query/sort-key.ts'
import { mayBeInWord, splitWords, WORD_LENGTH_MAX } from '../../query/words.ts'
import { FIELD_MARKS } from './leaf-bytes.ts'
import type { TextColumn } from './schema.ts'

/**
 * The form of texts in SQLite's full-text index, in which they are split as in words.ts. Its tokenizer agrees with words.ts on ASCII, so
 * such texts go in unchanged, which is fast. Of any other text the words go in; each character that the tokenizer might not keep as it is
 * (its Unicode tables are old, and it folds case differently) becomes two of the private use area.
 */
const TAKEN_AS_IT_IS = /^[0-9a-zß-öø-ÿα-ρσ-ωа-џ一-龥ぁ-ゖァ-ヺ가-힣]*$/
const NOT_TAKEN = /[^0-9a-zß-öø-ÿα-ρσ-ωа-џ一-龥ぁ-ゖァ-ヺ가-힣]/g

/** The text to put into the index; null if it has nothing to find. */
export function indexedText(text: string | null): string | null {
  if (text === null || text === '') return null
  return splitsAlike(text) ? text : splitWords(text).map(indexedWord).join(' ')
}

/** A word in the form of the index. None of its characters has a meaning in the syntax of full-text queries. */
export const indexedWord = (word: string): string =>
  TAKEN_AS_IT_IS.test(word) ? word : word.replace(NOT_TAKEN, inPrivateUse)

function inPrivateUse(unit: string): string {
  const code = unit.charCodeAt(0)
  return String.fromCharCode(0xe000 + (code >> 8), 0xe100 + (code & 0xff))
}

/** Whether the text is ASCII without NUL, and has no word that words.ts would cut. */
function splitsAlike(text: string): boolean {
  let run = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code > 0x7f || code === 0) return false
    run = mayBeInWord(code) ? run + 1 : 0
    if (run > WORD_LENGTH_MAX) return false
  }
  return true
}

/**
 * A full-text query: the words as a phrase in one of the columns, with `prefix` the last one as the beginning of a word. There has to be at
 * least one word.
 */
export const matchPhrase = (columns: readonly TextColumn[], words: readonly string[], prefix: boolean): string =>
  `{${columns.join(' ')}} : "${words.map(indexedWord).join(' ')}"${prefix ? ' *' : ''}`

/** Begins the words of values. No word of a text begins with it (`inPrivateUse`). */
const VALUE_MARK = '\ue200'

/**
 * The numbers, times and durations among the leaves as words: field and path, and the value to two significant digits, a time to the hour.
 * They narrow a comparison to few entries; the leaves themselves decide.
 */
export function valueWords({ payloadLeaves, scopeLeaves }: EntryDocument): string {
  const words = new Set<string>()
  for (const [field, leaves] of [['payload', payloadLeaves] as const, ['scope', scopeLeaves] as const]) {
    for (const [path, value] of leaves) {
      const key = sortKey(value)
      if (key !== undefined) words.add(`${stemOf(field, path, key)}${digitsOfKey(key)}`)
    }
  }
  return [...words].join(' ')
}

/** A full-text query for the words of all values in the range, and of some near its ends; null if there can be no value in it. */
export function matchValues(query: Extract<Query, { type: 'leafRange' }>): string | null {
  const range = keyRange(query)
  if (range === undefined) return null
  const stem = stemOf(query.field, query.path, range.from)
  const length = DIGITS[typeOf(range.from)]
  const [first, last] = [
    isOpen(range.from) ? '' : digitsOfKey(range.from),
    isOpen(range.to) ? '' : digitsOfKey(range.to),
  ]
  const prefixes = prefixesOf(first.padEnd(length, '0'), last.padEnd(length, '9'))
  return `{leaves} : (${prefixes.map((digits) => `"${stem}${digits}" *`).join(' OR ')})`
}

/** The digits of a value's word, by the type of the value: of a number its sign, exponent and first digits (sort-key.ts). */
const DIGITS = { number: 7, duration: 7, time: 10 } as const

/** The path as a hash of fixed length: two paths with the same hash cost time and no more. */
const stemOf = (field: LeafField, path: string, key: string): string =>
  `${VALUE_MARK}${FIELD_MARKS[field]}${(murmur2(Buffer.from(path)) >>> 0).toString(36).padStart(7, '0')}${key.charAt(0)}`

/** Digits that order as the keys do, though several keys may have the same. */
function digitsOfKey(key: string): string {
  const length = DIGITS[typeOf(key)]
  const digits = key.slice(1).replace(/\D/g, '')
  // The digits of a negative number are complements, so that its missing ones are nines.
  return digits.slice(0, length).padEnd(length, digits.startsWith('0') ? '9' : '0')
}

/** Whether a bound of a range is no value but the beginning or end of a type. */
const isOpen = (bound: string): boolean => bound.length === 1

/** The fewest prefixes of the numbers from `first` to `last`, which have the same number of digits. */
function prefixesOf(first: string, last: string): readonly string[] {
  if (/^0*$/.test(first) && /^9*$/.test(last)) return ['']
  const [low, high] = [Number(first[0]), Number(last[0])]
  const [lowRest, highRest] = [first.slice(1), last.slice(1)]
  const below = (digit: number, rests: readonly string[]): readonly string[] => rests.map((rest) => `${digit}${rest}`)
  if (low > high) return []
  if (low === high) return below(low, prefixesOf(lowRest, highRest))
  const between = Array.from({ length: high - low - 1 }, (_, index) => String(low + 1 + index))
  return [
    ...below(low, prefixesOf(lowRest, '9'.repeat(lowRest.length))),
    ...between,
    ...below(high, prefixesOf('0'.repeat(highRest.length), highRest)),
  ]
}

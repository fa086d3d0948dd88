import { mostBytes } from '../runtime/utf8.ts'

/**
 * Text made safe for searching. Accepted text is shown verbatim; searched text passes through here first, both when documents are written
 * and when filters are read, so that the two sides match.
 */

/** Maximum UTF-8 bytes of each keyword. These are also the limits of acceptance, so an accepted value is never cut. */
export const KEYWORD_BYTES = {
  identifier: 1_024,
  correlationKey: 512,
  environment: 256,
  category: 4_096,
  eventName: 4_096,
} as const

const REPLACEMENT = '\uFFFD'
const encoder = new TextEncoder()

/** The text with lone surrogates and NUL, which some stores refuse or stop at, replaced by U+FFFD. */
export function searchText(text: string): string {
  const formed = text.isWellFormed() ? text : text.toWellFormed()
  return formed.includes('\0') ? formed.replaceAll('\0', REPLACEMENT) : formed
}

/** Words and phrases are searched for in this many characters of a text: a search takes time for each place where a phrase may begin. */
export const FULL_TEXT_CHARACTERS_MAX = 128 * 1024

/** The part of a long text that words and phrases search, like `searchText`. */
export const fullText = (text: string): string => searchText(text.slice(0, FULL_TEXT_CHARACTERS_MAX))

/** Like `searchText`, cut to at most `bytesMax` bytes of UTF-8, never inside a code point. */
export function keyword(text: string, bytesMax: number): string {
  // Most texts need not be measured.
  if (mostBytes(text) <= bytesMax) return searchText(text)
  const clean = searchText(text.slice(0, bytesMax))
  return clean.slice(0, encoder.encodeInto(clean, new Uint8Array(bytesMax)).read)
}

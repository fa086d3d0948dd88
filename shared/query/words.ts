import { beginningOf } from '../contract/rows.ts'

/** Maximum UTF-16 units of a word; longer ones are cut to this, in texts and in searches alike. */
export const WORD_LENGTH_MAX = 128

const NOT_ASCII = /[\u0080-\uffff]/
const ASCII_WORD = /[a-z0-9]+/g
/** Han and Hiragana have no spaces between words: there each character is a word, and a search for several is a phrase. */
const WORD =
  /[[\p{L}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}]]+|[[\p{L}\p{N}]&&[\p{Script=Han}\p{Script=Hiragana}]]/gv

/**
 * The words of a text in order: runs of Unicode letters and digits, lower-cased. This is the one definition of a word; every store indexes
 * and searches by it. Splitting a word again returns the word itself, and the words of a text's beginning are the beginning of the text's
 * words.
 */
export function splitWords(text: string): readonly string[] {
  const lower = lowerCase(text)
  const words = lower.match(NOT_ASCII.test(lower) ? WORD : ASCII_WORD)
  if (words === null) return []
  for (const [index, word] of words.entries())
    if (word.length > WORD_LENGTH_MAX) words[index] = beginningOf(word, WORD_LENGTH_MAX)
  return words
}

/** Whether a UTF-16 unit may be part of a word; certain for ASCII only. */
export const mayBeInWord = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code > 0x7f

/** Whether the words follow each other in the words of a text; with `prefix`, the last one may be the beginning of a word. */
export function hasPhrase(text: readonly string[], words: readonly string[], prefix: boolean): boolean {
  const last = words.length - 1
  return text.some((_, begin) =>
    words.every((word, index) => {
      const found = text[begin + index]
      return found === word || (prefix && index === last && found?.startsWith(word) === true)
    }),
  )
}

/** A sigma's lower case depends on what follows it, but a word's beginning has to stay the same: all forms become one. */
const lowerCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

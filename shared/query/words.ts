/** A longer word is known by its first so many UTF-16 units, in texts and in searches alike. */
export const WORD_LENGTH_MAX = 128

const NOT_ASCII = /[\u0080-\uffff]/
const ASCII_WORD = /[a-z0-9]+/g
/** Han and Hiragana put no blanks between words: there each character is a word, and a search for several is a phrase. */
const WORD =
  /[[\p{L}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}]]+|[[\p{L}\p{N}]&&[\p{Script=Han}\p{Script=Hiragana}]]/gv

/**
 * The words of a text in their order: runs of letters and digits by Unicode, lower-cased. This is the one definition of a
 * word; every store indexes and searches by it. Splitting a word again gives the word itself, and the words of the beginning
 * of a text are the beginning of the words of the text.
 */
export function splitWords(text: string): readonly string[] {
  const lower = lowerCase(text)
  const words = lower.match(NOT_ASCII.test(lower) ? WORD : ASCII_WORD)
  if (words === null) return []
  for (const [index, word] of words.entries()) if (word.length > WORD_LENGTH_MAX) words[index] = cut(word)
  return words
}

/** Whether a UTF-16 unit may be part of a word; certain for ASCII only. */
export const mayBeInWord = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code > 0x7f

/** Whether the words follow each other in the words of a text; with `prefix` the last one may go on. */
export function hasPhrase(text: readonly string[], words: readonly string[], prefix: boolean): boolean {
  const last = words.length - 1
  return text.some((_, begin) =>
    words.every((word, index) => {
      const found = text[begin + index]
      return found === word || (prefix && index === last && found?.startsWith(word) === true)
    }),
  )
}

/** How a sigma is lower-cased depends on what follows it, but the beginning of a word has to stay one: all become the same. */
const lowerCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

function cut(word: string): string {
  const last = word.charCodeAt(WORD_LENGTH_MAX - 1)
  const partsPair = last >= 0xd800 && last <= 0xdbff
  return word.slice(0, partsPair ? WORD_LENGTH_MAX - 1 : WORD_LENGTH_MAX)
}

import type { TextField } from '../../query/ast.ts'
import { mayBeInWord, splitWords, WORD_LENGTH_MAX } from '../../query/words.ts'

/**
 * The form of texts in SQLite's full-text index, in which they are split as in words.ts. Its tokenizer agrees with words.ts on ASCII, so
 * such texts go in unchanged, which is fast. Of any other text the words go in; each character that the tokenizer might not keep as it is
 * (its Unicode tables are old, and it folds case differently) becomes two of the private use area.
 */
const TAKEN_AS_IT_IS = /^[0-9a-zß-öø-ÿα-ρσ-ωа-џ一-龥ぁ-ゖァ-ヺ가-힣]*$/
const NOT_TAKEN = /[^0-9a-zß-öø-ÿα-ρσ-ωа-џ一-龥ぁ-ゖァ-ヺ가-힣]/g

export type WordColumn = TextField | 'leaves'

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
export const matchPhrase = (columns: readonly WordColumn[], words: readonly string[], prefix: boolean): string =>
  `{${columns.join(' ')}} : "${words.map(indexedWord).join(' ')}"${prefix ? ' *' : ''}`

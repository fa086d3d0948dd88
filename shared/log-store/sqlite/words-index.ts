import type { TextField } from '../../query/ast.ts'
import { mayBeInWord, splitWords, WORD_LENGTH_MAX } from '../../query/words.ts'

/**
 * The form of texts for SQLite's full-text index, so that it splits them as words.ts does. Its tokenizer agrees with words.ts on
 * ASCII, so that such texts go in as they are, which is fast. Of any other the words go in, with every character written as
 * two of the private use area that the tokenizer (whose Unicode tables are old and which folds case its own way) might not
 * take as it is.
 */
const TAKEN_AS_IT_IS = /^[0-9a-zß-öø-ÿα-ρσ-ωа-џ一-龥ぁ-ゖァ-ヺ가-힣]*$/
const NOT_TAKEN = /[^0-9a-zß-öø-ÿα-ρσ-ωа-џ一-龥ぁ-ゖァ-ヺ가-힣]/g

export type WordColumn = TextField | 'leaves'

/** The text to put into the index; null where there is nothing to find. */
export function indexedText(text: string | null): string | null {
  if (text === null || text === '') return null
  return splitsAlike(text) ? text : splitWords(text).map(indexedWord).join(' ')
}

/** A word as it stands in the index. No character of it means anything to the syntax of full-text queries. */
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
 * A full-text query: the words one after the other in one of the columns, the last of them open where `prefix`. There has to
 * be at least one word.
 */
export const matchPhrase = (columns: readonly WordColumn[], words: readonly string[], prefix: boolean): string =>
  `{${columns.join(' ')}} : "${words.map(indexedWord).join(' ')}"${prefix ? ' *' : ''}`

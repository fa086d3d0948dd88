import { splitWords, WORD_LENGTH_MAX } from '../../query/words.ts'
import { UNIT_BYTES_MAX } from '../../runtime/utf8.ts'

const BLANK = 32
/** For each ASCII character, its lower case if it is part of a word, else a space. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => {
  const lower = String.fromCharCode(code).toLowerCase()
  return /[a-z0-9]/.test(lower) ? lower.charCodeAt(0) : BLANK
})
/** Longer texts are split by `splitWords`; most are far shorter. */
const TEXT_LENGTH_MAX = 64 * 1024
const room = Buffer.alloc(UNIT_BYTES_MAX * TEXT_LENGTH_MAX)

/**
 * The words of a text as `splitWords` defines them, separated by spaces. Most texts are pure ASCII: those are read once and written once,
 * without a string for each word.
 */
export function wordLine(text: string): string {
  if (text.length <= TEXT_LENGTH_MAX) {
    const bytes = room.write(text)
    // Only ASCII has as many bytes as characters.
    if (bytes === text.length) return asciiWords(bytes)
  }
  return splitWords(text).join(' ')
}

/** Overwrites the text itself, which is never shorter than its words. */
function asciiWords(length: number): string {
  let end = 0
  let wordStart = 0
  for (let at = 0; at < length; at++) {
    const folded = FOLDED[room[at] as number] as number
    if (folded !== BLANK) room[end++] = folded
    else if (end > wordStart) {
      wordStart = Math.min(end, wordStart + WORD_LENGTH_MAX) + 1
      room[wordStart - 1] = BLANK
      end = wordStart
    }
  }
  return end > wordStart
    ? room.toString('latin1', 0, Math.min(end, wordStart + WORD_LENGTH_MAX))
    : room.toString('latin1', 0, Math.max(0, end - 1))
}

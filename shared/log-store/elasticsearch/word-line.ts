import { splitWords, WORD_LENGTH_MAX } from '../../query/words.ts'

const BLANK = 32
const NOT_ASCII = /[\u0080-\uffff]/
/** Of each ASCII character: its lower case where it is part of a word, else a blank. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => {
  const lower = String.fromCharCode(code).toLowerCase()
  return /[a-z0-9]/.test(lower) ? lower.charCodeAt(0) : BLANK
})
/** Longer texts are split like any other; most are far shorter. */
const ROOM_BYTES = 64 * 1024
const room = Buffer.alloc(ROOM_BYTES)

/**
 * The words of a text as `splitWords` defines them, with blanks between. Most texts are ASCII alone: those are read once and written
 * once, without a string for each word.
 */
export const wordLine = (text: string): string =>
  text.length > ROOM_BYTES || NOT_ASCII.test(text) ? splitWords(text).join(' ') : asciiWords(text)

/** Written over the text itself, which is never shorter than its words. */
function asciiWords(text: string): string {
  const length = room.write(text, 'latin1')
  let end = 0
  let wordLength = 0
  for (let at = 0; at < length; at++) {
    const folded = FOLDED[room[at] as number] as number
    if (folded !== BLANK) {
      wordLength += 1
      if (wordLength <= WORD_LENGTH_MAX) room[end++] = folded
    } else if (wordLength > 0) {
      room[end++] = BLANK
      wordLength = 0
    }
  }
  if (wordLength === 0 && end > 0) end -= 1
  return room.toString('latin1', 0, end)
}

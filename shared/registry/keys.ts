import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Random bytes of a new key: 192 bits, more than the 128 that make guessing hopeless. */
const KEY_BYTES = 24

/** Makes a key recognisable for people and for secret scanners, and keeps it from looking like a command's option. */
const KEY_MARK = 'sl_'

/** A key has to fit into a header, so it is visible ASCII. */
const KEY_SHAPE = /^[\x21-\x7e]{1,256}$/

const WEAK_BELOW_BITS = 128
const DISTINCT_CHARACTERS_MIN = 8

/** Maximum characters of a key that may be shown. */
const PREFIX_CHARACTERS = 6

export const generateKey = (): string => KEY_MARK + randomBytes(KEY_BYTES).toString('base64url')

/** Whether every new key begins so, which then tells none apart. */
export const beginsNewKeys = (prefix: string): boolean => KEY_MARK.startsWith(prefix)

/** SHA-256 of a key, the only form in which it is stored. A random key needs no slow hash: there is no dictionary to try. */
export const hashKey = (key: string): Buffer =>
  // Several times as fast as requesting a Buffer, and on the path of every request.
  Buffer.from(hash('sha256', key, 'binary'), 'latin1')

export const hashKeyHex = (key: string): string => hash('sha256', key, 'hex')

/** Whether `presented` is among the hashes. All are compared in full, so that the time does not reveal how close any of them came. */
export function includesHash(hashes: readonly Buffer[], presented: Buffer): boolean {
  let found = false
  for (const each of hashes) found = timingSafeEqual(each, presented) || found
  return found
}

/** The part of a key that may be shown: 6 characters, or fewer for a short key, so that it is not given away. */
export const shownPrefix = (key: string): string =>
  key.slice(0, Math.min(PREFIX_CHARACTERS, Math.floor(key.length / 4)))

/** Whether a client could send the key at all: 1 to 256 visible ASCII characters. */
export const isSendableKey = (key: string): boolean => KEY_SHAPE.test(key)

/**
 * The reason why a key is easy to guess, to complete "the key …"; undefined if none is found. A minimum check, not a proof: it cannot know
 * how the key was made.
 */
export function keyWeakness(key: string): string | undefined {
  if (key.length * bitsPerCharacter(key) < WEAK_BELOW_BITS) {
    return `is too short for ${WEAK_BELOW_BITS} bits of randomness, which take 22 letters and digits or 32 hexadecimal digits`
  }
  if (new Set(key).size < DISTINCT_CHARACTERS_MIN)
    return `has fewer than ${DISTINCT_CHARACTERS_MIN} different characters`
  if (isRepetition(key)) return 'repeats itself'
  return undefined
}

/** The maximum bits of one character, given the kinds of characters that occur. */
function bitsPerCharacter(key: string): number {
  if (/^([0-9a-f]*|[0-9A-F]*)$/.test(key)) return /^[0-9]*$/.test(key) ? Math.log2(10) : 4
  const kinds = [
    [/[0-9]/, 10],
    [/[a-z]/, 26],
    [/[A-Z]/, 26],
    [/[^0-9A-Za-z]/, 2],
  ] as const
  return Math.log2(kinds.reduce((sum, [kind, size]) => sum + (kind.test(key) ? size : 0), 0))
}

/** A text repeats a part of itself exactly if it occurs within its own double, away from both ends. */
const isRepetition = (text: string): boolean => (text + text).indexOf(text, 1) < text.length

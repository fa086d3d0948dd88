import { createHash, hash, randomFillSync } from 'node:crypto'
import type { Clock } from '../../shared/runtime/clock.ts'

/** The largest value of the 12 bits that order the ids of one millisecond. */
const COUNTER_MAX = 0xfff

/** The bytes of an id after its time and its place in the millisecond. */
const RANDOM_BYTES = 8

/**
 * Creates a source of UUIDv7 (RFC 9562) in canonical form, each greater as text than the one before. If the clock stands still or goes
 * back, the source counts on from the last millisecond it used.
 *
 * The ids of one millisecond have the same random digits and differ by their counter: they compress to a few bytes each in a batch, and
 * fresh digits in each millisecond keep those of several processes apart.
 */
export function createIdSource(clock: Clock): () => string {
  // Written digit by digit into one buffer: an id is made for every entry, and joining texts makes eight times the garbage.
  const text = Buffer.from('00000000-0000-7000-8000-000000000000')
  const random = Buffer.alloc(RANDOM_BYTES)
  let epochMs = -1
  let counter = 0

  function beginMillisecond(): void {
    const digits = epochMs.toString(16).padStart(12, '0')
    text.write(`${digits.slice(0, 8)}-${digits.slice(8)}`)
    randomFillSync(random)
    // The variant's two bits, then 62 random ones.
    writeHex(text, 19, 4, 0x8000 | (random.readUInt16LE(0) & 0x3fff))
    writeHex(text, 24, 6, random.readUIntLE(2, 3))
    writeHex(text, 30, 6, random.readUIntLE(5, 3))
  }

  return () => {
    const now = clock.now()
    if (now > epochMs || counter === COUNTER_MAX) {
      epochMs = Math.max(now, epochMs + 1)
      counter = 0
      beginMillisecond()
    } else {
      counter += 1
    }
    writeHex(text, 15, 3, counter)
    return text.toString('latin1')
  }
}

const HEX = Buffer.from('0123456789abcdef')

/** Writes the last `digits` hexadecimal digits of a value, at most 32 bits. */
function writeHex(text: Buffer, at: number, digits: number, value: number): void {
  for (let index = at + digits - 1, rest = value; index >= at; index -= 1, rest >>>= 4)
    text[index] = HEX[rest & 15] ?? 0
}

/**
 * UUIDv8 (RFC 9562) derived from the parts, the content and an index alone: the same request gets the same ids whenever and wherever it is
 * sent.
 */
export function createDerivedIds(parts: readonly string[], content: string | Uint8Array): (index: number) => string {
  // A JSON array keeps the parts apart: ["ab", "c"] and ["a", "bc"] differ.
  const seed = createHash('sha256').update(JSON.stringify(parts)).update(content).digest('hex')
  return (index) => {
    const digits = hash('sha256', `${seed}/${index}`)
    const variant = ((Number.parseInt(digits.slice(16, 17), 16) & 0b0011) | 0b1000).toString(16)
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`
  }
}

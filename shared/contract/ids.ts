import { createHash, hash, randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'

/** The largest value of the 12 bits that order the ids of one millisecond. */
const COUNTER_MAX = 0xfff

/**
 * A source of UUIDv7 (RFC 9562) in canonical form, each greater as text than the one before. A clock that stands or goes
 * back does not break the order: the source then counts on from the last millisecond it used.
 */
export function createIdSource(clock: Clock): () => string {
  let epochMs = -1
  let counter = 0
  let prefix = ''
  return () => {
    const now = clock.now()
    if (now > epochMs || counter === COUNTER_MAX) {
      epochMs = Math.max(now, epochMs + 1)
      counter = 0
      prefix = prefixOf(epochMs)
    } else {
      counter += 1
    }
    // From its variant on, a UUIDv7 looks like a UUIDv4: 62 random bits, which Node draws from a pool.
    return `${prefix}${(0x1000 + counter).toString(16).slice(1)}${randomUUID().slice(18)}`
  }
}

/** A UUIDv7 up to its version digit. */
function prefixOf(epochMs: number): string {
  const digits = epochMs.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7`
}

/**
 * UUIDv8 (RFC 9562) that depend on nothing but the parts, the content and an index: the same request gets the same ids
 * whenever and wherever it is sent.
 */
export function createDerivedIds(parts: readonly string[], content: Uint8Array): (index: number) => string {
  // As a JSON array the parts keep their borders: ["ab", "c"] and ["a", "bc"] differ.
  const seed = createHash('sha256').update(JSON.stringify(parts)).update(content).digest('hex')
  return (index) => {
    const digits = hash('sha256', `${seed}/${index}`)
    const variant = ((Number.parseInt(digits.slice(16, 17), 16) & 0b0011) | 0b1000).toString(16)
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`
  }
}

interface HotKeysOptions {
  /** Uses per second that a key may have, and how many it may have at once. */
  readonly usesPerSecond: number
  /** Maximum keys that are remembered. */
  readonly keysMax: number
}

/** The places that a key can have; the more, the fewer keys in use are forgotten, and the longer it takes to find one. */
const WAYS = 4
/** The numbers of a place: a key's hash, and when its bucket will be full (`performance.now()`). */
const NUMBERS = 2
/** The time in which an empty bucket fills. */
const FILL_MS = 1_000

/**
 * Finds the keys that are used too often, with a token bucket per key; each call counts as one use. A new key takes the place, of those that
 * it can have, whose key has the most tokens. That one is forgotten and starts again with a full bucket: a key may be found late, but never
 * wrongly.
 *
 * The table has numbers only, and tells keys apart by a hash of 53 bits: a request of OpenTelemetry has a new key in every record, and a
 * map of objects took a tenth of all CPU for an entry. A bucket is the time when it will be full (generic cell rate algorithm), and the
 * places of a key are adjacent, as most of the time was that of memory.
 */
export function createHotKeys({ usesPerSecond, keysMax }: HotKeysOptions): (key: string) => boolean {
  const sets = 2 ** Math.floor(Math.log2(Math.max(1, keysMax / WAYS)))
  const table = new Float64Array(sets * WAYS * NUMBERS)
  const tokenMs = FILL_MS / usesPerSecond
  /** A bucket that takes longer to fill has no token; half of one allows for rounding. */
  const emptyMs = FILL_MS - tokenMs / 2

  return (key) => {
    let [a, b] = [SEED_LOW, SEED_HIGH]
    for (let index = 0; index < key.length; index += 1) {
      const unit = key.charCodeAt(index)
      a = Math.imul(a ^ unit, MULTIPLIER_LOW)
      b = Math.imul(b ^ unit, MULTIPLIER_HIGH)
    }
    const hash = (a >>> 0) + (b >>> 11) * 2 ** 32
    // The low bits of a product depend on low bits alone.
    const begin = ((a ^ (a >>> 15)) & (sets - 1)) * WAYS * NUMBERS
    let place = begin
    for (let at = begin; at < begin + WAYS * NUMBERS; at += NUMBERS) {
      if ((table[at + 1] ?? 0) < (table[place + 1] ?? 0)) place = at
      if (table[at] !== hash) continue
      place = at
      break
    }
    const now = performance.now()
    const fullAt = table[place] === hash ? Math.max(now, table[place + 1] ?? 0) : now
    if (fullAt - now > emptyMs) return true
    table[place] = hash
    table[place + 1] = fullAt + tokenMs
    return false
  }
}

/** Two hashes of 32 bits in the manner of FNV-1a, with multipliers of their own. */
const SEED_LOW = 0x811c9dc5 | 0
const SEED_HIGH = 0x2f0b4c47
const MULTIPLIER_LOW = 0x01000193
const MULTIPLIER_HIGH = 0x85ebca6b | 0

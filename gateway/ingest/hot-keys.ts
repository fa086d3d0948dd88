interface HotKeysOptions {
  /** Uses per second that a key may have: both the refill rate and the capacity of its bucket. */
  readonly usesPerSecond: number
  /** Maximum keys that are remembered. */
  readonly keysMax: number
}

/** The buckets that a key can have; the more, the fewer keys in use are forgotten, and the longer it takes to find one. */
const WAYS = 4

/**
 * Finds the keys that are used too often, with a token bucket per key; each call counts as one use. A new key takes the fullest of the
 * buckets that it can have, whose own key is forgotten and starts again with a full bucket: a key may be found late, but never wrongly.
 *
 * The table has numbers only, and tells keys apart by a hash of 64 bits: a request of OpenTelemetry has a new key in every record, and a
 * map of objects took a tenth of all CPU for an entry.
 */
export function createHotKeys({ usesPerSecond, keysMax }: HotKeysOptions): (key: string) => boolean {
  const sets = 2 ** Math.floor(Math.log2(Math.max(1, keysMax / WAYS)))
  const low = new Int32Array(sets * WAYS)
  const high = new Int32Array(sets * WAYS)
  const tokens = new Float64Array(sets * WAYS).fill(usesPerSecond)
  /** When the tokens were counted (`performance.now()`). */
  const countedAt = new Float64Array(sets * WAYS)

  const tokensAt = (bucket: number, now: number): number =>
    Math.min(usesPerSecond, (tokens[bucket] ?? 0) + ((now - (countedAt[bucket] ?? 0)) / 1_000) * usesPerSecond)

  /** The key's bucket, refilled. */
  function bucketOf(key: string, now: number): number {
    let [a, b] = [SEED_LOW, SEED_HIGH]
    for (let index = 0; index < key.length; index += 1) {
      const unit = key.charCodeAt(index)
      a = Math.imul(a ^ unit, MULTIPLIER_LOW)
      b = Math.imul(b ^ unit, MULTIPLIER_HIGH)
    }
    // The low bits of a product depend on low bits alone.
    const begin = ((a ^ (a >>> 15)) & (sets - 1)) * WAYS
    let fullest = begin
    let most = -1
    for (let bucket = begin; bucket < begin + WAYS; bucket += 1) {
      const left = tokensAt(bucket, now)
      if (low[bucket] === a && high[bucket] === b) {
        tokens[bucket] = left
        countedAt[bucket] = now
        return bucket
      }
      if (left > most) {
        most = left
        fullest = bucket
      }
    }
    low[fullest] = a
    high[fullest] = b
    tokens[fullest] = usesPerSecond
    countedAt[fullest] = now
    return fullest
  }

  return (key) => {
    const bucket = bucketOf(key, performance.now())
    const left = tokens[bucket] ?? 0
    if (left < 1) return true
    tokens[bucket] = left - 1
    return false
  }
}

/** Two hashes of 32 bits in the manner of FNV-1a, with multipliers of their own. */
const SEED_LOW = 0x811c9dc5 | 0
const SEED_HIGH = 0x2f0b4c47
const MULTIPLIER_LOW = 0x01000193
const MULTIPLIER_HIGH = 0x85ebca6b | 0

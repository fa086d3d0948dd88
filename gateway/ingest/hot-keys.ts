export interface HotKeysOptions {
  /** Uses per second that a key may have: both the refill rate and the capacity of its bucket. */
  readonly usesPerSecond: number
  /** Maximum keys that are remembered; the least recently used are forgotten first. */
  readonly keysMax: number
}

/** The tokens left, and when they were counted (`performance.now()`). */
interface Bucket {
  tokens: number
  at: number
}

/**
 * Finds the keys that are used too often, with a token bucket per key; each call counts as one use. A forgotten key starts again with a
 * full bucket, so a key may be found late, but never wrongly.
 */
export function createHotKeys({ usesPerSecond, keysMax }: HotKeysOptions): (key: string) => boolean {
  // Two generations make a cheap table of the keys used most recently: when the younger one is full, the older one is dropped.
  let young = new Map<string, Bucket>()
  let old = new Map<string, Bucket>()

  function bucketOf(key: string, now: number): Bucket {
    const known = young.get(key)
    if (known !== undefined) return known
    const bucket = old.get(key) ?? { tokens: usesPerSecond, at: now }
    if (young.size >= keysMax / 2) {
      old = young
      young = new Map()
    }
    young.set(key, bucket)
    return bucket
  }

  return (key) => {
    const now = performance.now()
    const bucket = bucketOf(key, now)
    bucket.tokens = Math.min(usesPerSecond, bucket.tokens + ((now - bucket.at) / 1_000) * usesPerSecond)
    bucket.at = now
    if (bucket.tokens < 1) return true
    bucket.tokens -= 1
    return false
  }
}

export interface HotKeysOptions {
  /** How often a key may be used in a second, on average and at once. */
  readonly usesPerSecond: number
  /** Most keys that are remembered; of those beyond, the ones used least recently are forgotten. */
  readonly keysMax: number
}

/** The rest of a key's allowance, and the time at which it was counted (`performance.now()`). */
interface Bucket {
  tokens: number
  at: number
}

/**
 * Finds the keys that are used too often: a token bucket for each key, counted at each call. A key that was forgotten begins
 * anew, so a key may be found late, never wrongly.
 */
export function createHotKeys({ usesPerSecond, keysMax }: HotKeysOptions): (key: string) => boolean {
  // Two generations make a cheap table of the keys used last: when the younger one is full, the older one is dropped.
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

/** Refusals of one Team with one code that are noted at once, and how many more per second after that. */
const OWN_SHARE = { atOnce: 20, perSecond: 1 }
/** The same over all Teams, codes and gateways. */
const ALL_SHARE = { atOnce: 200, perSecond: 20 }

/** The tokens left, and when they were counted (milliseconds). */
interface Bucket {
  tokens: number
  at: number
}

interface Share {
  readonly atOnce: number
  readonly perSecond: number
}

/**
 * Decides whether a refusal may be noted now: a token bucket per Team and code, so that a flood of one mistake hides neither another
 * mistake nor another Team's, and one bucket for all. Teams and codes are few, so none is forgotten. `now` returns milliseconds, `share`
 * this gateway's part of the rate for all.
 */
export function createShares(now: () => number, share = () => 1): (team: string, code: string) => boolean {
  const all: Bucket = { tokens: ALL_SHARE.atOnce, at: now() }
  const own = new Map<string, Bucket>()

  return (team, code) => {
    const time = now()
    const name = `${team}/${code}`
    let bucket = own.get(name)
    if (bucket === undefined) {
      bucket = { tokens: OWN_SHARE.atOnce, at: time }
      own.set(name, bucket)
    }
    fill(bucket, OWN_SHARE, time)
    fill(all, { ...ALL_SHARE, perSecond: ALL_SHARE.perSecond * share() }, time)
    if (bucket.tokens < 1 || all.tokens < 1) return false
    bucket.tokens -= 1
    all.tokens -= 1
    return true
  }
}

function fill(bucket: Bucket, { atOnce, perSecond }: Share, time: number): void {
  const seconds = Math.max(0, time - bucket.at) / 1_000
  bucket.tokens = Math.min(atOnce, bucket.tokens + seconds * perSecond)
  bucket.at = time
}

import { createByteBudget } from '../../shared/runtime/byte-budget.ts'

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
 * Decides whether a refusal may be noted now: a token bucket per Team and code, so that a flood of one mistake does not hide another, and a
 * bucket for all, of which no Team takes more than its share: a sender can make every mistake there is. Teams and codes are few, so none is
 * forgotten. `now` returns milliseconds, `share` this gateway's part of the rate for all.
 */
export function createShares(now: () => number, share = () => 1): (team: string, code: string) => boolean {
  const own = new Map<string, Bucket>()
  const all = createByteBudget(ALL_SHARE.atOnce)
  /** The Teams of the notes that `all` still counts, oldest first, and how many of these it may forget. */
  const counted: string[] = []
  const forgotten: Bucket = { tokens: 0, at: now() }

  function forget(time: number): void {
    fill(forgotten, { atOnce: counted.length, perSecond: ALL_SHARE.perSecond * share() }, time)
    for (const team of counted.splice(0, Math.floor(forgotten.tokens))) {
      all.share(team).give(1)
      forgotten.tokens -= 1
    }
  }

  return (team, code) => {
    const time = now()
    const name = `${team}/${code}`
    let bucket = own.get(name)
    if (bucket === undefined) {
      bucket = { tokens: OWN_SHARE.atOnce, at: time }
      own.set(name, bucket)
    }
    fill(bucket, OWN_SHARE, time)
    if (bucket.tokens < 1) return false
    forget(time)
    if (!all.share(team).fits(1)) return false
    bucket.tokens -= 1
    all.share(team).take(1)
    counted.push(team)
    return true
  }
}

function fill(bucket: Bucket, { atOnce, perSecond }: Share, time: number): void {
  const seconds = Math.max(0, time - bucket.at) / 1_000
  bucket.tokens = Math.min(atOnce, bucket.tokens + seconds * perSecond)
  bucket.at = time
}

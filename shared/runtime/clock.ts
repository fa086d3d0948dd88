/** The only source of the time of day, so that a test can control it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock for intervals: it goes on evenly where the time of day is set, and its milliseconds count from no particular time. */
export const steadyClock: Clock = { now: () => performance.now() }

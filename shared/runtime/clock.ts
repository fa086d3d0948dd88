/** The only source of the time of day, so that a test can control it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock for intervals: it goes on evenly where the time of day is set, and its milliseconds count from no particular time. */
export const steadyClock: Clock = { now: () => performance.now() }

/** How far the time of day may be set ahead between two looks at it, as when a server started before the time was known, in milliseconds. */
const STEP_MS = 3_600_000
/** How long a time that was set ahead has to last until it is believed, in milliseconds. */
const BELIEVED_AFTER_MS = 86_400_000

/**
 * The time of day by which old data is removed. Once the clock is set ahead, everything can seem old, so for a day this one goes on evenly
 * instead, which is time enough to notice; it follows a clock that is set back at once. It sees changes only from one call to the next.
 */
export function createCautiousClock(clock: Clock, steady: Clock = steadyClock): Clock {
  let offset = clock.now() - steady.now()
  let aheadSince: number | undefined
  return {
    now: () => {
      const elapsed = steady.now()
      const present = clock.now() - elapsed
      if (present - offset <= STEP_MS) aheadSince = undefined
      else aheadSince ??= elapsed
      if (aheadSince === undefined || elapsed - aheadSince >= BELIEVED_AFTER_MS) {
        offset = present
        aheadSince = undefined
      }
      return Math.round(elapsed + offset)
    },
  }
}

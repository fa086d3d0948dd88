/** The largest nanosecond offset within a millisecond. */
const NANOSECONDS_MAX = 999_999

/** Sluice takes times before the year 2262, from 1970 on, and refuses an entry of any other. */
const EPOCH_MS_END = Date.UTC(2262, 0)

/**
 * Creates entry timestamps in ISO 8601 from milliseconds since 1970. Entries within one millisecond get distinct nanoseconds, so that they
 * are shown in the order of logging: Sluice orders by time, and ids of entries that may be resent have no order. Undefined for a
 * time that Sluice does not take.
 */
export function createTimestamps(): (epochMs: number) => string | undefined {
  let last = Number.NaN
  let repeats = 0
  return (epochMs) => {
    const whole = Math.floor(epochMs)
    if (!(whole >= 0 && whole < EPOCH_MS_END)) return undefined
    repeats = whole === last ? Math.min(repeats + 1, NANOSECONDS_MAX) : 0
    last = whole
    const text = new Date(whole).toISOString()
    return repeats === 0 ? text : `${text.slice(0, -1)}${String(repeats).padStart(6, '0')}Z`
  }
}

/** A timer that does not keep the Node process alive. */
export function later(action: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(action, ms)
  // In browsers, a timer is a number.
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}

export interface PauseOptions {
  /** The bounds of the back-off, in milliseconds. */
  readonly minBackOffMs: number
  readonly maxBackOffMs: number
}

/** The time during which nothing is sent, because attempts fail or the server asks for it. */
interface Pause {
  /** Consecutive failed attempts. */
  readonly failures: number
  /** Milliseconds until the next request may be sent; 0 or less for now. */
  leftMs(): number
  /** Records a failed attempt; the server asked to wait `askedMs`. Returns the pause; undefined if it was part of an earlier failure. */
  failed(startedAt: number, askedMs: number): number | undefined
  succeeded(): void
  /** Ends the back-off; a wait requested by the server is kept. */
  hurry(): void
}

/** The back-off in milliseconds: a random share ("full jitter") of a bound that doubles with each failure. */
export const backOffMs = (failures: number, { minBackOffMs, maxBackOffMs }: PauseOptions): number =>
  Math.random() * Math.min(maxBackOffMs, minBackOffMs * 2 ** (failures - 1))

export function createPause(options: PauseOptions): Pause {
  let failures = 0
  let failedAt = 0
  let backOffUntil = 0
  let askedUntil = 0
  return {
    get failures() {
      return failures
    },
    leftMs: () => Math.max(backOffUntil, askedUntil) - performance.now(),
    failed: (startedAt, askedMs) => {
      const now = performance.now()
      askedUntil = Math.max(askedUntil, now + askedMs)
      // Concurrent requests that fail together count as one failure.
      if (startedAt < failedAt) return undefined
      failedAt = now
      failures += 1
      backOffUntil = askedUntil + backOffMs(failures, options)
      return backOffUntil - now
    },
    succeeded: () => {
      failures = 0
    },
    hurry: () => {
      failures = 0
      backOffUntil = 0
    },
  }
}

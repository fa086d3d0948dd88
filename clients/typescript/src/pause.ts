export interface PauseOptions {
  /** The bounds of the back-off. */
  readonly minBackOffMs: number
  readonly maxBackOffMs: number
}

/** How long nothing is sent because attempts fail, or because the server asks for it. */
export interface Pause {
  /** Attempts in a row that failed. */
  readonly failures: number
  /** Milliseconds until something may be sent; 0 or less: now. */
  leftMs(): number
  /** An attempt failed, and the server asks to wait `askedMs`. Gives the pause; undefined where it was counted with another attempt. */
  failed(startedAt: number, askedMs: number): number | undefined
  succeeded(): void
  /** Ends the back-off; what the server asked for is kept. */
  hurry(): void
}

/** Milliseconds to wait after so many failures: a random part ("full jitter") of a time that doubles. */
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
      // Requests that failed together are one failure.
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

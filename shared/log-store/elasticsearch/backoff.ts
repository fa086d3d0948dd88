import { setTimeout as delay } from 'node:timers/promises'

const FIRST_MS = 200
const LONGEST_MS = 30_000

/**
 * How long to wait before a further attempt, in milliseconds: anything up to a ceiling that doubles from 200 ms to 30 s ("full
 * jitter"), so that writers that were turned away together do not come back together. `attempt` counts failures, from 1.
 */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 20))
  return Math.ceil(random() * ceiling)
}

/** Waits, unless the signal aborts first: then it rejects with the signal's reason. */
export async function pauseUnlessAborted(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

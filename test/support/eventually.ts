import { setTimeout as delay } from 'node:timers/promises'

const PAUSE_MIN_MS = 10
const PAUSE_MAX_MS = 100
/** The part of the time waited so far that the next pause takes. */
const PAUSE_PART = 1 / 8

/**
 * Waits until `check` neither throws nor returns false, and returns its result. Fails with the last error after `withinMs`. The pauses
 * between checks grow with the time waited: servers that are asked on and on lack the CPU for what is awaited.
 */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 30_000): Promise<T> {
  const start = performance.now()
  for (;;) {
    try {
      const result = await check()
      if (result !== false) return result
      if (performance.now() - start > withinMs) throw new Error(`still false after ${withinMs} ms`)
    } catch (error) {
      if (performance.now() - start > withinMs) throw error
    }
    const pause = Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, PAUSE_PART * (performance.now() - start)))
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** Scales the duration of every fault: 1 for the short form, more for the full one. */
export const FAULT_SCALE = Number(process.env['FAULT_SCALE'] ?? 1)

/** Waits for a fault's duration, given in milliseconds for the short form. */
export const lasting = (ms: number): Promise<void> => delay(ms * FAULT_SCALE)

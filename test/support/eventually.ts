const PAUSE_MIN_MS = 10
const PAUSE_MAX_MS = 100

/**
 * Waits until `check` neither throws nor returns false, and returns its result. Fails with the last error after `withinMs`. The pauses
 * between checks grow with the time waited and with the time that a check takes: servers asked on and on lack the CPU for what is awaited.
 */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 30_000): Promise<T> {
  const start = performance.now()
  for (;;) {
    const began = performance.now()
    const isLast = began - start > withinMs
    try {
      const result = await check()
      if (result !== false) return result
      if (isLast) throw new Error(`still false after ${withinMs} ms`)
    } catch (error) {
      if (isLast) throw error
    }
    const now = performance.now()
    const pause = Math.max(PAUSE_MIN_MS, Math.min(PAUSE_MAX_MS, Math.max((now - start) / 8, 2 * (now - began))))
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

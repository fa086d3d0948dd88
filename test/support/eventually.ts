/** The pause between two checks: 10 ms at first, later a tenth of the time waited, as a check may ask servers that have to get on. */
const [PAUSE_MS_MIN, PAUSE_MS_MAX] = [10, 250]

/** Waits until `check` neither throws nor returns false, and returns its result. Fails with the last error after `withinMs`. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 30_000): Promise<T> {
  const start = performance.now()
  const waited = (): number => performance.now() - start
  for (;;) {
    try {
      const result = await check()
      if (result !== false) return result
      if (waited() > withinMs) throw new Error(`still false after ${withinMs} ms`)
    } catch (error) {
      if (waited() > withinMs) throw error
    }
    const pauseMs = Math.min(Math.max(PAUSE_MS_MIN, waited() / 10), PAUSE_MS_MAX)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

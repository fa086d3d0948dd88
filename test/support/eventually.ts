/** Waits until `check` neither throws nor returns false, and returns its result. Fails with the last error after `withinMs`. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 30_000): Promise<T> {
  const end = performance.now() + withinMs
  for (;;) {
    try {
      const result = await check()
      if (result !== false) return result
      if (performance.now() > end) throw new Error(`still false after ${withinMs} ms`)
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Runs something repeatedly, never twice at a time. */
export interface Repeater {
  /** The first run begins at once; each further one `intervalMs` after the previous one has ended. */
  start(): Promise<void>
  /** Ends the repetition: aborts the signal of a run in progress and waits for it. Safe to call twice and without `start`. */
  stop(): Promise<void>
}

/**
 * A failed run is reported to `onError`, unless the stop cut it short, and does not end the repetition. The timer does not keep the process
 * alive.
 */
export function createRepeater({
  intervalMs,
  run,
  onError,
}: {
  intervalMs: number
  run: (signal: AbortSignal) => Promise<void>
  onError: (error: unknown) => void
}): Repeater {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  const stopping = new AbortController()
  const { signal } = stopping

  const turn = async (): Promise<void> => {
    try {
      await run(signal)
    } catch (error) {
      if (!signal.aborted) onError(error)
    }
    if (signal.aborted) return
    timer = setTimeout(begin, intervalMs)
    timer.unref()
  }
  const begin = (): void => {
    running = turn()
  }
  return {
    start: async () => {
      if (!signal.aborted && running === undefined) begin()
    },
    stop: async () => {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** Runs something repeatedly, never twice at a time. */
export interface Repeater {
  /** The first run begins at once; each further one `intervalMs` after the previous one has ended. */
  start(): void
  /** Ends the repetition and waits for a run in progress. Safe to call twice and without `start`. */
  stop(): Promise<void>
}

/** A failed run is reported to `onError` and does not end the repetition. The timer does not keep the process alive. */
export function createRepeater({
  intervalMs,
  run,
  onError,
}: {
  intervalMs: number
  run: () => Promise<void>
  onError: (error: unknown) => void
}): Repeater {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let stopped = false

  const turn = async (): Promise<void> => {
    try {
      await run()
    } catch (error) {
      onError(error)
    }
    if (stopped) return
    timer = setTimeout(begin, intervalMs)
    timer.unref()
  }
  const begin = (): void => {
    running = turn()
  }
  return {
    start: () => {
      if (!stopped && running === undefined) begin()
    },
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

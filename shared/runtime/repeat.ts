import { type Clock, systemClock } from './clock.ts'
import type { Service } from './lifecycle.ts'
import { byDeadline } from './waiting.ts'

interface RepeaterOptions {
  readonly name: string
  /** Time from the end of a run to the next one, in milliseconds. */
  readonly intervalMs: number
  /** Time from the start of the service to the first run, in milliseconds; 0 if it is missing. */
  readonly firstAfterMs?: number
  /** The signal aborts when the service is stopped, which waits for the run until the deadline. */
  readonly run: (signal: AbortSignal) => Promise<unknown>
  /** Is told about a failed run, unless the stop cut it short; the repetition goes on. */
  readonly onError: (error: unknown) => void
  /** The clock of the deadline. */
  readonly clock?: Clock
}

/** A service that runs something repeatedly, never twice at a time. Its timer does not keep the process alive. */
export function createRepeater(options: RepeaterOptions): Service {
  const { name, intervalMs, firstAfterMs = 0, run, onError, clock = systemClock } = options
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
    if (!signal.aborted) beginIn(intervalMs)
  }
  const begin = (): void => {
    running = turn()
  }
  const beginIn = (ms: number): void => {
    timer = setTimeout(begin, ms)
    timer.unref()
  }
  return {
    name,
    start: async () => {
      if (signal.aborted || running !== undefined || timer !== undefined) return
      if (firstAfterMs === 0) begin()
      else beginIn(firstAfterMs)
    },
    stop: async (deadline) => {
      stopping.abort()
      clearTimeout(timer)
      if (running !== undefined) await byDeadline(running, deadline, clock)
    },
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from './clock.ts'

/** Does the work unless it is under way; callers that ask for it meanwhile share its outcome. */
export function singleFlight<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let flight: Promise<Value> | undefined
  return () => {
    flight ??= work().finally(() => {
      flight = undefined
    })
    return flight
  }
}

/**
 * Asks something that may not answer, such as another thread, and waits no longer than `limitMs`: undefined where there is no answer
 * by then. It is not asked again before it has answered, so that no questions pile up.
 */
export function askWithin<Value>(limitMs: number, ask: () => Promise<Value>): () => Promise<Value | undefined> {
  const asked = singleFlight(ask)
  return singleFlight(async () => {
    const expired = Promise.withResolvers<undefined>()
    const timer = setTimeout(expired.resolve, limitMs)
    try {
      return await Promise.race([asked(), expired.promise])
    } finally {
      clearTimeout(timer)
    }
  })
}

/** The longest that a timer of Node can be set to. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Whether the work ended by the deadline (milliseconds since 1970). Rejects as the work does, if it does so in time. */
export async function byDeadline(work: Promise<unknown>, deadline: number, clock: Clock): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, Math.min(Math.max(0, deadline - clock.now()), TIMER_MS_MAX), false)
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits that end early. */
export interface Waker {
  /** Ends all waits of now. */
  wake(): void
  /** Resolves after so many milliseconds, at `wake`, or when the signal aborts. */
  wait(ms: number): Promise<void>
}

export function createWaker(signal: AbortSignal): Waker {
  const waiting = new Set<() => void>()
  const wake = (): void => {
    for (const go of [...waiting]) go()
  }
  signal.addEventListener('abort', wake, { once: true })
  return {
    wake,
    wait: (ms) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const go = (): void => {
          clearTimeout(timer)
          waiting.delete(go)
          resolve()
        }
        const timer = setTimeout(go, ms)
        waiting.add(go)
      }),
  }
}

/** Resolves after so many milliseconds, or when the signal aborts. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}

/** Marks the end of a time that `within` gave; the work itself goes on. */
export class OvertimeError extends Error {
  override readonly name = 'OvertimeError'
}

/** The promise's outcome, or an `OvertimeError` after so many milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OvertimeError(`not done within ${Math.round(ms)} ms`)), Math.max(0, ms))
  })
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}

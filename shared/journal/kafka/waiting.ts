import { setTimeout as delay } from 'node:timers/promises'

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

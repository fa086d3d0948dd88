export interface Semaphore {
  /** Runs the task when fewer than the limit are running; rejects with the signal's reason if it aborts before. */
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Lets at most `limit` tasks run at a time, in order of arrival. */
export function createSemaphore(limit: number): Semaphore {
  const waiting = new Set<() => void>()
  let free = limit

  async function acquire(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (free > 0) {
      free -= 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        waiting.delete(begin)
        reject(signal?.reason)
      }
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      waiting.add(begin)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Passes the slot on, or frees it if nobody waits. */
  function release(): void {
    const [next] = waiting
    if (next === undefined) {
      free += 1
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    async run(task, signal) {
      await acquire(signal)
      try {
        return await task()
      } finally {
        release()
      }
    },
  }
}

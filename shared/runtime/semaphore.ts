export interface Semaphore {
  /**
   * Runs the task when fewer than the limit are running; rejects with the signal's reason if it aborts before. However many tasks of one
   * owner wait, the next one of another owner has the next turn.
   */
  run<T>(task: () => Promise<T>, signal?: AbortSignal, owner?: string): Promise<T>
}

/** Lets at most `limit` tasks run at a time: the owners in turn, the tasks of each in order of arrival. */
export function createSemaphore(limit: number): Semaphore {
  /** The waiting tasks, by owner; the owner at the front has the next turn. */
  const queues = new Map<string, Set<() => void>>()
  let free = limit

  async function acquire(signal: AbortSignal | undefined, owner: string): Promise<void> {
    signal?.throwIfAborted()
    if (free > 0) {
      free -= 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const waiting = queues.get(owner) ?? new Set()
      queues.set(owner, waiting)
      const giveUp = (): void => {
        waiting.delete(begin)
        if (waiting.size === 0 && queues.get(owner) === waiting) queues.delete(owner)
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
    const [first] = queues
    if (first === undefined) {
      free += 1
      return
    }
    const [owner, waiting] = first
    const [next] = waiting
    queues.delete(owner)
    if (next !== undefined) waiting.delete(next)
    if (waiting.size > 0) queues.set(owner, waiting)
    next?.()
  }

  return {
    async run(task, signal, owner = '') {
      await acquire(signal, owner)
      try {
        return await task()
      } finally {
        release()
      }
    },
  }
}

/** Tells readers when there may be something new to read. */
export interface Changes {
  /** Grows with each change seen. */
  readonly version: () => number
  /** Resolves when the version is no longer `seen`: take it before reading, and nothing that comes meanwhile is missed. */
  after(seen: number): Promise<void>
  /** Lets everyone look again. */
  notify(): void
  close(): void
}

/**
 * Polls only while somebody waits: the file may also grow by the hand of another thread or process, which cannot tell.
 * `current` gives a number that changes with such a write; a failure to get it wakes the readers, who meet it themselves.
 */
export function createChanges(current: () => Promise<number>, pollMs: number): Changes {
  let version = 0
  let last: number | undefined
  let waiting: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const notify = (): void => {
    version += 1
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }

  const poll = async (): Promise<void> => {
    const now = await current().catch(() => undefined)
    if (now === undefined || now !== last) notify()
    last = now
    timer = undefined
    schedule()
  }

  const schedule = (): void => {
    if (waiting.length > 0 && timer === undefined && !closed) timer = setTimeout(() => void poll(), pollMs)
  }

  return {
    version: () => version,
    after: (seen) => {
      if (seen !== version || closed) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      schedule()
      return promise
    },
    notify,
    close: () => {
      closed = true
      clearTimeout(timer)
      notify()
    },
  }
}

/** Tells the readers of a topic when there may be something new to read. */
export interface Changes {
  /** Increases with each observed change that may concern the topic. */
  version(topic: string): number
  /** Resolves when the topic's version is no longer `seen`: read it before the records, so that no change in between is missed. */
  after(topic: string, seen: number): Promise<void>
  /** Wakes the readers of the topic, or of all topics. */
  notify(topic?: string): void
  close(): void
}

interface Waiting {
  readonly topic: string
  readonly wake: () => void
}

/**
 * Polls only while somebody waits: another thread or process may also write to the file, and cannot notify. `current` returns a number that
 * changes with such a write; if it fails, the readers are woken and meet the failure themselves.
 */
export function createChanges(current: () => Promise<number>, pollMs: number): Changes {
  let changesOfAny = 0
  const changesOf = new Map<string, number>()
  let last: number | undefined
  let waiting: readonly Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const version = (topic: string): number => changesOfAny + (changesOf.get(topic) ?? 0)

  const notify = (topic?: string): void => {
    if (topic === undefined) changesOfAny += 1
    else changesOf.set(topic, (changesOf.get(topic) ?? 0) + 1)
    const concerned = (one: Waiting): boolean => topic === undefined || one.topic === topic
    const woken = waiting.filter(concerned)
    if (woken.length > 0) waiting = waiting.filter((one) => !concerned(one))
    for (const { wake } of woken) wake()
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
    version,
    after: (topic, seen) => {
      if (seen !== version(topic) || closed) return Promise.resolve()
      const { promise, resolve: wake } = Promise.withResolvers<void>()
      waiting = [...waiting, { topic, wake }]
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

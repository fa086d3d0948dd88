import { chunksOf } from '../batches.ts'

/** Appends that wait for the next transaction, bounded only by what the callers have in progress. */
export interface AppendQueue<Batch> {
  /** Resolves when the batch is durable, rejects when it is not. */
  add(batch: Batch, bytes: number): Promise<void>
  /** Writes everything that waits at once. */
  flush(): void
}

interface Waiting<Batch> {
  readonly batch: Batch
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Writes the batches that arrive in one event loop turn in one transaction of at most about `groupBytesMax` bytes, in order of arrival:
 * they share one disk sync. An error that `write` throws fails the whole group.
 */
export function createAppendQueue<Batch>(
  write: (batches: readonly Batch[]) => void,
  groupBytesMax: number,
): AppendQueue<Batch> {
  let waiting: Waiting<Batch>[] = []
  let scheduled = false

  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      writeGroup()
      if (waiting.length > 0) schedule()
    })
  }

  const writeGroup = (): void => {
    const group = takeGroup()
    if (group.length === 0) return
    try {
      write(group.map(({ batch }) => batch))
      for (const { resolve } of group) resolve()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  const takeGroup = (): readonly Waiting<Batch>[] => {
    const limits = { recordsMax: Number.POSITIVE_INFINITY, bytesMax: groupBytesMax }
    const [group = []] = chunksOf(waiting, ({ bytes }) => bytes, limits)
    waiting = waiting.slice(group.length)
    return group
  }

  return {
    add: (batch, bytes) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting.push({ batch, bytes, resolve, reject })
      schedule()
      return promise
    },
    flush: () => {
      while (waiting.length > 0) writeGroup()
    },
  }
}

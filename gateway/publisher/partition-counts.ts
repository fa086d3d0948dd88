import type { Journal } from '../../shared/journal/journal.ts'
import type { Logger } from '../../shared/runtime/logger.ts'

interface PartitionCountsDeps {
  readonly journal: Pick<Journal, 'partitionCount'>
  readonly logger: Logger
  readonly topics: readonly string[]
  /** Milliseconds between two checks. */
  readonly checkMs: number
  /** Called with the new number before `of` gives it. */
  readonly onChange: (topic: string, partitions: number) => void
}

interface PartitionCounts {
  /** Reads all counts, then keeps checking. Rejects with a `TopicMissingError`. */
  start(): Promise<ReadonlyMap<string, number>>
  /** The number of partitions of a topic; 0 before the start. Never waits. */
  of(topic: string): number
  stop(): void
}

/**
 * Tracks how many partitions the topics have, so that those an operator adds, or a topic that is made anew with fewer, need no restart.
 */
export function createPartitionCounts({
  journal,
  logger,
  topics,
  checkMs,
  onChange,
}: PartitionCountsDeps): PartitionCounts {
  const counts = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function check(topic: string): Promise<void> {
    try {
      const known = counts.get(topic) ?? 0
      const found = await journal.partitionCount(topic)
      if (stopped || found === known) return
      onChange(topic, found)
      counts.set(topic, found)
      logger.info(
        { topic, before: known, partitions: found },
        'the number of partitions has changed: keys have other places from now on',
      )
    } catch (error) {
      // The appends report a failing journal; the next check reads again.
      logger.debug({ topic, err: error }, 'the number of partitions could not be read')
    }
  }
  async function checkAll(): Promise<void> {
    for (const topic of topics) await check(topic)
    checkLater()
  }
  function checkLater(): void {
    if (!stopped) timer = setTimeout(checkAll, checkMs)
  }

  return {
    start: async () => {
      for (const topic of topics) counts.set(topic, await journal.partitionCount(topic))
      checkLater()
      return counts
    },
    of: (topic) => counts.get(topic) ?? 0,
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}

import type { Journal } from '../../shared/journal/journal.ts'
import type { Logger } from '../../shared/runtime/logger.ts'

interface PartitionCountsDeps {
  readonly journal: Pick<Journal, 'partitionCount'>
  readonly logger: Logger
  readonly topics: readonly string[]
  /** Called with the new number before `of` gives it. */
  readonly onChange: (topic: string, partitions: number) => void
}

interface PartitionCounts {
  /** Reads all counts. Rejects with a `TopicMissingError`. */
  start(): Promise<ReadonlyMap<string, number>>
  /** Reads them again, and ignores a failure. */
  check(signal: AbortSignal): Promise<void>
  /** The number of partitions of a topic; 0 before the start. Never waits. */
  of(topic: string): number
}

/**
 * Tracks how many partitions the topics have, so that those an operator adds, or a topic that is made anew with fewer, need no restart.
 */
export function createPartitionCounts({ journal, logger, topics, onChange }: PartitionCountsDeps): PartitionCounts {
  const counts = new Map<string, number>()

  async function check(topic: string, signal: AbortSignal): Promise<void> {
    try {
      const known = counts.get(topic) ?? 0
      const found = await journal.partitionCount(topic)
      if (signal.aborted || found === known) return
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

  return {
    start: async () => {
      for (const topic of topics) counts.set(topic, await journal.partitionCount(topic))
      return counts
    },
    check: async (signal) => {
      for (const topic of topics) await check(topic, signal)
    },
    of: (topic) => counts.get(topic) ?? 0,
  }
}

import type { Journal } from '../shared/journal/journal.ts'
import type { Clock } from '../shared/runtime/clock.ts'
import type { Logger } from '../shared/runtime/logger.ts'
import { createRepeater, type Repeater } from '../shared/runtime/repeat.ts'
import type { Measures } from './consumer-metrics.ts'
import type { Lag } from './lag.ts'

/**
 * Measures every few seconds how far a group is behind. It looks at all partitions, also those that other members read: each
 * member reports the same, so a graph takes the greatest, not the sum. It goes on after the consumer has halted.
 */
export function createLagReporter({
  journal,
  topics,
  group,
  lag,
  measures,
  clock,
  logger,
  intervalMs,
}: {
  journal: Journal
  topics: readonly string[]
  group: string
  lag: Lag
  measures: Measures
  clock: Clock
  logger: Logger
  intervalMs: number
}): Repeater {
  return createRepeater({
    intervalMs,
    run: async () => {
      for (const topic of topics) {
        for (const { partition, firstOffset, endPosition, committed } of await journal.positions(topic, group)) {
          const position = committed ?? firstOffset
          const behind = Math.max(0, endPosition - position)
          measures.lagRecords(topic, partition, behind)
          lag.observed(`${topic}/${partition}`, position, behind, clock.now())
        }
      }
      measures.lagSeconds(lag.seconds(clock.now()))
    },
    onError: (error) => {
      // What is at hand keeps growing older while the journal does not answer.
      measures.lagSeconds(lag.seconds(clock.now()))
      const reason = error instanceof Error ? error.message : String(error)
      logger.warn({ group, reason }, 'how far the group is behind could not be measured')
    },
  })
}

import { type Consumer, type ConsumerOptions, createConsumer } from '../../consumers/consumer.ts'
import { groupName, type ProjectionName } from '../../consumers/projection.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import type { Journal, JournalRecord, NewRecord } from '../../shared/journal/journal.ts'
import { type Clock, systemClock } from '../../shared/runtime/clock.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics, type Metrics } from '../../shared/runtime/metrics.ts'
import {
  APPLICATION_TOPIC,
  DEAD_LETTER_TOPIC,
  EVENT_TOPIC,
  entryTopics,
  PREFIX,
  published,
  sourceTopics,
} from './consumers-records.ts'
import { createMemoryStoreWriter, type MemoryStoreWriter } from './consumers-store.ts'
import { eventually } from './eventually.ts'
import { createMemoryJournal, type MemoryJournal } from './memory-journal.ts'

/** An in-memory journal and store, with consumers between them. */
export interface ConsumersRig {
  readonly journal: MemoryJournal
  readonly store: MemoryStoreWriter
  readonly metrics: Metrics
  /** A consumer that is not started yet; `journal` replaces the rig's own. */
  consumer(projection: ProjectionName, options?: Partial<ConsumerOptions>, journal?: Journal): Consumer
  publish(entries: readonly EntryRecord[], partition?: number): Promise<void>
  append(topic: string, records: readonly NewRecord[], partition?: number): Promise<void>
  /** Resolves when the projection has committed all records of its topics. */
  caughtUp(projection: ProjectionName): Promise<void>
  committed(projection: ProjectionName, topic: string, partition?: number): Promise<number | null>
  deadLetters(): readonly JournalRecord[]
  /** The sum of a metric over all samples with these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
}

export const soon = (): number => systemClock.now() + 5_000

export const silent = createLogger('silent', 'test')

export function createConsumersRig({
  clock = systemClock,
  partitions = 2,
  cleanup = 'delete',
  searchableWithinMs = 0,
  store = createMemoryStoreWriter({ searchableWithinMs }),
}: {
  clock?: Clock
  partitions?: number
  cleanup?: 'delete' | 'compact'
  searchableWithinMs?: number
  /** A store already written by another rig. */
  store?: MemoryStoreWriter
} = {}): ConsumersRig {
  const journal = createMemoryJournal({ clock, topics: entryTopics(partitions, cleanup) })
  const metrics = createMetrics()
  const append = (topic: string, records: readonly NewRecord[], partition = 0): Promise<void> =>
    journal.append({ topic, partition, records })
  return {
    journal,
    store,
    metrics,
    append,
    consumer: (projection, options = {}, other = journal) =>
      createConsumer({
        projection,
        journal: other,
        store,
        clock,
        logger: silent,
        metrics,
        topicPrefix: PREFIX,
        options,
      }),
    publish: async (entries, partition = 0) => {
      for (const entry of entries) {
        await append(entry.kind === 'event' ? EVENT_TOPIC : APPLICATION_TOPIC, [published(entry)], partition)
      }
    },
    caughtUp: async (projection) => {
      await eventually(async () => {
        const positions = await Promise.all(
          sourceTopics(PREFIX, projection).map((topic) => journal.positions(topic, groupName(PREFIX, projection))),
        )
        return positions.flat().every(({ committed, endPosition }) => (committed ?? 0) === endPosition)
      })
    },
    committed: async (projection, topic, partition = 0) =>
      (await journal.positions(topic, groupName(PREFIX, projection)))[partition]?.committed ?? null,
    deadLetters: () => journal.recordsOf(DEAD_LETTER_TOPIC),
    metric: async (name, labels = {}) => {
      const found = await metrics.registry.getSingleMetric(name)?.get()
      const values: readonly { value: number; labels: Readonly<Record<string, unknown>> }[] = found?.values ?? []
      return values
        .filter((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))
        .reduce((sum, { value }) => sum + value, 0)
    },
  }
}

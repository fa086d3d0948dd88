import { randomUUID } from 'node:crypto'
import { Admin, alterPartitionReassignmentsV0 } from '@platformatic/kafka'
import { pino } from 'pino'
import type { KafkaConnection } from '../../shared/journal/kafka/connection.ts'
import { clientOptions, triesPast } from '../../shared/journal/kafka/connection.ts'
import {
  createKafkaJournal,
  type KafkaJournal,
  type KafkaJournalOptions,
} from '../../shared/journal/kafka/kafka-journal.ts'
import { patchClient } from '../../shared/journal/kafka/patched-client.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { eventually } from './eventually.ts'

export const connectionTo = (brokers: readonly string[]): KafkaConnection => ({
  brokers,
  clientId: 'sluice-test',
  ssl: null,
  sasl: null,
})

/** LOG_LEVEL_TESTS=debug shows the adapter's log. */
export const testLogger = pino({ level: process.env['LOG_LEVEL_TESTS'] ?? 'silent' })

export const openKafka = (brokers: readonly string[], options: Partial<KafkaJournalOptions> = {}): KafkaJournal =>
  createKafkaJournal({ connection: connectionTo(brokers), clock: systemClock, logger: testLogger, options })

/** A name that is unique on the shared broker. */
export const uniqueName = (base: string): string => `${base}-${randomUUID().slice(0, 8)}`

/** Properties that make the brokers elect each partition's preferred leader within a second or two. */
export const PREFERRED_LEADERS = {
  'auto.leader.rebalance.enable': 'true',
  'leader.imbalance.check.interval.seconds': '1',
  'leader.imbalance.per.broker.percentage': '0',
}

/** Moves a topic's leaders, or waits for them. */
export interface LeaderMoves {
  /** Makes the next replica the leader of every partition; resolves when it leads. */
  rotate(): Promise<void>
  /** The leading node of each partition; -1 if there is none. */
  leaders(): Promise<readonly number[]>
  /** Resolves when every replica is in sync again. */
  inSync(): Promise<void>
  close(): Promise<void>
}

export function leaderMoves(brokers: readonly string[], topic: string): LeaderMoves {
  const connection = connectionTo(brokers)
  const retries = triesPast(connection)
  // A partition may temporarily have no leader, which is not a failure here.
  const admin = patchClient(new Admin(clientOptions(connection, { requestTimeoutMs: 3_000, retries })), connection)
  const partitions = async () =>
    (await admin.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic)?.partitions ?? []
  const leaders = async () => (await partitions()).map(({ leader }) => leader)
  return {
    leaders,
    rotate: async () => {
      const wanted = (await partitions()).map(({ replicas }) => [...replicas.slice(1), ...replicas.slice(0, 1)])
      const [connection] = (await admin.connectToBrokers()).values()
      const plan = wanted.map((replicas, partitionIndex) => ({ partitionIndex, replicas }))
      await alterPartitionReassignmentsV0.api.async(connection!, 10_000, true, [{ name: topic, partitions: plan }])
      await eventually(async () => {
        const now = await leaders()
        return wanted.every((replicas, partition) => replicas[0] === now[partition])
      }, 60_000)
    },
    inSync: async () => {
      await eventually(
        async () =>
          (await partitions()).every(({ isr, replicas, leader }) => leader >= 0 && isr.length === replicas.length),
        60_000,
      )
    },
    close: () => admin.close(),
  }
}

import { Admin, offsetCommitV8 } from '@platformatic/kafka'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type Cluster, createCluster, type GroupPosition } from '../../shared/journal/kafka/cluster.ts'
import { subscribeToTopics } from '../../shared/journal/kafka/group.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { createTopic, recordsOf, valuesOf } from '../support/journal-fixture.ts'
import { connectionTo, openKafka, uniqueName } from '../support/kafka.ts'

type Positions = Map<number, GroupPosition | Error>

await describeWithBackends(
  'a group of which one partition has no position to start from',
  { kafka: 'shared' },
  ({ kafka }) => {
    /** The brokers' answers about positions go through `distort` until `mend` is called. */
    const distorted = (cluster: Cluster, distort: (found: Positions) => void) => {
      let broken = true
      const positionsOf: Cluster['positionsOf'] = async (topic, group, partitions) => {
        const found = new Map(await cluster.positionsOf(topic, group, partitions))
        if (broken) distort(found)
        return found
      }
      const mend = (): void => {
        broken = false
      }
      return { cluster: { ...cluster, positionsOf }, mend }
    }
    const subscribe = (cluster: Cluster, topic: string, closing: AbortSignal, group = uniqueName('group')) => {
      const values: (string | undefined)[] = []
      const warnings: Record<string, unknown>[] = []
      const logger = pino(
        { level: 'warn' },
        { write: (line: string) => void warnings.push(JSON.parse(line) as Record<string, unknown>) },
      )
      const context = {
        clock: systemClock,
        connection: connectionTo(kafka.brokers),
        cluster,
        logger,
        closing,
        requestTimeoutMs: 3_000,
        maxWaitMs: 100,
        maxPartitionBytes: 1024 * 1024,
        groupProtocol: 'auto' as const,
        sessionTimeoutMs: 30_000,
        rebalanceTimeoutMs: 60_000,
        heartbeatIntervalMs: 1_000,
        handlerTimeoutMs: 60_000,
        stallTimeoutMs: 3_000,
      }
      const options = { group, topics: [topic], recordsMax: 10 }
      const subscription = subscribeToTopics(
        context,
        options,
        async ({ records }) => void values.push(...valuesOf(records)),
      )
      return { subscription, values, warnings }
    }

    for (const [what, distort, reason] of [
      ['its leader cannot be reached', (found) => found.set(1, new Error('connect refused')), 'connect refused'],
      ['the brokers do not know it', (found) => found.delete(1), 'no broker gave its position'],
    ] as readonly (readonly [string, (found: Positions) => unknown, string])[]) {
      test(`${what}: the others are read, it is alarmed, and read once it can be`, async () => {
        const journal = openKafka(kafka.brokers)
        const real = createCluster(connectionTo(kafka.brokers), 3_000)
        const { cluster, mend } = distorted(real, distort)
        const topic = await createTopic(journal, uniqueName('positions'), 2)
        await journal.append({ topic, partition: 0, records: recordsOf('zero', 2) })
        await journal.append({ topic, partition: 1, records: recordsOf('one', 2) })
        const closing = new AbortController()
        const { subscription, values, warnings } = subscribe(cluster, topic, closing.signal)
        try {
          await eventually(() => values.length === 2, 20_000)
          expect(values).toEqual(['zero0', 'zero1'])
          const told = { ready: false, reason: `${topic}/1 is not read: ${reason}` }
          await eventually(() => expect(subscription.health()).toMatchObject(told))
          await eventually(() => warnings.length > 0)
          expect(warnings).toMatchObject([
            { partitions: `${topic}/1`, reason: told.reason, msg: 'partitions are not read' },
          ])
          await journal.append({ topic, partition: 0, records: recordsOf('later', 1) })
          await eventually(() => values.length === 3)
          mend()
          await eventually(() => values.length === 5)
          expect(values.slice(2)).toEqual(['later0', 'one0', 'one1'])
          await eventually(() => expect(subscription.health()).toMatchObject({ ready: true }))
          expect(warnings).toHaveLength(1)
        } finally {
          closing.abort()
          await subscription.close()
          await Promise.all([journal.close(), real.close()])
        }
      }, 60_000)
    }

    test('its position has an epoch of another cluster: the others are read, it is alarmed, and read once it is set anew', async () => {
      const journal = openKafka(kafka.brokers)
      const cluster = createCluster(connectionTo(kafka.brokers), 3_000)
      const admin = new Admin({ clientId: 'operator', bootstrapBrokers: [...kafka.brokers], retries: 10 })
      const topic = await createTopic(journal, uniqueName('positions'), 2)
      await journal.append({ topic, partition: 0, records: recordsOf('zero', 2) })
      await journal.append({ topic, partition: 1, records: recordsOf('one', 2) })
      const group = uniqueName('group')
      const commit = (committedLeaderEpoch: number): Promise<void> =>
        eventually(async () => {
          const [{ nodeId } = { nodeId: -1 }] = await admin.findCoordinator({ keyType: 0, keys: [group] })
          const [coordinator] = (await admin.connectToBrokers([nodeId])).values()
          const place = { partitionIndex: 1, committedOffset: 1n, committedLeaderEpoch, committedMetadata: null }
          await offsetCommitV8.api.async(coordinator!, group, -1, '', null, [{ name: topic, partitions: [place] }])
        }, 20_000)
      const closing = new AbortController()
      try {
        await commit(99)
        const first = subscribe(cluster, topic, closing.signal, group)
        const reason = expect.stringContaining(`${topic}/1 is not read: the epoch of the group's position`)
        await eventually(() => expect(first.subscription.health()).toMatchObject({ ready: false, reason }), 20_000)
        await eventually(() =>
          expect(first.warnings).toContainEqual(expect.objectContaining({ partitions: `${topic}/1` })),
        )
        await first.subscription.close()
        expect(first.values).toEqual(['zero0', 'zero1'])
        await commit(-1)
        const second = subscribe(cluster, topic, closing.signal, group)
        await eventually(() => second.values.includes('one1'), 20_000)
        await second.subscription.close()
        expect(second.values).not.toContain('one0')
      } finally {
        closing.abort()
        await Promise.all([journal.close(), cluster.close(), admin.close()])
      }
    }, 60_000)
  },
)

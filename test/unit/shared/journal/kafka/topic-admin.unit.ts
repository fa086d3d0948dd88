import { Writer } from '@platformatic/kafka'
import { afterEach, expect, test } from 'vitest'
import { type Cluster, createCluster, type NewTopic } from '../../../../../shared/journal/kafka/cluster.ts'
import { checkDurability, createMissing } from '../../../../../shared/journal/kafka/topic-admin.ts'
import { apiVersions, type FakeBroker, startFakeBroker } from '../../../../support/fake-broker.ts'
import { connectionTo } from '../../../../support/kafka.ts'

const METADATA = 3
const API_VERSIONS = 18

interface Listed {
  /** The nodes that are alive. */
  readonly alive: readonly number[]
  /** The nodes of the replicas, by topic. */
  readonly topics: Readonly<Record<string, readonly number[]>>
}

const metadata = ({ host, port }: FakeBroker, { alive, topics }: Listed): Writer => {
  const nodes = (writer: Writer, ids: readonly number[]): Writer =>
    writer.appendArray([...ids], (each, id) => each.appendInt32(id), true, false)
  return Writer.create()
    .appendTaggedFields()
    .appendInt32(0)
    .appendArray([...alive], (broker, id) =>
      broker.appendInt32(id).appendString(host).appendInt32(port).appendString(null),
    )
    .appendString('cluster')
    .appendInt32(1)
    .appendArray(Object.entries(topics), (topic, [name, replicas]) =>
      topic
        .appendInt16(0)
        .appendString(name)
        .appendUUID('11111111-2222-3333-4444-555555555555')
        .appendBoolean(false)
        .appendArray([0], (partition, index) => {
          partition.appendInt16(0).appendInt32(index).appendInt32(1).appendInt32(0)
          nodes(nodes(nodes(partition, replicas), replicas), [])
        })
        .appendInt32(0),
    )
    .appendTaggedFields()
}

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

/** A cluster in this state. */
async function clusterOf(listed: Listed): Promise<Cluster> {
  const broker: FakeBroker = await startFakeBroker(({ apiKey }) =>
    apiKey === API_VERSIONS ? apiVersions([[METADATA, 12]], true) : metadata(broker, listed),
  )
  const cluster = createCluster(connectionTo([`${broker.host}:${broker.port}`]), 5_000)
  opened.push(cluster, broker)
  return cluster
}

const topicNamed = (name: string) =>
  ({ name, role: 'event-logs', partitions: 1, cleanup: 'delete', retentionMs: null }) as const

test.each([
  ['three brokers', { alive: [1, 2, 3], topics: {} }, 3, '2'],
  ['one broker', { alive: [1], topics: {} }, 1, '1'],
  ['one broker with topics', { alive: [1], topics: { logs: [1], flows: [1] } }, 1, '1'],
  ['three brokers of which one is down', { alive: [1, 2], topics: { logs: [1, 2, 3] } }, 3, '2'],
  ['three brokers of which two are down', { alive: [1], topics: { logs: [3], flows: [2] } }, 3, '2'],
] satisfies readonly (readonly [string, Listed, number, string])[])(
  'the copies of a new topic: %s',
  async (_, listed, replicas, inSync) => {
    const made: NewTopic[] = []
    const create = async (topic: NewTopic): Promise<boolean> => made.push(topic) > 0
    await createMissing({ ...(await clusterOf(listed)), create }, [topicNamed('new')])
    expect(made).toMatchObject([{ name: 'new', replicas, config: { 'min.insync.replicas': inSync } }])
  },
)

test('a topic that another process creates at the same moment is not told as created here', async () => {
  const cluster = await clusterOf({ alive: [1], topics: {} })
  const create = async ({ name }: NewTopic): Promise<boolean> => name !== 'theirs'
  const created = await createMissing({ ...cluster, create }, [topicNamed('theirs'), topicNamed('ours')])
  expect([...created]).toEqual(['ours'])
})

test('a topic of one copy is a danger, though the third broker is down', async () => {
  const cluster = await clusterOf({ alive: [1, 2], topics: { logs: [1], flows: [1, 2, 3] } })
  const config = new Map([
    ['min.insync.replicas', '1'],
    ['cleanup.policy', 'delete'],
  ])
  await expect(checkDurability({ ...cluster, configOf: async () => config }, [topicNamed('logs')])).rejects.toThrow(
    'logs keeps 1 copies of a record, not 3',
  )
})

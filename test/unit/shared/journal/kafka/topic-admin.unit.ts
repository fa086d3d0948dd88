import { afterEach, expect, test } from 'vitest'
import { type Cluster, createCluster, type NewTopic } from '../../../../../shared/journal/kafka/cluster.ts'
import {
  checkDurability,
  createMissing,
  describeTopics,
  findDangers,
} from '../../../../../shared/journal/kafka/topic-admin.ts'
import {
  API_VERSIONS,
  apiVersions,
  type FakeBroker,
  type Listed,
  METADATA,
  metadata,
  startFakeBroker,
} from '../../../../support/fake-broker.ts'
import { connectionTo } from '../../../../support/kafka.ts'

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

test('settings that were changed since the start are told, and one that removes records by key apart', async () => {
  const cluster = await clusterOf({ alive: [1, 2, 3], topics: { logs: [1, 2, 3] } })
  const config = new Map([
    ['min.insync.replicas', '2'],
    ['cleanup.policy', 'delete'],
  ])
  const changing = { ...cluster, configOf: async () => config }
  const inSync = await checkDurability(changing, [topicNamed('logs')])
  expect(await findDangers(changing, [topicNamed('logs')], inSync)).toEqual({ compacted: null, dangers: [] })
  config.set('min.insync.replicas', '1')
  const lowered = 'logs confirms a record that 1 broker(s) have (min.insync.replicas), not 2'
  expect(await findDangers(changing, [topicNamed('logs')], inSync)).toEqual({ compacted: null, dangers: [lowered] })
  config.set('cleanup.policy', 'compact')
  const compacted = 'logs has cleanup.policy=compact, which removes records that share a key: set it to delete'
  expect(await findDangers(changing, [topicNamed('logs')], inSync)).toEqual({
    compacted,
    dangers: [lowered, compacted],
  })
})

test.each([
  ['-1', []],
  ['3600000', []],
  [
    '300000',
    ['logs removes records after 300000 ms (retention.ms), even those that no consumer has read: set it to 604800000'],
  ],
])('a topic that keeps records for %s ms by now: %j', async (kept, dangers) => {
  const cluster = await clusterOf({ alive: [1], topics: { logs: [1] } })
  const changed = { ...cluster, configOf: async () => new Map([['retention.ms', kept]]) }
  const topic = { ...topicNamed('logs'), retentionMs: 604_800_000 }
  expect(await findDangers(changed, [topic], 1)).toEqual({ compacted: null, dangers })
})

test('a compacted topic keeps its records whatever its retention', async () => {
  const cluster = await clusterOf({ alive: [1], topics: { registry: [1] } })
  const config = new Map([
    ['cleanup.policy', 'compact'],
    ['retention.ms', '300000'],
  ])
  const topic = { ...topicNamed('registry'), cleanup: 'compact' } as const
  const found = await findDangers({ ...cluster, configOf: async () => config }, [topic], 1)
  expect(found).toEqual({ compacted: null, dangers: [] })
})

test.each([
  ['86400000', []],
  ['604800000', []],
  ['3600000', ['registry has delete.retention.ms=3600000, not 86400000 or more']],
])('a compacted topic that keeps deletion marks for %s ms: %j', async (kept, differences) => {
  const cluster = await clusterOf({ alive: [1], topics: { registry: [1] } })
  const config = new Map([
    ['min.insync.replicas', '1'],
    ['cleanup.policy', 'compact'],
    ['delete.retention.ms', kept],
    ['message.timestamp.type', 'LogAppendTime'],
    ['max.message.bytes', '1048588'],
  ])
  const topic = { ...topicNamed('registry'), cleanup: 'compact' } as const
  const [report] = await describeTopics({ ...cluster, configOf: async () => config }, [topic])
  expect(report).toMatchObject({ differences, dangers: [] })
})

test.each([
  ['1048588', []],
  ['262144', ['logs takes records of 262144 bytes (max.message.bytes), not 1048588']],
])('a topic that takes at most %s bytes at once: %j', async (largest, differences) => {
  const cluster = await clusterOf({ alive: [1], topics: { logs: [1] } })
  const config = new Map([
    ['min.insync.replicas', '1'],
    ['cleanup.policy', 'delete'],
    ['message.timestamp.type', 'LogAppendTime'],
    ['retention.ms', '-1'],
    ['max.message.bytes', largest],
  ])
  const [report] = await describeTopics({ ...cluster, configOf: async () => config }, [topicNamed('logs')])
  expect(report).toMatchObject({ differences, dangers: [] })
})

import { Admin, ListOffsetTimestamps } from '@platformatic/kafka'

/** As many as the gateway's own topics have. */
export const PARTITIONS = 12

export interface Topics {
  create(topic: string): Promise<void>
  /** Records in a topic that nothing was removed from and no transaction was written to. */
  count(topic: string): Promise<number>
  /** Bytes of the topic's segments on the first broker. */
  bytes(topic: string): Promise<number>
  /** Positions that a group has committed in the topic, added up. */
  committed(topic: string, group: string): Promise<number>
  /** Lets a group begin anew; none of its members may be left. */
  forget(groups: readonly string[]): Promise<void>
  remove(topics: readonly string[]): Promise<void>
  /** The topics whose names begin so. */
  named(prefix: string): Promise<readonly string[]>
  close(): Promise<void>
}

export function openTopics(broker: string): Topics {
  const admin = new Admin({ clientId: 'bench', bootstrapBrokers: [broker], retries: 5 })
  return {
    create: async (topic) => {
      await admin.createTopics({ topics: [topic], partitions: PARTITIONS, replicas: 1 })
    },
    count: async (topic) => {
      const partitions = Array.from({ length: PARTITIONS }, (_, partitionIndex) => ({
        partitionIndex,
        timestamp: ListOffsetTimestamps.LATEST,
      }))
      const [found] = await admin.listOffsets({ topics: [{ name: topic, partitions }] })
      return (found?.partitions ?? []).reduce((sum, { offset }) => sum + Number(offset), 0)
    },
    bytes: async (topic) => {
      const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition)
      const [broker] = await admin.describeLogDirs({ topics: [{ name: topic, partitions }] })
      const found = broker?.results.flatMap((directory) => directory.topics.flatMap((each) => each.partitions)) ?? []
      return found.reduce((sum, { partitionSize }) => sum + Number(partitionSize), 0)
    },
    committed: async (topic, group) => {
      const partitionIndexes = Array.from({ length: PARTITIONS }, (_, partition) => partition)
      const groups = [{ groupId: group, topics: [{ name: topic, partitionIndexes }] }]
      const [found] = await admin.listConsumerGroupOffsets({ groups })
      const partitions = found?.topics.flatMap((each) => each.partitions) ?? []
      return partitions.reduce((sum, { committedOffset }) => sum + Math.max(0, Number(committedOffset)), 0)
    },
    forget: (groups) => admin.deleteGroups({ groups: [...groups] }),
    remove: async (topics) => {
      if (topics.length > 0) await admin.deleteTopics({ topics: [...topics] })
    },
    named: async (prefix) => (await admin.listTopics()).filter((topic) => topic.startsWith(prefix)),
    close: () => admin.close(),
  }
}

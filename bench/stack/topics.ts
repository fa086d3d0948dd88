import { Admin, ListOffsetTimestamps } from '@platformatic/kafka'

/** The same number as the gateway's own topics. */
export const PARTITIONS = 12

export interface Topics {
  create(topic: string): Promise<void>
  /** The number of records in a topic without deletions or transactions. */
  count(topic: string): Promise<number>
  /** Bytes of the topic's segments on the first broker. */
  bytes(topic: string): Promise<number>
  /** The sum of the group's committed positions in the topic. */
  committed(topic: string, group: string): Promise<number>
  /** Deletes the groups' positions; they must have no members. */
  forget(groups: readonly string[]): Promise<void>
  remove(topics: readonly string[]): Promise<void>
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

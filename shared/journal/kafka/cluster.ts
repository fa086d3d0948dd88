import { Admin, ConfigResourceTypes } from '@platformatic/kafka'
import { type PartitionPosition, TopicMissingError } from '../journal.ts'
import { clientOptions, type KafkaConnection, triesPast } from './connection.ts'
import { errorCodes, isUnknownTopic, KafkaError } from './faults.ts'

/** What a cluster says about itself; every call asks the brokers, and rejects with a `KafkaError` where they do not answer. */
export interface Cluster {
  brokerCount(): Promise<number>
  exists(topic: string): Promise<boolean>
  /** Rejects with a `TopicMissingError`. */
  partitionsOf(topic: string): Promise<readonly TopicPartition[]>
  /** Settings of a topic in force, by name. Rejects with a `TopicMissingError`. */
  configOf(topic: string): Promise<ReadonlyMap<string, string>>
  /** Makes a topic; false where it exists already. */
  create(topic: NewTopic): Promise<boolean>
  /** The offset of the first record kept and the position after the last one, by partition. */
  bounds(topic: string): Promise<readonly Bounds[]>
  positions(topic: string, group: string): Promise<readonly PartitionPosition[]>
  close(): Promise<void>
}

export interface TopicPartition {
  readonly leader: number
  readonly replicas: readonly number[]
}
export interface Bounds {
  readonly first: number
  readonly end: number
}
export interface NewTopic {
  readonly name: string
  readonly partitions: number
  readonly replicas: number
  readonly config: Readonly<Record<string, string>>
}

const FIRST_OFFSET = -2n
const END_POSITION = -1n
/** How often a new topic is asked for until every partition has a leader. */
const NEW_TOPIC_TRIES = 50
const NEW_TOPIC_DELAY_MS = 100

export function createCluster(connection: KafkaConnection, requestTimeoutMs: number): Cluster {
  const retries = triesPast(connection)
  const admin = new Admin(clientOptions(connection, { requestTimeoutMs, retries }))
  let closed = false

  const metadata = (topics: string[]) => admin.metadata({ topics, forceUpdate: true, retries })
  const partitionsOf = async (topic: string): Promise<readonly TopicPartition[]> => {
    const found = await metadata([topic]).catch(rethrow(topic))
    return found.topics.get(topic)?.partitions ?? []
  }
  const offsets = async (topic: string, count: number, timestamp: bigint): Promise<readonly number[]> => {
    const partitions = Array.from({ length: count }, (_, partitionIndex) => ({ partitionIndex, timestamp }))
    const [listed] = await admin.listOffsets({ topics: [{ name: topic, partitions }] }).catch(rethrow(topic))
    return partitions.map(({ partitionIndex }) => {
      const found = listed?.partitions.find((each) => each.partitionIndex === partitionIndex)
      if (found === undefined) throw new Error(`the brokers gave no offset for ${topic}/${partitionIndex}`)
      return Number(found.offset)
    })
  }
  const bounds = async (topic: string): Promise<readonly Bounds[]> => {
    const { length } = await partitionsOf(topic)
    // The end is asked for last, so that it is never before the first record.
    const first = await offsets(topic, length, FIRST_OFFSET)
    const end = await offsets(topic, length, END_POSITION)
    return first.map((offset, partition) => ({ first: offset, end: end[partition] ?? offset }))
  }

  return {
    partitionsOf,
    bounds,
    // Asking for the metadata of a missing topic is tried again and again; the list of all topics answers at once.
    exists: async (topic) => (await admin.listTopics().catch(rethrow(topic))).includes(topic),
    brokerCount: async () => (await metadata([]).catch(rethrow())).brokers.size,
    configOf: async (topic) => {
      const resources = [{ resourceType: ConfigResourceTypes.TOPIC, resourceName: topic }]
      const [described] = await admin.describeConfigs({ resources }).catch(rethrow(topic))
      return new Map(described?.configs.map(({ name, value }) => [name, value ?? '']))
    },
    create: async ({ name, partitions, replicas, config }) => {
      const configs = Object.entries(config).map(([key, value]) => ({ name: key, value }))
      try {
        await admin.createTopics({ topics: [name], partitions, replicas, configs })
      } catch (error) {
        if (errorCodes(error).includes('TOPIC_ALREADY_EXISTS')) return false
        throw new KafkaError(error)
      }
      await untilLed(() => partitionsOf(name), name)
      return true
    },
    positions: async (topic, group) => {
      const found = await bounds(topic)
      const partitionIndexes = [...found.keys()]
      const groups = [{ groupId: group, topics: [{ name: topic, partitionIndexes }] }]
      const [listed] = await admin.listConsumerGroupOffsets({ groups }).catch(rethrow(topic))
      const committed = new Map(
        listed?.topics
          .find(({ name }) => name === topic)
          ?.partitions.map((each) => [each.partitionIndex, Number(each.committedOffset)]),
      )
      return found.map(({ first, end }, partition) => {
        const offset = committed.get(partition) ?? -1
        return { partition, firstOffset: first, endPosition: end, committed: offset < 0 ? null : offset }
      })
    },
    close: async () => {
      if (closed) return
      closed = true
      await admin.close()
    },
  }
}

const rethrow =
  (topic?: string) =>
  (error: unknown): never => {
    throw topic !== undefined && isUnknownTopic(error) ? new TopicMissingError(topic) : new KafkaError(error)
  }

/** The controller answers before the brokers know the topic. */
async function untilLed(read: () => Promise<readonly TopicPartition[]>, name: string): Promise<void> {
  for (let tries = 0; tries < NEW_TOPIC_TRIES; tries++) {
    const partitions = await read().catch((error) => {
      if (error instanceof TopicMissingError) return []
      throw error
    })
    if (partitions.length > 0 && partitions.every(({ leader }) => leader >= 0)) return
    await new Promise((resolve) => setTimeout(resolve, NEW_TOPIC_DELAY_MS))
  }
  throw new Error(`the topic ${name} was made, but has no leader`)
}

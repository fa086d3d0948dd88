import { setTimeout as delay } from 'node:timers/promises'
import {
  Admin,
  type ClusterMetadata,
  type ClusterTopicMetadata,
  ConfigResourceTypes,
  type Connection,
  kGetBootstrapConnection,
  metadataV12,
} from '@platformatic/kafka'
import { type PartitionPosition, TopicMissingError } from '../journal.ts'
import { clientOptions, type KafkaConnection, triesPast } from './connection.ts'
import { describeFault, errorCodes, isRefusedForGood, isUnknownTopic, KafkaError } from './faults.ts'
import { type Bounds, type LogPlace, listBounds } from './offsets.ts'
import { patchClient } from './patched-client.ts'

/** Metadata queries and the creation of topics; every call asks the brokers, and rejects with a `KafkaError` if they do not answer. */
export interface Cluster {
  /** The brokers that are alive. */
  brokerCount(): Promise<number>
  /** The brokers that are alive, and those that hold a replica of any topic, as one does that is being restarted. */
  expectedBrokerCount(): Promise<number>
  exists(topic: string): Promise<boolean>
  /** The id of the topic that has this name at present; null if there is none, or no broker says. Never rejects. */
  idOf(topic: string): Promise<string | null>
  /** Rejects with a `TopicMissingError`. */
  partitionsOf(topic: string): Promise<readonly TopicPartition[]>
  /** As `Journal.partitionCount`, also where a broker lags behind. */
  partitionCount(topic: string): Promise<number>
  /** As `Journal.refusalOf`. */
  refusalOf(topic: string): Promise<string | null>
  /** The effective settings of a topic, by name. Rejects with a `TopicMissingError`. */
  configOf(topic: string): Promise<ReadonlyMap<string, string>>
  /** Creates a topic; false if it exists already. */
  create(topic: NewTopic): Promise<boolean>
  /** The bounds of a topic, by partition; rejects if the leader of any does not answer. */
  bounds(topic: string): Promise<readonly Bounds[]>
  /** The positions of a group in a topic, by partition; rejects if the leader of any does not answer. */
  positions(topic: string, group: string): Promise<readonly PartitionPosition[]>
  /** Sets the positions of a group without members to the first records kept; rejects if the leader of any does not answer. */
  rewind(topic: string, groupId: string): Promise<void>
  /**
   * The bounds of these partitions only, asked for once. An Error marks a partition whose leader does not answer, or that no broker knows
   * yet.
   */
  boundsOf(topic: string, partitions: readonly number[]): Promise<ReadonlyMap<number, Bounds | Error>>
  /** The positions in these partitions only, like `boundsOf`. Rejects if the group's coordinator does not answer. */
  positionsOf(
    topic: string,
    group: string,
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, GroupPosition | Error>>
  close(): Promise<void>
}

/** The bounds of a partition, and the place that a group has committed there; null if none. */
export interface GroupPosition extends Bounds {
  readonly committed: LogPlace | null
}

/** A committed place, with the note of the member that committed it; empty if it had none. */
interface CommittedPlace extends LogPlace {
  readonly note: string
}

interface TopicPartition {
  readonly leader: number
  readonly replicas: readonly number[]
}
export interface NewTopic {
  readonly name: string
  readonly partitions: number
  readonly replicas: number
  readonly config: Readonly<Record<string, string>>
}

/** How often to ask for a new topic until every partition has a leader. */
const NEW_TOPIC_TRIES = 50
const NEW_TOPIC_DELAY_MS = 100
const RETRY_DELAY_MS = 200

export function createCluster(connection: KafkaConnection, requestTimeoutMs: number): Cluster {
  const retries = triesPast(connection)
  const admin = patchClient(new Admin(clientOptions(connection, { requestTimeoutMs, retries })), connection)
  let closed = false

  const metadata = (topics: string[]) => admin.metadata({ topics, forceUpdate: true, retries })
  const foundTopic = async (topic: string) => (await metadata([topic]).catch(rethrow(topic))).topics.get(topic)
  const partitionsOf = async (topic: string): Promise<readonly TopicPartition[]> =>
    (await foundTopic(topic))?.partitions ?? []
  const boundsOf: Cluster['boundsOf'] = async (topic, partitions) =>
    listBounds(admin, await metadata([topic]).catch(rethrow(topic)), topic, partitions)
  const bounds = async (topic: string): Promise<readonly Bounds[]> => {
    for (let tries = 1; ; tries++) {
      const { length } = await partitionsOf(topic)
      const found = [...(await boundsOf(topic, [...Array(length).keys()])).entries()].sort(([a], [b]) => a - b)
      const failed = found.find(([, each]) => each instanceof Error)?.[1]
      if (failed === undefined) return found.map(([, each]) => each as Bounds)
      if (tries > retries) throw new KafkaError(failed)
      await delay(RETRY_DELAY_MS)
    }
  }
  return {
    partitionsOf,
    partitionCount: createPartitionCount(foundTopic),
    bounds,
    boundsOf,
    // A request for a missing topic's metadata is retried many times; the list of all topics answers at once.
    exists: async (topic) => (await admin.listTopics().catch(rethrow(topic))).includes(topic),
    idOf: async (topic) => (await foundTopic(topic).catch(() => undefined))?.id ?? null,
    refusalOf: (topic) => refusalOf(admin, topic),
    brokerCount: async () => (await metadata([]).catch(rethrow())).brokers.size,
    expectedBrokerCount: async () => {
      const { brokers, topics } = await describeAll(admin, retries)
      const partitions = [...topics.values()].flatMap((topic) => topic.partitions)
      return new Set([...brokers.keys(), ...partitions.flatMap(({ replicas }) => replicas)]).size
    },
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
      const committed = await committedOf(admin, topic, group, [...found.keys()])
      return found.map(({ first, end }, partition) => {
        const { position = null, note = '' } = committed.get(partition) ?? {}
        return { partition, firstOffset: first, endPosition: end, committed: position, ...(note !== '' && { note }) }
      })
    },
    rewind: async (topic, groupId) => {
      const partitionOffsets = (await bounds(topic)).map(({ first }, partition) => ({
        partition,
        offset: BigInt(first),
      }))
      await admin
        .alterConsumerGroupOffsets({ groupId, topics: [{ name: topic, partitionOffsets }] })
        .catch(rethrow(topic))
    },
    positionsOf: async (topic, group, partitions) => {
      const found = await boundsOf(topic, partitions)
      const answered = partitions.filter((partition) => !(found.get(partition) instanceof Error))
      const committed = answered.length === 0 ? undefined : await committedOf(admin, topic, group, answered)
      return new Map(
        [...found].map(([partition, each]): [number, GroupPosition | Error] => [
          partition,
          each instanceof Error ? each : { ...each, committed: committed?.get(partition) ?? null },
        ]),
      )
    },
    close: async () => {
      if (closed) return
      closed = true
      await admin.close()
    },
  }
}

/** Bits of the operations that a user may perform on a topic. A broker that does not tell them sets neither. */
const MAY_WRITE = 1 << 4
const MAY_DESCRIBE = 1 << 8

/** A connection to a broker that answers. */
export const anyBroker = (client: Admin): Promise<Connection> =>
  new Promise((resolve, reject) => {
    client[kGetBootstrapConnection]((error, connection) => (connection ? resolve(connection) : reject(error)))
  })

/** As `Journal.refusalOf`. */
async function refusalOf(admin: Admin, topic: string): Promise<string | null> {
  try {
    const { topics } = await metadataV12.api.async(await anyBroker(admin), [topic], false, true)
    const rights = topics[0]?.topicAuthorizedOperations ?? 0
    return rights & MAY_DESCRIBE && !(rights & MAY_WRITE) ? `the right to write ${topic} is missing` : null
  } catch (error) {
    if (isUnknownTopic(error)) return new TopicMissingError(topic).message
    return isRefusedForGood(error) ? `${topic}: ${describeFault(error)}` : null
  }
}

/** Counts the partitions of the topic that got the name last. A broker that lags behind tells fewer of them, so the largest number counts. */
function createPartitionCount(foundTopic: (topic: string) => Promise<ClusterTopicMetadata | undefined>) {
  /** By name and by the topic's id. */
  const counts = new Map<string, Map<string, number>>()
  return async (topic: string): Promise<number> => {
    const found = await foundTopic(topic)
    if (found === undefined) throw new TopicMissingError(topic)
    const { id, partitions } = found
    const byId = counts.get(topic) ?? new Map<string, number>()
    counts.set(topic, byId.set(id, Math.max(byId.get(id) ?? 0, partitions.length)))
    return [...byId.values()].at(-1) ?? 0
  }
}

/** The places that a group has committed in these partitions of a topic. */
async function committedOf(admin: Admin, topic: string, group: string, partitions: readonly number[]) {
  const groups = [{ groupId: group, topics: [{ name: topic, partitionIndexes: [...partitions] }] }]
  const [listed] = await admin.listConsumerGroupOffsets({ groups }).catch(rethrow(topic))
  const found = listed?.topics.find(({ name }) => name === topic)?.partitions ?? []
  return new Map(
    found.flatMap((each): [number, CommittedPlace][] => {
      const { partitionIndex, committedOffset, committedLeaderEpoch: leaderEpoch, metadata } = each
      return committedOffset < 0
        ? []
        : [[partitionIndex, { position: Number(committedOffset), leaderEpoch, note: metadata ?? '' }]]
    }),
  )
}

/** The brokers that are alive and all topics of the cluster, which the client does not keep: it needs a few of them. */
async function describeAll(admin: Admin, retries: number): Promise<ClusterMetadata> {
  for (let tries = 1; ; tries++) {
    try {
      const topics = await admin.listTopics()
      return await admin.metadata({ topics, forceUpdate: true, retries })
    } catch (error) {
      // Another program of the cluster may delete a topic between the two requests.
      if (!isUnknownTopic(error) || tries > retries) throw new KafkaError(error)
    } finally {
      admin.clearMetadata()
    }
  }
}

const rethrow =
  (topic?: string) =>
  (error: unknown): never => {
    throw topic !== undefined && isUnknownTopic(error) ? new TopicMissingError(topic) : new KafkaError(error)
  }

/** Waits until a new topic has leaders: the controller answers before the brokers know the topic. */
async function untilLed(read: () => Promise<readonly TopicPartition[]>, name: string): Promise<void> {
  for (let tries = 0; tries < NEW_TOPIC_TRIES; tries++) {
    const partitions = await read().catch((error) => {
      if (error instanceof TopicMissingError) return []
      throw error
    })
    if (partitions.length > 0 && partitions.every(({ leader }) => leader >= 0)) return
    await delay(NEW_TOPIC_DELAY_MS)
  }
  throw new Error(`the topic ${name} was made, but has no leader`)
}

import {
  type API,
  type Base,
  type Callback,
  createAPI,
  kGetApi,
  metadataV12,
  type Reader,
  ResponseError,
} from '@platformatic/kafka'
import type { KafkaConnection } from './connection.ts'

type Response = metadataV12.MetadataResponse
/** The part of every client of the library by which it finds the version of a request. */
type Requests = Pick<Base, typeof kGetApi>

/** Who leads a partition, and in which term; by topic id and partition. */
export type Leaders = Map<string, { readonly leaderId: number; readonly leaderEpoch: number }>

const NO_LEADER = -1
/** What one client of a connection has learned, the others know. */
const learned = new WeakMap<KafkaConnection, Leaders>()

/**
 * Mends two things in how a client of the library takes metadata, and gives the client back.
 *
 * A partition without a leader: by itself the client takes that for a failure of the whole request and forgets what it knew, so that one such
 * partition stops the reading of all, every append that has to find a leader, and every join of a group. Here the leader of such a
 * partition is -1, and the others stay as they are.
 *
 * A broker that was frozen and does not know yet that it was deposed: a leader of an earlier term than one known already is not believed.
 */
export function mendMetadata<Client extends Requests>(client: Client, connection: KafkaConnection): Client {
  const leaders = learned.get(connection) ?? new Map()
  learned.set(connection, leaders)
  const metadata = createAPI<metadataV12.MetadataRequest, Response>(
    metadataV12.api.key,
    metadataV12.api.version,
    metadataV12.createRequest,
    (...answer) => keepNewest(parseMetadata(...answer), leaders),
  )
  const getApi = client[kGetApi].bind(client)
  client[kGetApi] = <Args extends unknown[], Answer>(name: string, callback: Callback<API<Args, Answer>>): void => {
    if (name !== 'Metadata') {
      getApi(name, callback)
      return
    }
    // The library's own choice goes first, because it is what connects and finds out what is wrong with a connection.
    getApi(name, (error) => (error ? callback(error) : callback(null, metadata as unknown as API<Args, Answer>)))
  }
  return client
}

/** Replaces leaders of an earlier term by those that are known (KIP-320), and remembers the others. */
export function keepNewest(response: Response, leaders: Leaders): Response {
  const newest = (topicId: string, partition: metadataV12.MetadataResponsePartition) => {
    const { leaderId, leaderEpoch, partitionIndex } = partition
    const key = `${topicId}/${partitionIndex}`
    const known = leaders.get(key)
    if (known !== undefined && leaderEpoch < known.leaderEpoch) return { ...partition, ...known }
    leaders.set(key, { leaderId, leaderEpoch })
    return partition
  }
  const topics = response.topics.map((topic) => ({
    ...topic,
    partitions: topic.partitions.map((partition) => newest(topic.topicId, partition)),
  }))
  return { ...response, topics }
}

/** As the library's; an error of a topic is one still. */
export function parseMetadata(correlationId: number, apiKey: number, apiVersion: number, reader: Reader): Response {
  try {
    return metadataV12.parseResponse(correlationId, apiKey, apiVersion, reader)
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error
    const response: Response = error['response']
    if (response.topics.some(({ errorCode }) => errorCode !== 0)) throw error
    const topics = response.topics.map((topic) => ({
      ...topic,
      partitions: topic.partitions.map((each) => (each.errorCode === 0 ? each : { ...each, leaderId: NO_LEADER })),
    }))
    return { ...response, topics }
  }
}

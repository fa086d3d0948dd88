/**
 * The library's client, patched, and a list of all internals that this adapter depends on. @platformatic/kafka promises none of them, so
 * package.json pins one exact version: before an upgrade, read these places and run the integration and fault suites.
 *
 * - Methods with symbol names, replaced (this file): `kGetBootstrapConnection`, which finds a broker to ask and is called by cluster.ts, and
 *   `kGetApi`, which finds the version of a request.
 * - Single requests, in versions that we choose, on connections of the client's own pool (`connections.get`,
 *   `getEstablishedConnection`, `connectToBrokers`): `createAPI` with `metadataV12` (this file) and `fetchV15` (fetch.ts);
 *   `metadataV12` (cluster.ts), `listOffsetsV7` (offsets.ts), `offsetCommitV8` (classic-member.ts); `apiVersionsV3`, `findCoordinatorV4`,
 *   `consumerGroupHeartbeatV1` and `offsetCommitV9` (consumer-member.ts); `Connection.send` with a request of our own and `produceV9`'s
 *   parser (append.ts).
 * - The wire format: `Reader` and `Writer` (fetch.ts, append.ts, record-batch.ts), `crc32c` (record-batch.ts, fetched-records.ts),
 *   `compressionsAlgorithms` (record-batch.ts) and `compressionsAlgorithmsByBitmask` (fetched-records.ts).
 * - State of the client: `currentMetadata` (this file, append.ts, leaders.ts), `clearMetadata` (cluster.ts), `topics.track` (fetcher.ts,
 *   classic-member.ts).
 * - Behaviour: the pool emits `connecting` before it connects (this file); the `tls` options are read again, in their order, for each
 *   connection, and `sasl.password` is called (connection.ts); `protocolsMetadata` is awaited before each JoinGroup, and the `consumer:…`
 *   events have these names (classic-member.ts); errors nest as `errors` and `cause`, carry `apiId`, and an unknown topic is reported in
 *   words (faults.ts).
 */
import {
  type API,
  type Base,
  type Broker,
  type Callback,
  createAPI,
  fetchV15,
  kGetApi,
  kGetBootstrapConnection,
  metadataV12,
  parseBroker,
  type Reader,
  ResponseError,
  UnsupportedApiError,
} from '@platformatic/kafka'
import type { KafkaConnection } from './connection.ts'

/**
 * Returns a client of the library, patched to survive a reset login, a frozen broker and a partition without a leader. With
 * `onMissing`, a topic that does not exist is one without partitions, and is told; otherwise, requests that name it fail.
 */
export const patchClient = <Client extends Base>(
  client: Client,
  connection: KafkaConnection,
  onMissing?: OnMissing,
): Client => askPastSilent(patchMetadata(patchConnections(client), connection, onMissing), connection)

type OnMissing = (topic: string) => void

/**
 * Corrects two flaws in how a client of the library ends its connections, and returns the client.
 *
 * Errors: its pool listens to the first of a connection only. One that is reset during a login emits two, and an error without a listener
 * ends the process. Requests on the connection fail by themselves.
 *
 * Logins of a closed connection: one that the broker closed keeps the timer of its next login. That login fails, and its error makes the
 * pool drop the newer connection to the same broker, which stays open and logs in as well.
 */
function patchConnections<Client extends Pick<Base, 'connections'>>(client: Client): Client {
  client.connections.on('connecting', ({ connection }) => {
    connection.on('error', () => undefined)
    // `close` only clears the timer of a connection that is closed already.
    connection.on('close', () => connection.close(() => undefined))
  })
  return client
}

/** The part of every client of the library that finds a broker to ask. */
type Asking = Pick<Base, typeof kGetBootstrapConnection | 'closed' | 'connections' | 'currentMetadata'>

/** `host:port` of the silent brokers; the clients of a connection share what they learn. */
const silentBrokers = new WeakMap<KafkaConnection, Set<string>>()

/** How often the clients of a connection were told to begin with another broker. */
const turns = new WeakMap<KafkaConnection, number>()

/**
 * Makes the clients of a connection begin with the next broker of those they know, as one that is cut off from the others knows nothing new.
 * None counts as silent any more: most have only closed a connection that was idle.
 */
export function askNext(connection: KafkaConnection): void {
  turns.set(connection, (turns.get(connection) ?? 0) + 1)
  silentBrokers.get(connection)?.clear()
}

/**
 * Makes a client skip silent brokers, and returns it.
 *
 * By itself it asks the first broker of its list: for the coordinator of a group, so that no member finds another one, for positions and
 * for settings of topics. A frozen broker still accepts connections and is asked again and again. Here, a broker whose connection ended, or
 * could not be made, is skipped until that has happened to all of them.
 */
export function askPastSilent<Client extends Asking>(client: Client, connection: KafkaConnection): Client {
  const listed = connection.brokers.map((broker) => parseBroker(broker))
  const silent = silentBrokers.get(connection) ?? new Set()
  silentBrokers.set(connection, silent)
  const note = ({ broker }: { readonly broker: Broker }): void => {
    // A client that is being closed ends its connections itself.
    if (!client.closed) silent.add(nameOf(broker))
  }
  client.connections.on('disconnect', note)
  client.connections.on('failed', note)

  const connect = client[kGetBootstrapConnection].bind(client)
  client[kGetBootstrapConnection] = (callback, attempt = 0) => {
    // The library's own list, in its order; an attempt is the index in it at which the library begins.
    const known = [...listed, ...(client.currentMetadata?.brokers.values() ?? [])].map(nameOf)
    if (known.every((name) => silent.has(name))) silent.clear()
    const places = [...known.keys()].filter((place) => !silent.has(known[place] ?? ''))
    connect(callback, places[(attempt + (turns.get(connection) ?? 0)) % places.length])
  }
  return client
}

const nameOf = ({ host, port }: Broker): string => `${host}:${port}`

type Response = metadataV12.MetadataResponse
/** The part of every client of the library that finds the version of a request. */
type Requests = Pick<Base, typeof kGetApi>

/** The leader of a partition and its epoch, by topic id and partition. */
export type Leaders = Map<string, { readonly leaderId: number; readonly leaderEpoch: number }>

/** The number that stands for the broker of a partition without a leader. */
export const NO_LEADER = -1

/** The clients of a connection share what they learn. */
const newestLeaders = new WeakMap<KafkaConnection, Leaders>()

/**
 * Corrects two flaws in how a client of the library handles metadata, refuses brokers that lack the versions of our requests, and returns
 * the client.
 *
 * A partition without a leader: by itself, the client treats this as a failure of the whole request and forgets what it knew, so that one
 * such partition stops the reading of all, every append that has to find a leader, and every join of a group. Here, the leader of such a
 * partition is -1, and the others stay as they are.
 *
 * A broker that was frozen and does not know yet that it was deposed: a leader of an earlier epoch than a known one is ignored.
 */
function patchMetadata<Client extends Requests>(
  client: Client,
  connection: KafkaConnection,
  onMissing: OnMissing | undefined,
): Client {
  const leaders = newestLeaders.get(connection) ?? new Map()
  newestLeaders.set(connection, leaders)
  const metadata = createAPI<metadataV12.MetadataRequest, Response>(
    metadataV12.api.key,
    metadataV12.api.version,
    metadataV12.createRequest,
    (...answer) => keepNewest(parseMetadata(...answer, onMissing), leaders),
  )
  const getApi = client[kGetApi].bind(client)
  client[kGetApi] = <Args extends unknown[], Answer>(name: string, callback: Callback<API<Args, Answer>>): void => {
    if (name !== 'Metadata') {
      getApi(name, callback)
      return
    }
    // The library's own choice goes first, because it connects and detects problems of a connection.
    getApi(name, (error) => {
      if (error) {
        callback(error)
        return
      }
      getApi('Fetch', (_, fetch) => {
        if (fetch !== undefined && fetch.version < fetchV15.api.version) callback(new UnsupportedApiError(TOO_OLD))
        else callback(null, metadata as unknown as API<Args, Answer>)
      })
    })
  }
  return client
}

/** The reason for brokers that would close the connection at a request that they do not know, without a word. */
const TOO_OLD = 'The brokers are older than Kafka 3.5, or do not have its version of the protocol.'

/** Replaces leaders of an earlier epoch with the known ones (KIP-320), and remembers the others. */
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

const UNKNOWN_TOPIC_OR_PARTITION = 3

/** Like the library's parser, but only a topic's error counts, not one of its partitions; with `onMissing`, a missing topic is no error. */
export function parseMetadata(
  correlationId: number,
  apiKey: number,
  apiVersion: number,
  reader: Reader,
  onMissing?: OnMissing,
): Response {
  try {
    return metadataV12.parseResponse(correlationId, apiKey, apiVersion, reader)
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error
    const response: Response = error['response']
    const isMissing = (code: number): boolean => onMissing !== undefined && code === UNKNOWN_TOPIC_OR_PARTITION
    if (response.topics.some(({ errorCode }) => errorCode !== 0 && !isMissing(errorCode))) throw error
    for (const { name, errorCode } of response.topics) if (isMissing(errorCode) && name) onMissing?.(name)
    const topics = response.topics.map((topic) => ({
      ...topic,
      partitions: topic.partitions.map((each) => (each.errorCode === 0 ? each : { ...each, leaderId: NO_LEADER })),
    }))
    return { ...response, topics }
  }
}

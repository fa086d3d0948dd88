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

type Response = metadataV12.MetadataResponse
/** The part of every client of the library by which it finds the version of a request. */
type Requests = Pick<Base, typeof kGetApi>

const NO_LEADER = -1

/**
 * Has a client of the library take metadata in which partitions have no leader. By itself it takes that for a failure of the whole request and
 * forgets what it knew, so that one such partition stops the reading of all, every append that has to find a leader, and every join of a
 * group. Here the leader of such a partition is -1, and the others stay as they are. Gives the client back.
 */
export function mendMetadata<Client extends Requests>(client: Client): Client {
  const metadata = createAPI<metadataV12.MetadataRequest, Response>(
    metadataV12.api.key,
    metadataV12.api.version,
    metadataV12.createRequest,
    parseMetadata,
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

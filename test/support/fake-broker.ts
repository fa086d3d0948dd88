import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Broker, Reader, Writer } from '@platformatic/kafka'

export interface BrokerRequest {
  readonly apiKey: number
  /** The part of the request after the client's name. */
  readonly body: Reader
  readonly socket: Socket
}

export interface FakeBroker extends Broker {
  close(): void
}

/** The keys of requests. */
export const PRODUCE = 0
export const FETCH = 1
export const METADATA = 3
export const API_VERSIONS = 18

const LENGTH_BYTES = 4
/** The key and the version of a request, its correlation id and the length of the client's name. */
const HEADER_BYTES = 10

/** A broker of Kafka's protocol whose answers, without the correlation id, are the test's; it leaves a request without one unanswered. */
export async function startFakeBroker(answer: (request: BrokerRequest) => Writer | undefined): Promise<FakeBroker> {
  const sockets = new Set<Socket>()
  const respond = (socket: Socket, request: Buffer): void => {
    const body = Reader.from(request.subarray(HEADER_BYTES + Math.max(0, request.readInt16BE(8))))
    const answered = answer({ apiKey: request.readInt16BE(0), body, socket })
    if (answered === undefined) return
    socket.write(Writer.create().appendInt32(request.readInt32BE(4)).appendFrom(answered).prependLength().buffer)
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    let held = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      held = Buffer.concat([held, data])
      while (held.length >= LENGTH_BYTES && held.length >= LENGTH_BYTES + held.readInt32BE(0)) {
        const end = LENGTH_BYTES + held.readInt32BE(0)
        respond(socket, held.subarray(LENGTH_BYTES, end))
        held = held.subarray(end)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** The answer of an ApiVersions request of version 1, or of a later one. */
export const apiVersions = (keys: readonly (readonly [key: number, maxVersion: number])[], isCompact: boolean) => {
  const writer = Writer.create()
    .appendInt16(0)
    .appendArray(
      [...keys],
      (each, [key, maxVersion]) => {
        each.appendInt16(key).appendInt16(0).appendInt16(maxVersion)
      },
      isCompact,
      isCompact,
    )
    .appendInt32(0)
  return isCompact ? writer.appendTaggedFields() : writer
}

/** A cluster as its brokers describe it. */
export interface Listed {
  /** The nodes that are alive. */
  readonly alive: readonly number[]
  /** The nodes of the replicas, by topic. */
  readonly topics: Readonly<Record<string, readonly number[]>>
  /** The node that leads the partition of each topic, and the epoch in which it does; default: the node 1, in epoch 0. */
  readonly leader?: { readonly node: number; readonly epoch: number }
  /** Of each topic; default: 1. */
  readonly partitions?: number
  /** Of each topic; default: `TOPIC_ID`. */
  readonly topicId?: string
}

/** The usual id of every topic. */
export const TOPIC_ID = '11111111-2222-3333-4444-555555555555'

/** The answer of a Metadata request of version 12; the last of the brokers stands for all further nodes. */
export const metadata = (
  brokers: Broker | readonly Broker[],
  { alive, topics, leader = { node: 1, epoch: 0 }, partitions = 1, topicId = TOPIC_ID }: Listed,
): Writer => {
  const listed = [brokers].flat() as readonly Broker[]
  const nodes = (writer: Writer, ids: readonly number[]): Writer =>
    writer.appendArray([...ids], (each, id) => each.appendInt32(id), true, false)
  return Writer.create()
    .appendTaggedFields()
    .appendInt32(0)
    .appendArray([...alive], (broker, id, index) => {
      const { host, port } = listed[Math.min(index, listed.length - 1)] as Broker
      broker.appendInt32(id).appendString(host).appendInt32(port).appendString(null)
    })
    .appendString('cluster')
    .appendInt32(1)
    .appendArray(Object.entries(topics), (topic, [name, replicas]) =>
      topic
        .appendInt16(0)
        .appendString(name)
        .appendUUID(topicId)
        .appendBoolean(false)
        .appendArray([...Array(partitions).keys()], (partition, index) => {
          partition.appendInt16(0).appendInt32(index).appendInt32(leader.node).appendInt32(leader.epoch)
          nodes(nodes(nodes(partition, replicas), replicas), [])
        })
        .appendInt32(0),
    )
    .appendTaggedFields()
}

/**
 * The answer of a Produce request of version 9 that confirms a batch of the topic `logs`, or refuses it with an error code; the broker reads
 * on after `mutedMs` milliseconds.
 */
export const produced = (mutedMs: number, errorCode = 0): Writer =>
  Writer.create()
    .appendTaggedFields()
    .appendArray(['logs'], (topics, name) =>
      topics.appendString(name).appendArray([0], (found, partition) =>
        found
          .appendInt32(partition)
          .appendInt16(errorCode)
          .appendInt64(0n)
          .appendInt64(0n)
          .appendInt64(0n)
          .appendArray([], () => undefined)
          .appendString(null),
      ),
    )
    .appendInt32(mutedMs)
    .appendTaggedFields()

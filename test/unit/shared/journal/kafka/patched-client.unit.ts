import { EventEmitter, errorMonitor, once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  Admin,
  type Base,
  type Broker,
  kGetBootstrapConnection,
  metadataV12,
  Reader,
  Writer,
} from '@platformatic/kafka'
import { describe, expect, test, vi } from 'vitest'
import { clientOptions, type KafkaConnection } from '../../../../../shared/journal/kafka/connection.ts'
import {
  askNext,
  askPastSilent,
  keepNewest,
  type Leaders,
  parseMetadata,
  patchClient,
} from '../../../../../shared/journal/kafka/patched-client.ts'
import { eventually } from '../../../../support/eventually.ts'
import { apiVersions, type BrokerRequest, startFakeBroker } from '../../../../support/fake-broker.ts'
import { connectionTo } from '../../../../support/kafka.ts'

const API_VERSIONS = 18
const SASL_HANDSHAKE = 17
const SASL_AUTHENTICATE = 36

/** Accepts a login, for a minute. */
function acceptLogin({ apiKey }: BrokerRequest): Writer {
  if (apiKey === API_VERSIONS) return apiVersions([[SASL_AUTHENTICATE, 2]], false)
  const accepted = Writer.create()
  if (apiKey === SASL_HANDSHAKE) {
    return accepted.appendInt16(0).appendArray(['PLAIN'], (each, name) => each.appendString(name, false), false, false)
  }
  const [message, bytes] = [null, Buffer.alloc(0)]
  accepted.appendTaggedFields().appendInt16(0).appendString(message).appendBytes(bytes)
  return accepted.appendInt64(60_000n).appendTaggedFields()
}

/** A client that logs in to a broker; its connections are those of the library. */
async function setUpLogin(answer: (request: BrokerRequest) => Writer | undefined) {
  const broker = await startFakeBroker(answer)
  const connection: KafkaConnection = {
    ...connectionTo([`${broker.host}:${broker.port}`]),
    sasl: { mechanism: 'PLAIN', username: 'me', password: 'secret' },
  }
  const client = patchClient(new Admin(clientOptions(connection, { requestTimeoutMs: 5_000, retries: 0 })), connection)
  return {
    client,
    broker,
    close: async () => {
      await client.close()
      broker.close()
    },
  }
}

describe('the connections of a client', () => {
  test.each([
    ['at its first request', () => false],
    ['at its second request', ({ apiKey }: BrokerRequest) => apiKey === API_VERSIONS],
  ])('a login that the broker resets %s emits two errors, and both have a listener', async (_, isAnswered) => {
    const { client, broker, close } = await setUpLogin((request) => {
      if (isAnswered(request)) return apiVersions([], false)
      request.socket.resetAndDestroy()
      return undefined
    })
    const listeners: number[] = []
    client.connections.on('connecting', ({ connection }) => {
      connection.on(errorMonitor, () => listeners.push(connection.listenerCount('error')))
    })
    await expect(client.connections.get(broker)).rejects.toThrow()
    await eventually(() => listeners.length >= 2)
    expect(listeners).not.toContain(0)
    await close()
  })

  test('one that the broker closes does not log in again', async () => {
    const sockets = new Set<BrokerRequest['socket']>()
    const { client, broker, close } = await setUpLogin((request) => {
      sockets.add(request.socket)
      return acceptLogin(request)
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'clearInterval'] })
    try {
      const connection = await client.connections.get(broker)
      expect(vi.getTimerCount()).toBe(1)
      for (const socket of sockets) socket.end()
      await once(connection, 'close')
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
    await close()
  })
})

type Client = Parameters<typeof askPastSilent>[0]

/** A client that notes at which place of its list it begins; the list is the connection's, then what the metadata knows. */
function setUp(connection = connectionTo(['one:9092', 'two:9092', '[::1]:9094'])) {
  const connections = new EventEmitter()
  const places: (number | undefined)[] = []
  const brokers = new Map<number, Broker>()
  const state = { closed: false }
  const client = askPastSilent(
    {
      connections: connections as unknown as Base['connections'],
      get closed() {
        return state.closed
      },
      get currentMetadata() {
        return { brokers } as Base['currentMetadata']
      },
      [kGetBootstrapConnection]: (_callback, attempt) => void places.push(attempt),
    } satisfies Client,
    connection,
  )
  return {
    connection,
    learn: (node: number, broker: Broker) => brokers.set(node, broker),
    close: () => {
      state.closed = true
    },
    loses: (host: string, port = 9092, event: 'disconnect' | 'failed' = 'disconnect') =>
      connections.emit(event, { broker: { host, port } }),
    /** The place where a request begins. */
    asks: (attempt?: number) => {
      client[kGetBootstrapConnection](() => undefined, attempt)
      return places.at(-1)
    },
  }
}

describe('askPastSilent', () => {
  test('begins with the first broker, and goes through all of them by attempts', () => {
    const { asks } = setUp()
    expect([asks(), asks(0), asks(1), asks(2), asks(3)]).toEqual([0, 0, 1, 2, 0])
  })

  test.each(['disconnect', 'failed'] as const)('passes over a broker after: %s', (event) => {
    const { asks, loses } = setUp()
    loses('one', 9092, event)
    expect([asks(), asks(1), asks(2)]).toEqual([1, 2, 1])
    loses('two', 9092, event)
    expect([asks(), asks(1)]).toEqual([2, 2])
  })

  test('one that stands in the list and in the metadata is passed over in both', () => {
    const { asks, loses, learn } = setUp()
    learn(1, { host: 'one', port: 9092 })
    learn(4, { host: 'four', port: 9092 })
    for (const host of ['one', 'two']) loses(host)
    loses('::1', 9094)
    expect([asks(), asks(1)]).toEqual([4, 4])
  })

  test('begins with the next one when it is told to, also if that has closed a connection, as of one that was idle', () => {
    const { connection, asks, loses } = setUp()
    askNext(connection)
    expect([asks(), asks(1), asks(2)]).toEqual([1, 2, 0])
    loses('::1', 9094)
    expect([asks(), asks(1)]).toEqual([1, 0])
    askNext(connection)
    expect([asks(), asks(1), asks(2)]).toEqual([2, 0, 1])
  })

  test('begins anew when all of them are silent', () => {
    const { asks, loses } = setUp()
    for (const host of ['one', 'two']) loses(host)
    loses('::1', 9094)
    expect([asks(), asks(1)]).toEqual([0, 1])
  })

  test('clients of a connection learn from each other, but not from one that is closed', () => {
    const one = setUp()
    const other = setUp(one.connection)
    one.loses('one')
    expect(other.asks()).toBe(1)
    one.close()
    one.loses('two')
    expect(other.asks()).toBe(1)
  })
})

const TOPIC_ID = '11111111-2222-3333-4444-555555555555'
const LEADER_NOT_AVAILABLE = 5
const UNKNOWN_TOPIC = 3

interface Partition {
  readonly leader: number
  readonly epoch: number
  readonly errorCode?: number
}

/** A broker's answer about one topic. */
function answer(partitions: readonly Partition[], topicError = 0): Reader {
  const nodes = (writer: Writer): Writer => writer.appendArray([1], (w, node) => w.appendInt32(node), true, false)
  const writer = Writer.create()
    .appendInt32(0)
    .appendArray([1, 2], (w, node) => w.appendInt32(node).appendString('host').appendInt32(9092).appendString(null))
    .appendString('cluster')
    .appendInt32(1)
    .appendArray(['logs'], (w, name) =>
      w
        .appendInt16(topicError)
        .appendString(name)
        .appendUUID(TOPIC_ID)
        .appendBoolean(false)
        .appendArray([...partitions.entries()], (each, [index, { leader, epoch, errorCode = 0 }]) => {
          each.appendInt16(errorCode).appendInt32(index).appendInt32(leader).appendInt32(epoch)
          nodes(nodes(nodes(each)))
        })
        .appendInt32(0),
    )
    .appendTaggedFields()
  return Reader.from(writer.buffer)
}
const parse = (reader: Reader) => parseMetadata(1, metadataV12.api.key, metadataV12.api.version, reader)
const leadersOf = (reader: Reader) => parse(reader).topics[0]?.partitions.map(({ leaderId }) => leaderId)

describe('parseMetadata', () => {
  test('gives the leaders of all partitions', () => {
    expect(
      leadersOf(
        answer([
          { leader: 1, epoch: 4 },
          { leader: 2, epoch: 5 },
        ]),
      ),
    ).toEqual([1, 2])
  })

  test('a partition without a leader leaves the others as they are', () => {
    const unled = { leader: 2, epoch: 5, errorCode: LEADER_NOT_AVAILABLE }
    expect(leadersOf(answer([{ leader: 1, epoch: 4 }, unled]))).toEqual([1, -1])
  })

  test('an error of the topic is an error still', () => {
    expect(() => parse(answer([], UNKNOWN_TOPIC))).toThrow('Received response with error')
  })

  test('a topic that does not exist is told and empty where that is wanted, and no other error is', () => {
    const missing: string[] = []
    const parseWithout = (reader: Reader) =>
      parseMetadata(1, metadataV12.api.key, metadataV12.api.version, reader, (topic) => missing.push(topic))
    expect(parseWithout(answer([], UNKNOWN_TOPIC)).topics).toMatchObject([{ partitions: [] }])
    expect(missing).toEqual(['logs'])
    expect(() => parseWithout(answer([], LEADER_NOT_AVAILABLE))).toThrow('Received response with error')
  })

  test('an answer that is cut off is an error still', () => {
    const whole = answer([{ leader: 1, epoch: 4 }]).buffer.slice()
    expect(() => parse(Reader.from(whole.subarray(0, whole.length - 10)))).toThrow()
  })
})

describe('keepNewest', () => {
  const leadersNow = (leaders: Leaders, ...partitions: readonly Partition[]) =>
    keepNewest(parse(answer(partitions)), leaders).topics[0]?.partitions.map(({ leaderId, leaderEpoch }) => [
      leaderId,
      leaderEpoch,
    ])

  test('a leader of a later term is believed, one of an earlier term is not, whatever is said of other partitions', () => {
    const leaders: Leaders = new Map()
    expect(leadersNow(leaders, { leader: 1, epoch: 4 }, { leader: 1, epoch: 9 })).toEqual([
      [1, 4],
      [1, 9],
    ])
    expect(leadersNow(leaders, { leader: 2, epoch: 5 }, { leader: 1, epoch: 9 })).toEqual([
      [2, 5],
      [1, 9],
    ])
    expect(leadersNow(leaders, { leader: 1, epoch: 4 }, { leader: 2, epoch: 10 })).toEqual([
      [2, 5],
      [2, 10],
    ])
    expect(leadersNow(leaders, { leader: 1, epoch: 6 }, { leader: 2, epoch: 10 })).toEqual([
      [1, 6],
      [2, 10],
    ])
  })

  test('a partition that has lost its leader in a later term has none', () => {
    const leaders: Leaders = new Map()
    leadersNow(leaders, { leader: 1, epoch: 4 })
    expect(leadersNow(leaders, { leader: -1, epoch: 5, errorCode: LEADER_NOT_AVAILABLE })).toEqual([[-1, 5]])
    expect(leadersNow(leaders, { leader: 1, epoch: 4 })).toEqual([[-1, 5]])
  })
})

test('the client that is reached into has one exact version', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(dependencies['@platformatic/kafka']).toMatch(/^\d+\.\d+\.\d+$/)
})

import { Connection, type Reader, ResponseError, Writer } from '@platformatic/kafka'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { JournalRecord } from '../../../../../shared/journal/journal.ts'
import type { Cluster } from '../../../../../shared/journal/kafka/cluster.ts'
import { type FetchedPartition, fetch } from '../../../../../shared/journal/kafka/fetch.ts'
import type { FetchedRecords } from '../../../../../shared/journal/kafka/fetched-records.ts'
import { type FetcherOptions, handOver, startFetcher } from '../../../../../shared/journal/kafka/fetcher.ts'
import type { LogPlace } from '../../../../../shared/journal/kafka/offsets.ts'
import { followTopic, type ReadContext, scanTopic } from '../../../../../shared/journal/kafka/read.ts'
import { encodeRecordBatch, LEADER_EPOCH_AT } from '../../../../../shared/journal/kafka/record-batch.ts'
import { type Source, sourceAt } from '../../../../../shared/journal/kafka/source.ts'
import { type Clock, systemClock } from '../../../../../shared/runtime/clock.ts'
import { eventually } from '../../../../support/eventually.ts'
import {
  API_VERSIONS,
  apiVersions,
  type FakeBroker,
  FETCH,
  METADATA,
  metadata,
  startFakeBroker,
  TOPIC_ID,
} from '../../../../support/fake-broker.ts'
import { connectionTo, testLogger } from '../../../../support/kafka.ts'

const TOPIC_AUTHORIZATION_FAILED = 29

const sourceOf = (partition: number): Source => sourceAt({ topic: 'logs', partition, position: 0 })

/** Reads the only partition of a topic, with what the test changes. */
const fetcherOf = (brokers: readonly FakeBroker[], signal: AbortSignal, changed: Partial<FetcherOptions> = {}) =>
  startFetcher({
    connection: connectionTo(brokers.map(({ host, port }) => `${host}:${port}`)),
    clock: systemClock,
    logger: testLogger,
    topics: ['logs'],
    sources: [sourceOf(0)],
    signal,
    requestTimeoutMs: 5_000,
    maxWaitMs: 100,
    maxPartitionBytes: 1_000,
    wants: () => true,
    onRecords: () => undefined,
    onOutOfRange: async () => undefined,
    onReplaced: () => undefined,
    ...changed,
  })

const recordsOf = (...values: readonly string[]): Buffer =>
  encodeRecordBatch(
    values.map((value) => ({ key: null, value, headers: {} })),
    0,
  )

const answerOf = (partition: number, fields: Partial<FetchedPartition>): FetchedPartition => ({
  topicId: 'id-of-logs',
  partition,
  highWatermark: 10,
  records: null,
  commonEnd: null,
  error: null,
  ...fields,
})

const valuesOf = (records: FetchedRecords): readonly string[] =>
  records.take({ records: 100, bytes: 100_000 }).map(({ value }) => String(value))

test('a partition that fails holds up none of the others, and its position stays', () => {
  const sources = [0, 1, 2, 3, 4].map(sourceOf)
  const damaged = recordsOf('b')
  damaged.writeInt32BE(-1, 8) // The length of the batch.
  const brokers = new ResponseError(1, 15, { '': [56, null] }, {}) // KAFKA_STORAGE_ERROR
  const taken: [partition: number, values: readonly string[], end: number][] = []
  const { advanced, failures } = handOver(
    () => 'id-of-logs',
    sources,
    [
      answerOf(0, { error: brokers }),
      answerOf(1, { records: damaged }),
      answerOf(2, { records: recordsOf('c', 'd') }),
      answerOf(3, { records: recordsOf('e') }),
      answerOf(4, {}),
      answerOf(5, { records: recordsOf('of a partition that is not wanted') }),
    ],
    0,
    {
      logger: testLogger,
      onRecords: (source, records, end) => {
        if (source.partition === 3) throw new Error('it is not taken')
        taken.push([source.partition, valuesOf(records), end])
      },
    },
  )
  expect(taken).toEqual([[2, ['c', 'd'], 10]])
  expect(sources.map(({ position }) => position)).toEqual([0, 0, 2, 0, 0])
  expect(sources.map(({ topicId }) => topicId)).toEqual([undefined, ...Array(4).fill('id-of-logs')])
  const damage = 'logs/1 has a batch of records that is shorter than its own head'
  expect(sources.map(({ obstacle }) => obstacle)).toEqual([null, damage, null, 'it is not taken', null])
  expect(advanced).toEqual([sources[2]])
  expect([...failures.keys()]).toEqual([sources[0], sources[1], sources[3]])
  expect(failures.get(sources[0] as Source)).toBe(brokers)
  const refusal = expect.objectContaining({ reason: expect.stringContaining('Disk error') })
  expect(sources.map((source) => source.refusal)).toEqual([refusal, null, null, null, null])
})

test('a broker that does not lead a partition any more says nothing of its records', () => {
  const source = sourceOf(0)
  const moved = new ResponseError(1, 15, { '': [6, null] }, {}) // NOT_LEADER_OR_FOLLOWER
  handOver(() => 'id-of-logs', [source], [answerOf(0, { error: moved })], 0, {
    logger: testLogger,
    onRecords: () => undefined,
  })
  expect(source).toMatchObject({ refusal: null, obstacle: null })
})

test('records that a reader may not have are no passing failure of the broker', () => {
  const source = sourceOf(0)
  const refused = new ResponseError(1, 15, { '': [TOPIC_AUTHORIZATION_FAILED, null] }, {})
  handOver(() => 'id-of-logs', [source], [answerOf(0, { error: refused })], 0, {
    logger: testLogger,
    onRecords: () => undefined,
  })
  expect(source.obstacle).toContain('Topic authorization failed')
})

/** The tagged fields of a partition: the present leader, and where its log leaves that of the reader. */
const appendPartings = (writer: Writer, { position, leaderEpoch }: LogPlace): Writer =>
  writer
    .appendUnsignedVarInt(2)
    .appendUnsignedVarInt(1)
    .appendUnsignedVarInt(9)
    .appendInt32(1)
    .appendInt32(9)
    .appendTaggedFields()
    .appendUnsignedVarInt(0)
    .appendUnsignedVarInt(13)
    .appendInt32(leaderEpoch)
    .appendInt64(BigInt(position))
    .appendTaggedFields()

/** The answer of a Fetch request with the records of partitions of one topic, in their order, their errors, or where their logs part. */
const fetched = (...partitions: readonly (Buffer | number | LogPlace)[]): Writer =>
  Writer.create()
    .appendTaggedFields()
    .appendInt32(0)
    .appendInt16(0)
    .appendInt32(0)
    .appendArray([TOPIC_ID], (topics, id) =>
      topics.appendUUID(id).appendArray(
        [...partitions],
        (found, given, index) => {
          const records = Buffer.isBuffer(given) ? given : Buffer.alloc(0)
          found
            .appendInt32(index)
            .appendInt16(typeof given === 'number' ? given : 0)
            .appendInt64(1n)
            .appendInt64(1n)
            .appendInt64(0n)
            .appendArray(null, () => undefined)
            .appendInt32(-1)
            .appendUnsignedVarInt(records.length + 1)
            .append(records)
          if (typeof given === 'number' || Buffer.isBuffer(given)) found.appendTaggedFields()
          else appendPartings(found, given)
        },
        true,
        false,
      ),
    )
    .appendTaggedFields()

test('the few records of a partition do not keep the many of another that arrived with them in memory', async () => {
  const [few, many] = [recordsOf('few'), recordsOf('many'.repeat(5_000))]
  const broker = await startFakeBroker(() => fetched(few, many))
  const connection = new Connection('test')
  await connection.connect(broker.host, broker.port)
  const { partitions } = await fetch(connection, { maxWaitMs: 0, maxBytes: 100_000, topics: [] })
  broker.close()
  expect(partitions.map(({ records }) => records)).toEqual([few, many])
  expect(partitions[0]?.records?.buffer.byteLength).toBeLessThanOrEqual(2 * few.length)
})

test('a reading goes back to where the log of its leader parts from what was read, and has the others read', async () => {
  const [lost, kept] = [recordsOf('a', 'b', 'lost'), recordsOf('x', 'in its place', 'next')]
  lost.writeInt32BE(4, LEADER_EPOCH_AT)
  const asked: (readonly [position: bigint, lastFetchedEpoch: number])[] = []
  const answers = [fetched(lost), fetched({ position: 1, leaderEpoch: 3 }), fetched(kept)]
  const broker: FakeBroker = await startFakeBroker(({ apiKey, body }) => {
    if (apiKey === API_VERSIONS) return apiVersions([[METADATA, 12]], true)
    if (apiKey === METADATA) return metadata(broker, { alive: [1], topics: { logs: [1] } })
    asked.push(fetchedFrom(body))
    return answers.shift()
  })
  const read: string[] = []
  const stop = new AbortController()
  const all = Promise.withResolvers<void>()
  const errors: string[] = []
  const fetcher = fetcherOf([broker], stop.signal, {
    logger: pino({ level: 'error' }, { write: (line: string) => void errors.push(line) }),
    onRecords: (_, records) => {
      read.push(...valuesOf(records))
      if (read.includes('next')) all.resolve()
    },
  })
  await all.promise
  stop.abort()
  await fetcher.done
  broker.close()
  expect(read).toEqual(['a', 'b', 'lost', 'in its place', 'next'])
  expect(asked.slice(0, 3)).toEqual([
    [0n, -1],
    [3n, 4],
    [1n, 3],
  ])
  expect(errors.map((line) => JSON.parse(line))).toMatchObject([{ topic: 'logs', partition: 0, position: 3, from: 1 }])
})

/** The position, and the epoch of the record before it, of a Fetch request for one partition. */
function fetchedFrom(body: Reader): readonly [position: bigint, lastFetchedEpoch: number] {
  body.readTaggedFields()
  body.skip(4 + 4 + 4 + 1 + 4 + 4)
  return body.readArray((topics) => {
    topics.readUUID()
    return topics.readArray((partitions) => {
      partitions.skip(4 + 4)
      const found = [partitions.readInt64(), partitions.readInt32()] as const
      partitions.skip(8 + 4)
      return found
    })
  })[0]![0]!
}

test('a broker that reads nothing for a while, as a quota is used up, is sent nothing, and counts as one that answers', async () => {
  let fetches = 0
  const broker: FakeBroker = await startFakeBroker(({ apiKey }) => {
    if (apiKey === API_VERSIONS) return apiVersions([[METADATA, 12]], true)
    if (apiKey === METADATA) return metadata(broker, { alive: [1], topics: { logs: [1] } })
    fetches += 1
    return Writer.create()
      .appendTaggedFields()
      .appendInt32(60_000)
      .appendInt16(0)
      .appendInt32(0)
      .appendInt8(1)
      .appendInt8(0)
  })
  const stop = new AbortController()
  const source = sourceOf(0)
  const fetcher = fetcherOf([broker], stop.signal, {
    sources: [source],
    maxWaitMs: 10,
  })
  const answers = new Set<number>()
  await eventually(() => answers.add(source.answeredAt).size > 3)
  stop.abort()
  await fetcher.done
  broker.close()
  expect(fetches).toBe(1)
})

test('a partition that is not read for long is told with the reason, and when it is read again', async () => {
  const told: unknown[] = []
  const broker: FakeBroker = await startFakeBroker(({ apiKey, socket }) => {
    if (apiKey === API_VERSIONS) return apiVersions([[METADATA, 12]], true)
    if (apiKey === METADATA) return metadata(broker, { alive: [1], topics: { logs: [1] } })
    if (told.length > 0) return fetched(recordsOf('late'))
    socket.destroy()
    return undefined
  })
  const stop = new AbortController()
  const fetcher = fetcherOf([broker], stop.signal, {
    logger: pino({ level: 'info' }, { write: (line: string) => void told.push(JSON.parse(line)) }),
    sources: [{ ...sourceOf(0), answeredAt: -60_000 }],
  })
  await eventually(() => told.length > 1)
  stop.abort()
  await fetcher.done
  broker.close()
  expect(told).toMatchObject([
    { topic: 'logs', partition: 0, reason: 'Connection closed', msg: 'a partition is not read' },
    { topic: 'logs', partition: 0, msg: 'the partition is read again' },
  ])
})

test('a reading ends when it is to end, though no broker answers who leads its partitions', async () => {
  const asked = Promise.withResolvers<void>()
  const broker = await startFakeBroker(({ apiKey }) => {
    if (apiKey === API_VERSIONS) return apiVersions([[METADATA, 12]], true)
    asked.resolve()
    return undefined
  })
  const stop = new AbortController()
  const fetcher = fetcherOf([broker], stop.signal, {
    requestTimeoutMs: 60_000,
  })
  await asked.promise
  stop.abort()
  await fetcher.done
  broker.close()
})

test('a leader that is cut off from the others, and says nothing of it, is left when another broker names the next one', async () => {
  const listed = (node: number) =>
    metadata(brokers, { alive: [1, 2], topics: { logs: [1, 2] }, leader: { node, epoch: node } })
  const brokerOf = (node: number, records: Buffer): Promise<FakeBroker> =>
    startFakeBroker(({ apiKey }) => {
      if (apiKey === API_VERSIONS) return apiVersions([[METADATA, 12]], true)
      return apiKey === METADATA ? listed(node) : fetched(records)
    })
  const brokers: readonly FakeBroker[] = [await brokerOf(1, Buffer.alloc(0)), await brokerOf(2, recordsOf('new'))]
  const stop = new AbortController()
  const read = Promise.withResolvers<readonly string[]>()
  const fetcher = fetcherOf(brokers, stop.signal, {
    metadataAgeMs: 100,
    onRecords: (_, records) => read.resolve(valuesOf(records)),
  })
  expect(await read.promise).toEqual(['new'])
  stop.abort()
  await fetcher.done
  for (const broker of brokers) broker.close()
}, 5_000)

/** Reads a topic that ended at 2 at the first look and ends at 1 now; `answer` answers the fetch of this number. */
async function reading<Result>(
  answer: (fetch: number) => Writer | undefined,
  read: (context: ReadContext) => Promise<Result>,
  clock: Clock = systemClock,
): Promise<Result> {
  let fetches = 0
  const broker: FakeBroker = await startFakeBroker(({ apiKey }) => {
    if (apiKey === API_VERSIONS) return apiVersions([[METADATA, 12]], true)
    if (apiKey === METADATA) return metadata(broker, { alive: [1], topics: { logs: [1] } })
    return apiKey === FETCH ? answer(++fetches) : undefined
  })
  const bounds = (end: number) => ({ first: 0, end })
  let looks = 0
  const cluster: Pick<Cluster, 'bounds' | 'boundsOf'> = {
    bounds: async () => [bounds(++looks === 1 ? 2 : 1)],
    boundsOf: async () => new Map([[0, bounds(1)]]),
  }
  const closing = new AbortController()
  try {
    return await read({
      connection: connectionTo([`${broker.host}:${broker.port}`]),
      cluster: cluster as Cluster,
      clock,
      logger: testLogger,
      closing: closing.signal,
      requestTimeoutMs: 100,
      maxWaitMs: 100,
      maxPartitionBytes: 1_000,
    })
  } finally {
    closing.abort()
    broker.close()
  }
}

const READERS: Readonly<Record<string, (context: ReadContext) => Promise<readonly string[]>>> = {
  scan: async (context) => {
    const values: string[] = []
    for await (const { value } of scanTopic(context, 'logs')) values.push(String(value))
    return values
  },
  follower: async (context) => {
    const values: string[] = []
    await followTopic(context, 'logs', (records) => void values.push(...records.map(({ value }) => String(value))))
    return values
  },
}

describe.each(Object.entries(READERS))('a %s', (_name, read) => {
  test('does not wait for records that are lost since it looked at the end', async () => {
    const kept = reading((fetch) => (fetch === 1 ? fetched(recordsOf('kept')) : undefined), read)
    expect(await kept).toEqual(['kept'])
  })

  test('does not wait for records that it may not read', async () => {
    const refused = reading(() => fetched(TOPIC_AUTHORIZATION_FAILED), read)
    await expect(refused).rejects.toThrow(/^logs\/0 cannot be read: .*Topic authorization failed/)
  })
})

describe('a follower', () => {
  const HOUR_MS = 3_600_000

  /** The values that a follower hands over until it is outdated; `answer` answers the fetch of this number, at a time that it may set. */
  async function followedUntilOutdated(
    answer: (fetch: number, time: { hours: number }) => Writer | undefined,
  ): Promise<readonly string[]> {
    const values: string[] = []
    const time = { hours: 0 }
    const follow = async (context: ReadContext): Promise<void> => {
      const onRecords = (records: readonly JournalRecord[]): unknown =>
        values.push(...records.map(({ value }) => String(value)))
      await (await followTopic(context, 'logs', onRecords)).outdated
    }
    await reading((fetch) => answer(fetch, time), follow, { now: () => time.hours * HOUR_MS })
    return values
  }

  test('that gets no answer for half a day hands nothing over any more, as it may have missed deletions', async () => {
    const followed = await followedUntilOutdated((fetch, time) => {
      const none = Buffer.alloc(0)
      const answers = [recordsOf('a', 'b'), none, none, recordsOf('a', 'b', 'c')] as const
      time.hours = [5, 16, 16, 27][fetch - 1] ?? 40
      return fetched(answers[fetch - 1] ?? recordsOf('a', 'b', 'c', 'd'))
    })
    expect(followed).toEqual(['a', 'b', 'c'])
  })
})

import { once } from 'node:events'
import { createRequire } from 'node:module'
import { Admin, Consumer, consumerGroupHeartbeatV1, Producer } from '@platformatic/kafka'
import { Kafka, logLevel } from 'kafkajs'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { DAY_MS } from '../../shared/contract/timestamp.ts'
import {
  AppendError,
  type JournalRecord,
  type NewRecord,
  type PartitionBatch,
  PositionLostError,
} from '../../shared/journal/journal.ts'
import { createKafkaJournal, type KafkaJournal } from '../../shared/journal/kafka/kafka-journal.ts'
import { DurabilityError } from '../../shared/journal/kafka/topic-admin.ts'
import { createRegistryFollower } from '../../shared/registry/follower.ts'
import { encodeRecord } from '../../shared/registry/records.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { createMetrics } from '../../shared/runtime/metrics.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { withOperator } from '../support/full-stack.ts'
import { recordOf, recordsOf, scanAll, valuesOf } from '../support/journal-fixture.ts'
import { connectionTo, openKafka, testLogger, uniqueName } from '../support/kafka.ts'

const eventTopic = (name: string, partitions = 1) =>
  ({ name, role: 'event-logs', partitions, cleanup: 'delete', retentionMs: 3_600_000 }) as const

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: RequestQueue }
const { scheduleCheckPendingRequests } = prototype

/**
 * On each connection, kafkajs 2.2.4 checks for pending requests a thousand times a second even if there are none, with negative timeouts,
 * of which Node 24 warns. Without pending requests no check is needed: a request that has to wait schedules one itself.
 */
prototype.scheduleCheckPendingRequests = function scheduleWhilePending(this: RequestQueue): void {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this)
}

/** kafkajs as a foreign client of the topics, without its timers on idle connections. */
const openKafkaJs = (brokers: readonly string[]): Kafka =>
  new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING })

await describeWithBackends('the Kafka journal on one broker', { kafka: 'shared' }, ({ kafka }) => {
  const using = async <T>(work: (journal: ReturnType<typeof openKafka>) => Promise<T>): Promise<T> => {
    const journal = openKafka(kafka.brokers, { deliveryTimeoutMs: 3_000, requestTimeoutMs: 1_500 })
    try {
      return await work(journal)
    } finally {
      await journal.close()
    }
  }
  const withAdmin = async (work: (admin: Admin) => Promise<unknown>): Promise<void> => {
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafka.brokers] })
    try {
      await work(admin)
    } finally {
      await admin.close()
    }
  }
  const setConfig = (topic: string, name: string, value: string): Promise<void> =>
    withOperator(kafka.brokers, (operator) => operator.setConfig(topic, name, value))
  const failureOf = async (promise: Promise<unknown>): Promise<AppendError> => {
    const error = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(AppendError)
    return error as AppendError
  }

  test('a record that is too large for the broker is certainly not written', () =>
    using(async (journal) => {
      const topic = uniqueName('large')
      await journal.createTopics([eventTopic(topic)])
      // Before the broker leads the new partition it refuses in a way that leaves open whether it wrote.
      await journal.append({ topic, partition: 0, records: recordsOf('a', 1) })
      const error = await failureOf(journal.append({ topic, partition: 0, records: [recordOf('x'.repeat(2_000_000))] }))
      expect(error).toMatchObject({ outcome: 'not_written', isFinal: true, isOfTopic: true, bytesMax: 1_048_588 })
    }))

  test('topics are created although another one is deleted while those of the cluster are counted', () =>
    using(async (journal) => {
      const listTopics = vi.spyOn(Admin.prototype, 'listTopics')
      listTopics.mockResolvedValueOnce([uniqueName('deleted')] as never)
      const topic = uniqueName('beside')
      await journal.createTopics([eventTopic(topic, 2)])
      expect(await journal.partitionCount(topic)).toBe(2)
      listTopics.mockRestore()
    }))

  test('a cluster that cannot be reached is certainly not written to, within the time given', async () => {
    const journal = openKafka(['127.0.0.1:1'], { deliveryTimeoutMs: 2_000, requestTimeoutMs: 500 })
    const error = await failureOf(journal.append({ topic: 't', partition: 0, records: recordsOf('a', 1) }))
    expect(error).toMatchObject({ outcome: 'not_written', isFinal: false })
    expect(await journal.health()).toMatchObject({ ready: false })
    await journal.close()
  })

  test.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const)(
    'records compressed by %s are taken by the brokers and read back',
    async (compression) => {
      const journal = openKafka(kafka.brokers, { compression })
      const topic = uniqueName(compression)
      await journal.createTopics([eventTopic(topic)])
      const records = recordsOf('the order was placed, and paid a moment later', 500)
      await journal.append({ topic, partition: 0, records })
      expect(valuesOf(await scanAll(journal, topic))).toEqual(records.map(({ value }) => value))
      await journal.close()
    },
  )

  test('what foreign producers compress is read: gzip, snappy, lz4, zstd', () =>
    using(async (journal) => {
      const topic = uniqueName('codecs')
      await journal.createTopics([eventTopic(topic)])
      const producer = new Producer<string, string, string, string>({
        clientId: 'foreign',
        bootstrapBrokers: [...kafka.brokers],
        serializers: { value: (text) => Buffer.from(text ?? '') },
      })
      for (const compression of ['gzip', 'snappy', 'lz4', 'zstd'] as const) {
        await producer.send({ messages: [{ topic, partition: 0, value: compression.repeat(50) }], compression })
      }
      await producer.close()
      expect(valuesOf(await scanAll(journal, topic))).toEqual(
        ['gzip', 'snappy', 'lz4', 'zstd'].map((name) => name.repeat(50)),
      )
    }))

  test('kafkajs, as a subscriber of the public topics would use it, reads what was appended', () =>
    using(async (journal) => {
      const topic = uniqueName('subscriber')
      await journal.createTopics([eventTopic(topic)])
      const headers = { ce_id: 'one', ce_type: 'a type' }
      await journal.append({ topic, partition: 0, records: [{ key: 'key', value: '{"a":1}', headers }] })
      const timers = vi.spyOn(globalThis, 'setTimeout')
      const consumer = openKafkaJs(kafka.brokers).consumer({ groupId: uniqueName('group') })
      const seen: unknown[] = []
      await consumer.connect()
      await consumer.subscribe({ topic, fromBeginning: true })
      await consumer.run({
        eachMessage: async ({ message }) => {
          const read = Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)])
          seen.push([String(message.key), String(message.value), Object.fromEntries(read)])
        },
      })
      await eventually(() => seen.length === 1)
      await consumer.disconnect()
      expect(seen).toEqual([['key', '{"a":1}', headers]])
      expect(timers.mock.calls.filter(([, delay = 0]) => delay < 0)).toEqual([])
      timers.mockRestore()
    }))

  test('a group that stands before the first record kept is told so, and does not go on', () =>
    using(async (journal) => {
      const [topic, group] = [uniqueName('lost'), uniqueName('group')]
      await journal.createTopics([eventTopic(topic)])
      await journal.append({ topic, partition: 0, records: recordsOf('a', 10) })
      const options = { group, topics: [topic], recordsMax: 2 }
      const first = await journal.subscribe(options, (batch) => batch.commit(2))
      await eventually(async () => (await journal.positions(topic, group))[0]?.committed === 2)
      await first.close()
      await withAdmin((admin) =>
        admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 0, offset: 5n }] }] }),
      )
      const handled: JournalRecord[] = []
      const second = await journal.subscribe(options, async ({ records }) => void handled.push(...records))
      await expect(second.done).rejects.toThrow(PositionLostError)
      await expect(second.done).rejects.toThrow('stands at 2, but the first record kept is 5')
      expect(handled).toEqual([])
      expect(second.health().ready).toBe(false)
    }))

  test('a reader that retention overtakes handles what it has read, which nobody else has by now, before it ends', () =>
    using(async (journal) => {
      const topic = uniqueName('overtaken')
      await journal.createTopics([eventTopic(topic)])
      // A fetch has the first two appends and a part of the third.
      for (const name of ['a', 'b', 'c', 'd']) {
        const records = [0, 1].map((index) => ({ key: null, value: `${name}${index}`.padEnd(200_000), headers: {} }))
        await journal.append({ topic, partition: 0, records })
      }
      const group = uniqueName('group')
      const removed = Promise.withResolvers<void>()
      const handed: string[] = []
      const subscription = await journal.subscribe({ group, topics: [topic], recordsMax: 1 }, async (batch) => {
        const [value = ''] = valuesOf(batch.records)
        handed.push(value.trim())
        await removed.promise
        if (handed.length === 4) await eventually(() => !subscription.health().ready, 20_000)
        await batch.commit((batch.records[0]?.offset ?? 0) + 1)
      })
      await eventually(() => handed.length === 1, 20_000)
      await withAdmin((admin) =>
        admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 0, offset: 7n }] }] }),
      )
      removed.resolve()
      await expect(subscription.done).rejects.toThrow('stands at 4, but the first record kept is 7')
      expect(handed).toEqual(['a0', 'a1', 'b0', 'b1'])
      expect((await journal.positions(topic, group))[0]?.committed).toBe(4)
    }))

  test('a scan reads on at the first record kept if retention removes records of a partition before it comes there', () =>
    using(async (journal) => {
      const topic = uniqueName('expired')
      await journal.createTopics([eventTopic(topic, 2)])
      for (const partition of [0, 1]) await journal.append({ topic, partition, records: recordsOf('a', 10) })
      const scanned: string[] = []
      for await (const { partition, offset } of journal.scan(topic)) {
        scanned.push(`${partition}/${offset}`)
        if (scanned.length > 1) continue
        await withAdmin((admin) =>
          admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 1, offset: 8n }] }] }),
        )
      }
      expect(scanned.slice(10)).toEqual(['1/8', '1/9'])
    }))

  /** Deletes the topic and makes it anew with these records, while no reader can learn of it. */
  const makeAnew = async (journal: KafkaJournal, topic: string, records: readonly NewRecord[]): Promise<void> => {
    const made = Promise.withResolvers<void>()
    const { metadata } = Consumer.prototype
    const held = vi.spyOn(Consumer.prototype, 'metadata').mockImplementation(async function (this: Consumer, asked) {
      await made.promise
      return metadata.call(this, asked)
    } as typeof metadata)
    await withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
    await eventually(() => journal.createTopics([eventTopic(topic)]))
    await eventually(() => journal.append({ topic, partition: 0, records }))
    held.mockRestore()
    made.resolve()
  }

  test.each(['auto', 'classic'] as const)(
    'a topic that is made anew is read from its first record by a group (%s)',
    async (groupProtocol) => {
      const journal = openKafka(kafka.brokers, { groupProtocol })
      const topic = uniqueName('anew')
      await journal.createTopics([eventTopic(topic)])
      await journal.append({ topic, partition: 0, records: recordsOf('old', 3) })
      const values: (string | undefined)[] = []
      const options = { group: uniqueName('group'), topics: [topic], recordsMax: 10 }
      // A commit that arrives after the topic is gone would be taken for one of the new topic.
      let committed = 0
      const subscription = await journal.subscribe(options, async ({ records, commit, endPosition }) => {
        values.push(...valuesOf(records))
        await commit(endPosition)
        committed += records.length
      })
      await eventually(() => expect(committed).toBe(3))
      const records = recordsOf('new', 5)
      await makeAnew(journal, topic, records)
      await eventually(() => expect(values.slice(3)).toEqual(records.map(({ value }) => value)), 30_000)
      await subscription.close()
      await journal.close()
    },
    60_000,
  )

  test.each([
    ['auto', 'before'],
    ['classic', 'before'],
    ['auto', 'after'],
    ['classic', 'after'],
  ] as const)(
    'a position in a topic that is gone is not taken for one of the topic made anew (%s, committed %s that)',
    async (groupProtocol, when) => {
      const [gone, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const write = (line: string): void => {
        if (line.includes('a commit failed and is repeated')) refused.resolve()
      }
      const logger = pino({ level: 'debug' }, { write })
      const connection = connectionTo(kafka.brokers)
      const journal = createKafkaJournal({ connection, clock: systemClock, logger, options: { groupProtocol } })
      const topic = uniqueName('anew')
      await journal.createTopics([eventTopic(topic)])
      await journal.append({ topic, partition: 0, records: recordsOf('old', 3) })
      const values: (string | undefined)[] = []
      const options = { group: uniqueName('group'), topics: [topic], recordsMax: 10 }
      const subscription = await journal.subscribe(options, async ({ records, commit, endPosition }) => {
        values.push(...valuesOf(records))
        await gone.promise
        // The group may take the partition away before the brokers refuse the commit.
        await commit(endPosition).finally(refused.resolve)
      })
      await eventually(() => expect(values).toHaveLength(3))
      await withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
      await eventually(() => expect(journal.partitionCount(topic)).rejects.toThrow())
      if (when === 'before') {
        gone.resolve()
        await refused.promise
      }
      await eventually(() => journal.createTopics([eventTopic(topic)]))
      const records = recordsOf('new', 5)
      await eventually(() => journal.append({ topic, partition: 0, records }))
      gone.resolve()
      await eventually(() => expect(values.slice(3)).toEqual(records.map(({ value }) => value)), 30_000)
      await subscription.close()
      await journal.close()
    },
    60_000,
  )

  test('a topic that is made anew is followed from its first record', () =>
    using(async (journal) => {
      const topic = uniqueName('anew')
      await journal.createTopics([eventTopic(topic)])
      await journal.append({ topic, partition: 0, records: recordsOf('old', 3) })
      const values: (string | undefined)[] = []
      await journal.follow(topic, (records) => values.push(...valuesOf(records)))
      const records = recordsOf('new', 5)
      await makeAnew(journal, topic, records)
      await eventually(() => expect(values.slice(3)).toEqual(records.map(({ value }) => value)), 30_000)
    }))

  test('a topic that is made anew with fewer partitions has that number, and no other topic is to blame', () =>
    using(async (journal) => {
      const topic = uniqueName('fewer')
      await journal.createTopics([eventTopic(topic, 4)])
      expect(await journal.partitionCount(topic)).toBe(4)
      await journal.append({ topic, partition: 3, records: recordsOf('a', 1) })
      await withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
      // A broker still lists the topic for a moment, and a topic that exists is not made.
      await eventually(async () => {
        await journal.createTopics([eventTopic(topic, 2)])
        expect(await journal.partitionCount(topic)).toBe(2)
      })
      const error = await failureOf(journal.append({ topic, partition: 3, records: recordsOf('b', 1) }))
      expect(error).toMatchObject({ isFinal: true, isOfTopic: true })
      expect(error.message).toContain(`${topic} has no partition 3`)
      await journal.append({ topic, partition: 1, records: recordsOf('c', 1) })
    }))

  test('a Team that is deleted while a process is cut off for long is gone once it can read again', async () => {
    let now = 0
    const clock = { now: () => now }
    const connection = { ...connectionTo(kafka.brokers), clientId: 'cut-off' }
    const [journal, cutOff] = [openKafka(kafka.brokers), createKafkaJournal({ connection, clock, logger: testLogger })]
    const topic = uniqueName('registry')
    await journal.createTopics([{ ...eventTopic(topic), role: 'registry', cleanup: 'compact', retentionMs: null }])
    // Compacted at the next round of the cleaner, every 15 s, with all marks.
    await setConfig(topic, 'delete.retention.ms', '0')
    await setConfig(topic, 'segment.ms', '1')
    await setConfig(topic, 'min.cleanable.dirty.ratio', '0')
    const put = (id: string, value: { readonly name: string } | null): Promise<void> =>
      journal.append({ topic, partition: 0, records: [encodeRecord({ kind: 'team', id, value })] })
    for (const name of ['gone', 'kept']) await put(name, { name })
    const deps = { journal: cutOff, topic, clock, logger: testLogger, metrics: createMetrics() }
    const { registry, ...follower } = createRegistryFollower(deps)
    await follower.start()

    const [isCutOff, restored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { connectToBrokers } = Consumer.prototype
    const held = vi.spyOn(Consumer.prototype, 'connectToBrokers').mockImplementation(async function (
      this: Consumer,
      nodes,
    ) {
      if (this.clientId === connection.clientId) {
        isCutOff.resolve()
        await restored.promise
      }
      return connectToBrokers.call(this, nodes)
    } as typeof connectToBrokers)
    await isCutOff.promise
    await put('gone', null)
    await eventually(async () => {
      await put('kept', { name: 'kept' })
      expect((await scanAll(journal, topic)).map(({ key }) => String(key))).not.toContain('team/gone')
    }, 60_000)
    expect(registry.team('gone')).toBeDefined()
    now = DAY_MS
    held.mockRestore()
    restored.resolve()
    await eventually(() => expect(registry.teams()).toEqual([{ id: 'kept', name: 'kept' }]), 30_000)
    await Promise.all([journal.close(), cutOff.close()])
  }, 120_000)

  test('a group that has read all is not behind, though the marker of a transaction is the last in the log', () =>
    using(async (journal) => {
      const [topic, group] = [uniqueName('marked'), uniqueName('group')]
      await journal.createTopics([eventTopic(topic)])
      const values: (string | undefined)[] = []
      await journal.subscribe({ group, topics: [topic], recordsMax: 10 }, async ({ records, commit }) => {
        values.push(...valuesOf(records))
        if (!values.includes('held')) await commit((records.at(-1)?.offset ?? 0) + 1)
      })
      const kafkaJs = openKafkaJs(kafka.brokers)
      const producer = kafkaJs.producer({ transactionalId: group, maxInFlightRequests: 1, idempotent: true })
      await producer.connect()
      const send = async (value: string): Promise<void> => {
        const transaction = await producer.transaction()
        await transaction.send({ topic, messages: [{ value }] })
        await transaction.commit()
      }
      const position = async () => (await journal.positions(topic, group))[0]
      await send('handled')
      await eventually(async () => expect(await position()).toMatchObject({ committed: 2, endPosition: 2 }))
      await send('held')
      await send('after it')
      await eventually(() => expect(values).toEqual(['handled', 'held', 'after it']))
      await producer.disconnect()
      const other = openKafka(kafka.brokers)
      const again = Promise.withResolvers<(string | undefined)[]>()
      await journal.close()
      await other.subscribe({ group, topics: [topic], recordsMax: 10 }, async ({ records }) =>
        again.resolve([...valuesOf(records)]),
      )
      expect(await again.promise).toEqual(['held', 'after it'])
      await other.close()
    }))

  test.each(['auto', 'classic'] as const)(
    'a topic that is gone does not keep a new member of its group from the others, and is read once it is back (%s)',
    async (groupProtocol) => {
      const journal = openKafka(kafka.brokers, { handlerTimeoutMs: 1_000, groupProtocol })
      const [gone, kept] = [uniqueName('gone'), uniqueName('kept')]
      await journal.createTopics([eventTopic(gone), eventTopic(kept)])
      const values: (string | undefined)[] = []
      const options = { group: uniqueName('group'), topics: [gone, kept], recordsMax: 10 }
      await journal.subscribe(options, async ({ records, signal, commit, endPosition }) => {
        values.push(...valuesOf(records))
        // The first batch hangs, so that the member is made anew.
        if (values.length === 1) await once(signal, 'abort')
        await commit(endPosition)
      })
      await withAdmin((admin) => admin.deleteTopics({ topics: [gone] }))
      await journal.append({ topic: kept, partition: 0, records: recordsOf('a', 1) })
      await eventually(() => expect(values).toEqual(['a0', 'a0']), 30_000)
      await eventually(() => journal.createTopics([eventTopic(gone)]))
      await eventually(() => journal.append({ topic: gone, partition: 0, records: recordsOf('b', 1) }))
      await eventually(() => expect(values).toEqual(['a0', 'a0', 'b0']), 60_000)
      await journal.close()
    },
    120_000,
  )

  test('a batch stays bounded in bytes, however well its records were compressed', () =>
    using(async (journal) => {
      const [topic, group] = [uniqueName('large'), uniqueName('group')]
      await journal.createTopics([eventTopic(topic)])
      const record = { key: null, value: 'x'.repeat(900_000), headers: {} }
      for (let count = 0; count < 12; count++) await journal.append({ topic, partition: 0, records: [record] })
      const sizes: number[] = []
      await journal.subscribe({ group, topics: [topic], recordsMax: 100 }, async ({ records }) => {
        sizes.push(records.length)
      })
      await eventually(() => sizes.reduce((sum, size) => sum + size, 0) === 12)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(5)
    }))

  test('a handler that hangs loses its partitions to another member, and its late commit does nothing', async () => {
    const [topic, group] = [uniqueName('stuck'), uniqueName('group')]
    const journal = openKafka(kafka.brokers, { handlerTimeoutMs: 1_000 })
    const other = openKafka(kafka.brokers)
    await journal.createTopics([eventTopic(topic)])
    await journal.append({ topic, partition: 0, records: recordsOf('a', 3) })
    const hung = Promise.withResolvers<void>()
    const late = Promise.withResolvers<void>()
    let takes = 0
    await journal.subscribe({ group, topics: [topic], recordsMax: 10 }, async (batch) => {
      takes++
      await hung.promise
      await batch.commit(1)
      late.resolve()
    })
    await eventually(() => takes === 1)
    const seen: JournalRecord[] = []
    await other.subscribe({ group, topics: [topic], recordsMax: 10 }, async (batch) => {
      await batch.commit(3)
      seen.push(...batch.records)
    })
    await eventually(() => seen.length === 3, 25_000)
    hung.resolve()
    await late.promise
    expect((await journal.positions(topic, group))[0]?.committed).toBe(3)
    await Promise.all([journal.close(), other.close()])
  }, 60_000)

  test('a member that its group has put out drops all, and comes again with nothing lost or handled by two', async () => {
    const [topic, group] = [uniqueName('fenced'), uniqueName('group')]
    const lines: Record<string, unknown>[] = []
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
    const idOf = (member: number): unknown =>
      lines.filter(({ msg }) => msg === 'joined the group')[member]?.['memberId']
    const journal = createKafkaJournal({ connection: connectionTo(kafka.brokers), clock: systemClock, logger })
    await journal.createTopics([eventTopic(topic)])
    await journal.append({ topic, partition: 0, records: recordsOf('a', 1) })
    const batches: PartitionBatch[] = []
    const ended = Promise.withResolvers<void>()
    const told: unknown[] = []
    const onAssigned = (...change: unknown[]): unknown => told.push(change)
    await journal.subscribe({ group, topics: [topic], recordsMax: 1, onAssigned }, async (batch) => {
      batches.push(batch)
      if (batches.length === 1) await ended.promise
      await batch.commit(batch.records.length)
    })
    await eventually(() => batches.length === 1)
    await withAdmin(async (admin) => {
      const [broker] = (await admin.connectToBrokers()).values()
      const leave = [group, String(idOf(0)), -1, null, null, -1, null, null, null, null] as const
      await consumerGroupHeartbeatV1.api.async(broker!, ...leave)
    })
    await eventually(() => batches[0]?.signal.aborted === true)
    expect(idOf(1)).toBeUndefined()
    ended.resolve()
    await eventually(() => batches.length === 2)
    expect(valuesOf(batches[1]?.records ?? [])).toEqual(['a0'])
    await eventually(async () => (await journal.positions(topic, group))[0]?.committed === 1)
    expect(told).toEqual([
      [0, 'assigned'],
      [1, 'assigned'],
      [0, 'member'],
      [0, 'assigned'],
      [1, 'assigned'],
    ])
    await journal.close()
  }, 60_000)

  test('a record has the time of its broker, by which retention goes, whatever the clock of its sender says', async () => {
    const deps = { connection: connectionTo(kafka.brokers), logger: testLogger }
    const journal = createKafkaJournal({ ...deps, clock: { now: () => 0 } })
    const topic = uniqueName('late')
    await journal.createTopics([eventTopic(topic)])
    const before = systemClock.now()
    await journal.append({ topic, partition: 0, records: recordsOf('a', 1) })
    const [record] = await scanAll(journal, topic)
    // The clock of a container may differ a little.
    expect(record?.appendedAt).toBeGreaterThan(before - 60_000)
    await journal.close()
  })

  test('topics are made with the settings of their kind, and differences are told as sentences', () =>
    using(async (journal) => {
      const logs = eventTopic(uniqueName('logs'), 2)
      const registry = { name: uniqueName('registry'), role: 'registry', partitions: 1, cleanup: 'compact' } as const
      const bounded = { ...eventTopic(uniqueName('bounded')), retentionBytes: 64 * 1024 * 1024 }
      const topics = [logs, { ...registry, retentionMs: null }, bounded]
      const applied = async () =>
        (await journal.applyTopics(topics)).map(({ created, differences }) => ({ created, differences }))
      expect(await applied()).toEqual(topics.map(() => ({ created: true, differences: [] })))
      expect(await applied()).toEqual(topics.map(() => ({ created: false, differences: [] })))
      await journal.checkDurability(topics)

      const [report] = await journal.applyTopics([{ ...logs, partitions: 3, retentionMs: 1_000 }])
      expect(report?.differences).toEqual([
        `${logs.name} has 2 partition(s), not 3`,
        `${logs.name} has retention.ms=3600000, not 1000`,
      ])
      await setConfig(logs.name, 'message.timestamp.type', 'CreateTime')
      await eventually(async () =>
        expect((await journal.applyTopics([logs]))[0]?.differences).toEqual([
          `${logs.name} has message.timestamp.type=CreateTime, not LogAppendTime`,
        ]),
      )
      const [small] = await journal.applyTopics([{ ...bounded, retentionBytes: 1_000 }])
      expect(small?.differences).toEqual([`${bounded.name} has retention.bytes=67108864, not 1000`])
      await setConfig(logs.name, 'cleanup.policy', 'compact')
      const reason = `${logs.name} has cleanup.policy=compact, which removes records that share a key: set it to delete`
      await eventually(async () => expect(await journal.health()).toEqual({ name: 'journal', ready: false, reason }))
      await setConfig(logs.name, 'cleanup.policy', 'delete')
      await eventually(async () => expect(await journal.health()).toEqual({ name: 'journal', ready: true }))
      await setConfig(logs.name, 'unclean.leader.election.enable', 'true')
      await setConfig(registry.name, 'cleanup.policy', 'delete')
      const dangers = [
        `${logs.name} lets a broker lead that lacks confirmed records (unclean.leader.election.enable)`,
        `${registry.name} has cleanup.policy=delete, not compact`,
      ]
      await eventually(async () =>
        expect(await journal.health()).toEqual({ name: 'journal', ready: true, reason: dangers.join('; ') }),
      )
      await eventually(async () => {
        const error = await journal.checkDurability(topics).catch((thrown: unknown) => thrown)
        expect(error).toBeInstanceOf(DurabilityError)
        expect((error as DurabilityError).dangers).toEqual(dangers)
      })
    }))
})

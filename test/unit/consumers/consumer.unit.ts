import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { type Consumer, endOfAll } from '../../../consumers/consumer.ts'
import {
  AppendError,
  type Journal,
  type PartitionPosition,
  type SubscribeOptions,
  type Subscription,
  TopicMissingError,
} from '../../../shared/journal/journal.ts'
import { StoreHaltError } from '../../../shared/log-store/log-store.ts'
import {
  APPLICATION_TOPIC,
  applicationLog,
  DEAD_LETTER_TOPIC,
  EVENT_TOPIC,
  entryTopics,
  eventLog,
  idOf,
  published,
} from '../../support/consumers-records.ts'
import { createConsumersRig, soon } from '../../support/consumers-rig.ts'
import { createMemoryStoreWriter } from '../../support/consumers-store.ts'
import { eventually } from '../../support/eventually.ts'
import { createMemoryJournal } from '../../support/memory-journal.ts'

const running: Consumer[] = []

async function started(consumer: Consumer): Promise<Consumer> {
  running.push(consumer)
  await consumer.start()
  return consumer
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((consumer) => consumer.stop(soon())))
})

/** The journal, with what was subscribed to. */
function watched(journal: Journal): { journal: Journal; subscriptions: readonly Subscription[] } {
  const subscriptions: Subscription[] = []
  const subscribe: Journal['subscribe'] = async (...args) => {
    const subscription = await journal.subscribe(...args)
    subscriptions.push(subscription)
    return subscription
  }
  return { journal: { ...journal, subscribe }, subscriptions }
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

describe('a consumer', () => {
  test('stores what its topic holds and what arrives later, and commits it', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1), eventLog(2)])
    const consumer = await started(rig.consumer('event-logs'))
    await rig.publish([eventLog(3)], 1)
    await rig.caughtUp('event-logs')
    expect([...rig.store.documents.keys()].toSorted()).toEqual([idOf(1), idOf(2), idOf(3)])
    expect(rig.store.documents.get(idOf(1))?.source).toBe(JSON.stringify(eventLog(1)))
    expect(await rig.committed('event-logs', EVENT_TOPIC)).toBe(2)
    expect(consumer.health()).toEqual({ name: 'event-logs consumer', ready: true })
  })

  test('of each projection reads its own topics', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1), applicationLog(2), eventLog(3, { correlationKey: null })])
    await started(rig.consumer('application-logs'))
    await started(rig.consumer('flows'))
    await Promise.all([rig.caughtUp('application-logs'), rig.caughtUp('flows')])
    expect([...rig.store.documents.keys()]).toEqual([idOf(2)])
    expect(rig.store.flows()).toMatchObject([{ correlationKey: 'order-1', worstLevel: 'Warning' }])
    expect(await rig.metric('sluice_consumer_records_total', { view: 'flows', outcome: 'skipped' })).toBe(1)
    expect(rig.deadLetters()).toEqual([])
  })

  test('writes no more documents or bytes at once than its options say', async () => {
    const rig = createConsumersRig()
    await rig.publish(numbers(10).map((number) => eventLog(number)))
    await started(rig.consumer('event-logs', { writeDocumentsMax: 4 }))
    await rig.caughtUp('event-logs')
    expect(rig.store.writes).toEqual([4, 4, 2])

    const small = createConsumersRig()
    await small.publish(numbers(3).map((number) => eventLog(number)))
    await started(small.consumer('event-logs', { writeBytesMax: 1 }))
    await small.caughtUp('event-logs')
    expect(small.store.writes).toEqual([1, 1, 1])
  })

  test('that folds records writes many at once, if the store shows them late anyway', async () => {
    for (const [searchableWithinMs, merges] of [
      [0, 3],
      [2_000, 1],
    ] as const) {
      const rig = createConsumersRig({ searchableWithinMs })
      let counted = 0
      rig.store.beforeWrite = () => void counted++
      await rig.append(
        EVENT_TOPIC,
        numbers(2_500).map((number) => published(eventLog(number))),
      )
      const consumer = await started(rig.consumer('flows'))
      await rig.caughtUp('flows')
      expect([searchableWithinMs, counted]).toEqual([searchableWithinMs, merges])
      await consumer.stop(soon())
    }
  })

  test('that gathers records loses and holds none where it stops or shares its partitions meanwhile', async () => {
    const rig = createConsumersRig({ partitions: 2 })
    const day = { gatherMs: 86_400_000 }
    await rig.publish([eventLog(1)])
    await rig.publish([eventLog(2, { correlationKey: 'order-2' })], 1)
    const one = await started(rig.consumer('flows', day))
    await rig.caughtUp('flows')
    await rig.publish([eventLog(3, { correlationKey: 'order-3' })])
    await rig.publish([eventLog(4, { correlationKey: 'order-4' })], 1)
    // The other takes one partition over, and then both.
    const other = await started(rig.consumer('flows', day))
    const keys = (): readonly string[] => rig.store.flows().map(({ correlationKey }) => correlationKey)
    await eventually(() => keys().includes('order-4'))
    await one.stop(soon())
    await rig.caughtUp('flows')
    expect(keys().toSorted()).toEqual(['order-1', 'order-2', 'order-3', 'order-4'])
    await other.stop(soon())
  })

  test('shows an entry once that stands on the topic twice', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1), eventLog(1), eventLog(2)])
    await rig.publish([eventLog(1)], 1)
    await started(rig.consumer('event-logs'))
    await rig.caughtUp('event-logs')
    expect(rig.store.documents.size).toBe(2)
    expect(await rig.metric('sluice_consumer_records_total', { outcome: 'duplicate' })).toBe(2)
  })

  test('shares its topic with the others of its group', async () => {
    const rig = createConsumersRig({ partitions: 4 })
    const consumers = [rig.consumer('event-logs'), rig.consumer('event-logs'), rig.consumer('event-logs')]
    for (const consumer of consumers) await started(consumer)
    for (const partition of numbers(4)) await rig.publish([eventLog(partition)], partition)
    await rig.caughtUp('event-logs')
    await consumers[0]?.stop(soon())
    for (const partition of numbers(4)) await rig.publish([eventLog(10 + partition)], partition)
    await rig.caughtUp('event-logs')
    expect(rig.store.documents.size).toBe(8)
  })

  test('does not start where a topic is missing, the dead letters included', async () => {
    const rig = createConsumersRig()
    for (const missing of [EVENT_TOPIC, DEAD_LETTER_TOPIC]) {
      const topics = entryTopics().filter(({ name }) => name !== missing)
      const consumer = rig.consumer('event-logs', {}, createMemoryJournal({ topics }))
      await expect(consumer.start()).rejects.toThrow(TopicMissingError)
      await expect(consumer.done).rejects.toThrow(TopicMissingError)
      expect(consumer.health()).toMatchObject({ ready: false, reason: expect.stringContaining(missing) })
      await consumer.stop(soon())
    }
  })
})

describe('a consumer halts, committing nothing,', () => {
  async function expectHalt(rig: ReturnType<typeof createConsumersRig>, consumer: Consumer, message: string) {
    await expect(consumer.done).rejects.toThrow(message)
    expect(consumer.health()).toMatchObject({ ready: false, reason: expect.stringContaining(message) })
    expect(await rig.metric('sluice_consumer_halted', { view: 'event-logs' })).toBe(1)
    await rig.publish([eventLog(99)], 1)
    await consumer.stop(soon())
    expect(rig.store.documents.has(idOf(99))).toBe(false)
  }

  test('when the store halts', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1)])
    rig.store.beforeWrite = () => {
      throw new StoreHaltError('the key was revoked')
    }
    const consumer = await started(rig.consumer('event-logs'))
    await expectHalt(rig, consumer, 'the key was revoked')
    expect(await rig.committed('event-logs', EVENT_TOPIC)).toBeNull()
    expect(rig.deadLetters()).toEqual([])
  })

  test('when a write fails for no known reason', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1)])
    rig.store.beforeWrite = () => {
      throw new TypeError('x is not a function')
    }
    await expectHalt(rig, await started(rig.consumer('event-logs')), 'x is not a function')
    expect(await rig.committed('event-logs', EVENT_TOPIC)).toBeNull()
  })

  test('when the store does not say what became of each document', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1), eventLog(2)])
    const write = rig.store.write
    rig.store.write = async (documents, signal) => (await write(documents, signal)).slice(1)
    await expectHalt(rig, await started(rig.consumer('event-logs')), '1 outcomes for 2 documents')
    expect(await rig.committed('event-logs', EVENT_TOPIC)).toBeNull()
  })

  test('when retention removed what it had not read', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1)])
    const first = await started(rig.consumer('event-logs'))
    await rig.caughtUp('event-logs')
    await first.stop(soon())
    await rig.publish([eventLog(2), eventLog(3)])
    rig.journal.removeBefore(EVENT_TOPIC, 0, 2)
    const second = rig.consumer('event-logs')
    running.push(second)
    await second.start().catch(() => undefined)
    await expectHalt(rig, second, 'the group stands at 1')
    expect(rig.store.documents.has(idOf(3))).toBe(false)
  })

  test('when the journal ends its subscription, though nobody stopped it', async () => {
    const rig = createConsumersRig()
    const { journal, subscriptions } = watched(rig.journal)
    const consumer = await started(rig.consumer('event-logs', {}, journal))
    await subscriptions[0]?.close()
    await expectHalt(rig, consumer, 'the journal ended the subscription')
  })

  test('when the journal will take no dead letter, and what came before stays committed', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1)])
    await rig.append(EVENT_TOPIC, [{ key: null, value: 'poison', headers: {} }])
    await rig.publish([eventLog(2)])
    const consumer = rig.consumer('event-logs', { writeDocumentsMax: 1 })
    rig.journal.failAppends('not_written', 1, DEAD_LETTER_TOPIC, true)
    await started(consumer)
    await expect(consumer.done).rejects.toThrow('made to fail')
    expect(await rig.committed('event-logs', EVENT_TOPIC)).toBe(1)
    expect(rig.deadLetters()).toEqual([])

    await started(rig.consumer('event-logs'))
    await rig.caughtUp('event-logs')
    expect(rig.deadLetters()).toHaveLength(1)
    expect(rig.store.documents.size).toBe(2)
  })

  test('but not for a dead letter that is too large: its partition waits, and says what to change', async () => {
    const rig = createConsumersRig()
    let bytesMax: number | null = 10
    const journal: Journal = {
      ...rig.journal,
      append: async (batch) => {
        if (batch.topic !== DEAD_LETTER_TOPIC || bytesMax === null) return rig.journal.append(batch)
        throw new AppendError('too large', 'not_written', { isFinal: true, isOfTopic: true, bytesMax })
      },
    }
    await rig.append(EVENT_TOPIC, [{ key: null, value: 'poison', headers: {} }])
    const consumer = rig.consumer('event-logs', {}, journal)
    await started(consumer)
    const reason = expect.stringMatching(/event-logs.v1\/0 waits: .* max.message.bytes, which is 10, to \d+ or more/)
    await eventually(() => expect(consumer.health()).toMatchObject({ ready: false, reason }))
    expect(await rig.metric('sluice_consumer_halted')).toBe(1)
    await rig.publish([eventLog(1)], 1)
    await eventually(() => expect(rig.store.documents.size).toBe(1))
    bytesMax = null
    await rig.caughtUp('event-logs')
    expect(rig.deadLetters()).toHaveLength(1)
    await eventually(async () => expect(await rig.metric('sluice_consumer_halted')).toBe(0))
    expect(consumer.health()).toMatchObject({ ready: true })
  })

  test('when too many records in a row are bad, before it writes their dead letters', async () => {
    const rig = createConsumersRig()
    const bad = { key: null, value: 'poison', headers: {} }
    await rig.append(
      EVENT_TOPIC,
      Array.from({ length: 6 }, () => bad),
    )
    const consumer = await started(rig.consumer('event-logs', { deadLetterRunMax: 5 }))
    await expectHalt(
      rig,
      consumer,
      `${EVENT_TOPIC}/0: more than 5 dead letters in a row (6 invalid_json; the first, at offset 0: the value is not JSON)`,
    )
    expect(rig.deadLetters()).toEqual([])
    expect(await rig.committed('event-logs', EVENT_TOPIC)).toBeNull()
  })

  test('when the share of bad records is too great', async () => {
    const rig = createConsumersRig()
    const bad = { key: null, value: 'poison', headers: {} }
    const records = numbers(20).flatMap((number) => [bad, published(eventLog(number))])
    await rig.append(EVENT_TOPIC, records)
    const consumer = await started(rig.consumer('event-logs', { deadLetterRatioMax: 0.4, deadLetterWindowRecords: 10 }))
    await expectHalt(rig, consumer, '5 dead letters among 10 records')
  })

  test('but not for bad records that a replay put back', async () => {
    const rig = createConsumersRig()
    const replayed = { key: null, value: 'poison', headers: { 'x-dlq-attempt': '1' } }
    await rig.append(
      EVENT_TOPIC,
      Array.from({ length: 20 }, () => replayed),
    )
    await started(rig.consumer('event-logs', { deadLetterRunMax: 5 }))
    await rig.caughtUp('event-logs')
    expect(rig.deadLetters()).toHaveLength(20)
  })

  test.each([1, 100])('nor do good ones that a replay put back hide a flood, with %i to a write', async (most) => {
    const rig = createConsumersRig()
    const bad = { key: null, value: 'poison', headers: {} }
    const mended = numbers(6).map((number) => {
      const record = published(eventLog(number))
      return { ...record, headers: { ...record.headers, 'x-dlq-attempt': '1' } }
    })
    await rig.append(
      EVENT_TOPIC,
      mended.flatMap((record) => [bad, record]),
    )
    const options = { deadLetterRunMax: 5, writeDocumentsMax: most }
    const consumer = await started(rig.consumer('event-logs', options))
    await expectHalt(rig, consumer, 'more than 5 dead letters in a row')
  })
})

describe('stopping a consumer', () => {
  test('is safe without a start and twice, and ends `done`', async () => {
    const { journal, consumer: create } = createConsumersRig()
    let joined = 0
    const counting: Journal = {
      ...journal,
      subscribe: (options, handler) => {
        joined += 1
        return journal.subscribe(options, handler)
      },
    }
    const consumer = create('event-logs', {}, counting)
    await Promise.all([consumer.stop(soon()), consumer.stop(soon())])
    await consumer.done
    await consumer.start()
    expect(joined).toBe(0)
    expect(consumer.health()).toEqual({ name: 'event-logs consumer', ready: false, reason: 'stopped' })
  })

  test('while it starts leaves nothing running', async () => {
    const rig = createConsumersRig()
    const { journal, subscriptions } = watched(rig.journal)
    const consumer = rig.consumer('event-logs', {}, journal)
    const starting = consumer.start()
    await consumer.stop(soon())
    await starting
    await consumer.done
    let hasEnded = false
    void subscriptions[0]?.done.then(() => {
      hasEnded = true
    })
    await rig.publish([eventLog(1)])
    const sentinel = await started(rig.consumer('event-logs'))
    await rig.caughtUp('event-logs')
    expect(await rig.metric('sluice_consumer_records_total', { outcome: 'stored' })).toBe(1)
    expect(sentinel.health().ready).toBe(true)
    expect(hasEnded).toBe(true)
  })

  test('aborts a write that does not end and commits nothing for it', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1)])
    const writing = Promise.withResolvers<void>()
    let isWriting = true
    rig.store.beforeWrite = async (signal) => {
      writing.resolve()
      await once(signal, 'abort')
      await new Promise(setImmediate)
      isWriting = false
      throw signal.reason
    }
    const consumer = await started(rig.consumer('event-logs'))
    await writing.promise
    await consumer.stop(soon())
    expect(isWriting).toBe(false)
    await consumer.done
    expect(await rig.committed('event-logs', EVENT_TOPIC)).toBeNull()
    expect(await rig.metric('sluice_consumer_halted')).toBe(0)
  })

  test('gives up at the deadline on a write that heeds no signal', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1)])
    const writing = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    rig.store.beforeWrite = () => {
      writing.resolve()
      return release.promise
    }
    const consumer = await started(rig.consumer('event-logs'))
    await writing.promise
    await consumer.stop(0)
    await consumer.done
    expect(await rig.committed('event-logs', EVENT_TOPIC)).toBeNull()
    release.resolve()
  })
})

describe('the end of several consumers', () => {
  test('is a halt once all have halted, with the first error', async () => {
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    let ended = false
    const end = endOfAll(ends.map(({ promise }) => ({ done: promise }))).finally(() => (ended = true))
    ends[0].reject(new Error('the first'))
    await new Promise(setImmediate)
    expect(ended).toBe(false)
    ends[1].reject(new Error('the second'))
    await expect(end).rejects.toThrow('the first')
  })

  test('is none where one of them was stopped', async () => {
    const halted = Promise.reject(new Error('halted'))
    await expect(endOfAll([{ done: halted }, { done: Promise.resolve() }])).resolves.toBeUndefined()
  })
})

describe('the part of a group that a consumer has', () => {
  const view = { view: 'event-logs' }

  test('is measured: its partitions, what took them, and how long it had none', async () => {
    let now = 1_000_000
    const rig = createConsumersRig({ clock: { now: () => now } })
    let tell: SubscribeOptions['onAssigned']
    const journal: Journal = {
      ...rig.journal,
      subscribe: (options, handler) => {
        tell = options.onAssigned
        return rig.journal.subscribe({ ...options, onAssigned: () => undefined }, handler)
      },
    }
    await started(rig.consumer('event-logs', {}, journal))
    tell?.(2, 'assigned')
    expect(await rig.metric('sluice_consumer_assigned_partitions', view)).toBe(2)
    tell?.(0, 'group')
    now += 3_000
    tell?.(0, 'member')
    now += 4_000
    tell?.(1, 'assigned')
    expect(await rig.metric('sluice_consumer_assigned_partitions', view)).toBe(1)
    expect(await rig.metric('sluice_consumer_rebalances_total', { ...view, reason: 'group' })).toBe(1)
    expect(await rig.metric('sluice_consumer_rebalances_total', { ...view, reason: 'member' })).toBe(1)
    expect(await rig.metric('sluice_consumer_paused_seconds_total', view)).toBe(7)
  })

  test('comes from its journal, and so does the time of its last commit', async () => {
    const rig = createConsumersRig({ clock: { now: () => 5_000 }, partitions: 4 })
    await rig.publish([eventLog(1)])
    await started(rig.consumer('event-logs'))
    await rig.caughtUp('event-logs')
    expect(await rig.metric('sluice_consumer_assigned_partitions', view)).toBe(4)
    await eventually(async () =>
      expect(await rig.metric('sluice_consumer_last_commit_timestamp_seconds', view)).toBe(5),
    )
  })
})

describe('how far a projection is behind', () => {
  test('is measured for every partition and ends at 0', async () => {
    const rig = createConsumersRig()
    await rig.publish(numbers(5).map((number) => eventLog(number)))
    const blocked = Promise.withResolvers<void>()
    rig.store.beforeWrite = () => blocked.promise
    await started(rig.consumer('event-logs', { lagIntervalMs: 5 }))
    const labels = { view: 'event-logs', topic: EVENT_TOPIC, partition: '0' }
    await eventually(async () => expect(await rig.metric('sluice_consumer_lag_records', labels)).toBe(5))
    await eventually(async () => expect(await rig.metric('sluice_consumer_lag_seconds')).toBeGreaterThan(0))
    blocked.resolve()
    await eventually(async () => expect(await rig.metric('sluice_consumer_lag_records', labels)).toBe(0))
    await eventually(async () => expect(await rig.metric('sluice_consumer_lag_seconds')).toBe(0))
  })

  test('in seconds grows also while the journal does not answer', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1)])
    const blocked = Promise.withResolvers<void>()
    rig.store.beforeWrite = () => blocked.promise
    const journal: Journal = { ...rig.journal, positions: () => Promise.reject(new Error('no answer')) }
    await started(rig.consumer('event-logs', { lagIntervalMs: 5 }, journal))
    await eventually(async () => expect(await rig.metric('sluice_consumer_lag_seconds')).toBeGreaterThan(0))
    blocked.resolve()
  })

  test('goes on being measured after a halt and where the journal fails once', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1)])
    rig.store.beforeWrite = () => {
      throw new StoreHaltError('full')
    }
    const { positions } = rig.journal
    let failures = 1
    const journal = {
      ...rig.journal,
      positions: (topic: string, group: string) =>
        failures-- > 0 ? Promise.reject(new Error('no answer')) : positions(topic, group),
    }
    const consumer = await started(rig.consumer('event-logs', { lagIntervalMs: 5 }, journal))
    await expect(consumer.done).rejects.toThrow('full')
    await rig.publish([eventLog(2)])
    await eventually(async () => expect(await rig.metric('sluice_consumer_lag_records')).toBe(2))
    expect(await rig.metric('sluice_consumer_lag_seconds')).toBeGreaterThan(0)
  })

  test('is measured without a topic that was deleted, which the consumer is not ready without', async () => {
    const rig = createConsumersRig()
    await rig.publish([eventLog(1), applicationLog(1)])
    const { positions } = rig.journal
    let deleted: string | null = null
    const journal: Journal = {
      ...rig.journal,
      positions: (topic, group) =>
        topic === deleted ? Promise.reject(new TopicMissingError(topic)) : positions(topic, group),
    }
    const consumer = await started(rig.consumer('flows', { lagIntervalMs: 5 }, journal))
    await rig.caughtUp('flows')
    for (const [gone, other] of [
      [EVENT_TOPIC, APPLICATION_TOPIC],
      [APPLICATION_TOPIC, EVENT_TOPIC],
    ] as const) {
      deleted = gone
      await eventually(() => {
        const { ready, reason } = consumer.health()
        expect({ ready, reason }).toEqual({ ready: false, reason: expect.stringContaining(`${gone} does not exist`) })
      })
      const labels = { view: 'flows', topic: other, partition: '0' }
      rig.metrics.gauge('sluice_consumer_lag_records').set(labels, 5)
      await eventually(async () => expect(await rig.metric('sluice_consumer_lag_records', labels)).toBe(0))
    }
    deleted = null
    await eventually(() => expect(consumer.health()).toMatchObject({ ready: true }))
  })

  test('tells of consumers that share its group and write to another log store, until they are gone', async () => {
    let now = Date.parse('2026-03-01T10:00:00.000Z')
    const rig = createConsumersRig({
      clock: { now: () => now },
      store: { ...createMemoryStoreWriter(), name: () => 'here' },
    })
    const found: PartitionPosition = { partition: 0, firstOffset: 0, endPosition: 9, committed: 1, note: 'there' }
    let others = found
    let looks = 0
    const positions = async (): Promise<readonly PartitionPosition[]> => {
      looks++
      return [others]
    }
    const consumer = await started(rig.consumer('event-logs', { lagIntervalMs: 5 }, { ...rig.journal, positions }))
    const looked = async (): Promise<void> => {
      const wanted = looks + 2
      await eventually(() => expect(looks).toBeGreaterThanOrEqual(wanted))
    }
    // The other store may be the former one of this group.
    await looked()
    expect(consumer.health()).toEqual({ name: 'event-logs consumer', ready: true })
    for (const note of ['here', undefined]) {
      others = { ...found, committed: 2, ...(note !== undefined && { note }) }
      await looked()
      expect(await rig.metric('sluice_consumer_divided')).toBe(0)
    }
    others = { ...found, committed: 3 }
    await eventually(async () => expect(await rig.metric('sluice_consumer_divided')).toBe(1))
    expect(consumer.health()).toMatchObject({ ready: true, reason: expect.stringMatching(/and there, .*TOPIC_PREFIX/) })
    others = { ...found, committed: 4, note: 'here' }
    await looked()
    expect(await rig.metric('sluice_consumer_divided')).toBe(1)
    now += 601_000
    await eventually(async () => expect(await rig.metric('sluice_consumer_divided')).toBe(0))
    expect(consumer.health()).toEqual({ name: 'event-logs consumer', ready: true })
  })

  test('tells how long an entry takes until a search finds it, for entries stored now', async () => {
    const now = Date.parse('2026-03-01T10:00:02.000Z')
    const rig = createConsumersRig({ clock: { now: () => now }, searchableWithinMs: 1_000 })
    await rig.publish([eventLog(1), eventLog(1), eventLog(1)])
    const consumer = await started(rig.consumer('event-logs'))
    await rig.caughtUp('event-logs')
    const found = await rig.metrics.registry.getSingleMetric('sluice_consumer_searchable_seconds')?.get()
    const sumOf = (name: string): unknown =>
      found?.values.find(
        (value) => 'metricName' in value && value.metricName === `sluice_consumer_searchable_seconds_${name}`,
      )?.value
    expect(sumOf('count')).toBe(1)
    expect(sumOf('sum')).toBe(3)
    await consumer.stop(now + 5_000)
  })
})

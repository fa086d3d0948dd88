import { pino } from 'pino'
import { describe, expect, test, vi } from 'vitest'
import type { Publication, PublisherJournal, PublishOutcome } from '../../../../gateway/publisher/publication.ts'
import { createPublisher, PUBLISHER_DEFAULTS, type PublisherOptions } from '../../../../gateway/publisher/publisher.ts'
import { partitionOf } from '../../../../shared/contract/partitioner.ts'
import { AppendError, unpacked } from '../../../../shared/journal/journal.ts'
import { systemClock } from '../../../../shared/runtime/clock.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { eventually } from '../../../support/eventually.ts'
import * as fc from '../../../support/fast-check.ts'
import { createGatewayJournal, type GatewayJournal } from '../../../support/gateway.ts'

const TOPIC = 'logs'
const MEBIBYTE = 1024 * 1024

async function setUp(
  options: Partial<PublisherOptions> = {},
  partitions = 4,
  journal = createGatewayJournal(partitions),
) {
  const metrics = createMetrics()
  const publisher = createPublisher({
    journal,
    clock: systemClock,
    metrics,
    logger: pino({ level: 'silent' }),
    options: {
      ...PUBLISHER_DEFAULTS,
      topics: [TOPIC],
      bufferBytesMax: 64 * MEBIBYTE,
      sendTimeoutMs: 10_000,
      ...options,
    },
  })
  await publisher.start()
  const publish = (
    publications: readonly Publication[],
    withinMs = 10_000,
    team = 'payments',
  ): Promise<readonly PublishOutcome[]> => publisher.publish(TOPIC, team, publications, performance.now() + withinMs)
  return { journal, publisher, publish, metrics }
}

const publication = (value: string, { routeBy = null as string | null, bytes = 100 } = {}): Publication => ({
  record: { key: routeBy, value, headers: {} },
  bytes,
  routeBy,
})

const valuesOf = ({ batches }: GatewayJournal): (string | Uint8Array | null)[] =>
  batches.flatMap(({ records }) => records.map(({ value }) => value))

const stop = (publisher: { stop(deadline: number): Promise<void> }): Promise<void> =>
  publisher.stop(systemClock.now() + 5_000)

describe('what is published', () => {
  test('is durable when the journal says so, each record once, records of one key in their order', async () => {
    const requests = fc.array(
      fc.array(fc.record({ key: fc.option(fc.constantFrom('a', 'b', 'c')), bytes: fc.integer({ min: 1, max: 600 }) }), {
        minLength: 1,
        maxLength: 30,
      }),
      { minLength: 1, maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(requests, async (shapes) => {
        const { journal, publisher, publish } = await setUp({ batchRecordsMax: 10, batchBytesMax: 2_000 })
        let number = 0
        const all = shapes.map((shape) =>
          shape.map(({ key, bytes }) => publication(`${key}-${number++}`, { routeBy: key, bytes })),
        )
        const outcomes = await Promise.all(all.map((publications) => publish(publications)))
        expect(outcomes).toEqual(all.map((publications) => publications.map(() => 'durable')))
        const sent = all.flat().map(({ record }) => record.value)
        expect(valuesOf(journal).toSorted()).toEqual(sent.toSorted())
        for (const key of ['a-', 'b-', 'c-']) {
          const ofKey = (values: readonly unknown[]) => values.filter((value) => String(value).startsWith(key))
          expect(ofKey(valuesOf(journal))).toEqual(ofKey(sent))
        }
        for (const { records } of journal.batches) expect(records.length).toBeLessThanOrEqual(10)
        await stop(publisher)
      }),
      { numRuns: 40 },
    )
  })

  test('waits as the journal packs it, and counts as what it was', async () => {
    const { journal, publisher, publish } = await setUp({ eagerSends: 1, batchRecordsMax: 5 }, 1)
    const pack: PublisherJournal['pack'] = (records) => [
      { key: null, value: records.map(({ value }) => value).join(), headers: {} },
    ]
    Object.assign(journal, { pack })
    journal.hold()
    const all = [1, 3, 2, 3].map((count, request) =>
      publish(Array.from({ length: count }, (_, index) => publication(`${request}-${index}`))),
    )
    await eventually(() => journal.attempts.length === 1)
    journal.release()
    expect((await Promise.all(all)).map(({ length }) => length)).toEqual([1, 3, 2, 3])
    expect(valuesOf(journal)).toEqual(['0-0', '1-0,1-1,1-2', '2-0,2-1', '3-0,3-1,3-2'])
    expect(journal.batches.map(({ records }) => records.length)).toEqual([2, 2])
    await stop(publisher)
  })

  test('goes at once while little is in flight, and gathers while sends are', async () => {
    const { journal, publisher, publish } = await setUp({ eagerSends: 1, lingerMs: 60_000 }, 1)
    journal.hold()
    const first = publish([publication('first')])
    await eventually(() => journal.attempts.length === 1)
    const later = Array.from({ length: 50 }, (_, index) => publish([publication(`later-${index}`)]))
    journal.release()
    await Promise.all([first, ...later])
    expect(journal.batches.map(({ records }) => records.length)).toEqual([1, 50])
    await stop(publisher)
  })

  test('gathers for the linger at most, where sends of other partitions stay in flight', async () => {
    const { journal, publisher, publish } = await setUp({ eagerSends: 1, lingerMs: 5 }, 2)
    journal.hold()
    void publish([publication('held')])
    await eventually(() => journal.attempts.length === 1)
    void publish([publication('lingers')])
    await eventually(() => journal.attempts.length === 2)
    journal.release()
    await stop(publisher)
    expect(valuesOf(journal)).toEqual(['held', 'lingers'])
  })
})

describe('what is not confirmed', () => {
  test('is told apart: certainly not written, or perhaps', async () => {
    const { journal, publisher, publish } = await setUp({}, 1)
    journal.fail('not_written')
    expect(await publish([publication('a')])).toEqual(['refused'])
    journal.fail('unknown')
    expect(await publish([publication('b')])).toEqual(['uncertain'])
    await stop(publisher)
  })

  test('as it has more bytes than its topic takes: a record for good, several until they are sent again in smaller batches', async () => {
    const { journal, publisher, publish } = await setUp({ eagerSends: 1 }, 1)
    const { append } = journal
    journal.append = async (batch) => {
      if (batch.records.map(unpacked).reduce((sum, { value }) => sum + (value?.length ?? 0), 0) <= 250)
        return append(batch)
      throw new AppendError('too large', 'not_written', { isFinal: true, isOfTopic: true, bytesMax: 250 })
    }
    const ofLength = (length: number) => publication('x'.repeat(length), { bytes: length })
    const several = [ofLength(100), ofLength(100), ofLength(100)]
    expect(await publish(several)).toEqual(['refused', 'refused', 'refused'])
    expect(await publish(several)).toEqual(['durable', 'durable', 'durable'])
    expect(journal.batches.map(({ records }) => records.length)).toEqual([2, 1])
    expect(await publish([ofLength(100), ofLength(300)])).toEqual(['durable', { bytesMax: 250 }])
    await stop(publisher)
  })

  test('in large batches is durable in them again once the limits of all topics were raised', async () => {
    const others = 'others'
    const options = { eagerSends: 1, batchBytesMax: 1_000, partitionCheckMs: 5, topics: [TOPIC, others] }
    const { journal, publisher, publish } = await setUp(options, 1)
    const { append } = journal
    const most = new Map([
      [TOPIC, 100],
      [others, 250],
    ])
    journal.append = async (batch) => {
      const bytesMax = most.get(batch.topic) ?? 0
      if (batch.records.length * 100 <= bytesMax) return append(batch)
      throw new AppendError('too large', 'not_written', { isFinal: true, isOfTopic: true, bytesMax })
    }
    journal.bytesMax = async (topic) => most.get(topic) ?? null
    const several = Array.from({ length: 6 }, () => publication('x', { bytes: 100 }))
    const publishOthers = () => publisher.publish(others, 'payments', several, performance.now() + 10_000)
    const sentTo = async (topic: string, outcomes: Promise<readonly PublishOutcome[]>) => {
      const from = journal.batches.length
      expect(new Set(await outcomes)).toEqual(new Set(['durable']))
      return journal.batches.slice(from).flatMap((batch) => (batch.topic === topic ? [batch.records.length] : []))
    }
    expect(new Set([...(await publish(several)), ...(await publishOthers())])).toContain('refused')
    expect(await sentTo(TOPIC, publish(several))).toEqual([1, 1, 1, 1, 1, 1])
    await publishOthers()
    most.set(TOPIC, 2_000)
    await eventually(async () => expect(await sentTo(others, publishOthers())).toEqual([2, 2, 2]))
    most.set(others, 2_000)
    await eventually(async () => expect(await sentTo(TOPIC, publish(several))).toEqual([6]))
    await stop(publisher)
  })

  test('of one partition leaves the others durable', async () => {
    const { journal, publisher, publish } = await setUp({}, 4)
    const publications = Array.from({ length: 40 }, (_, index) => publication(`${index}`, { routeBy: `key-${index}` }))
    await publish(publications)
    const failed = journal.batches[0]
    journal.fail('not_written', failed?.partition)
    const outcomes = await publish(publications)
    const refused = outcomes.filter((outcome) => outcome === 'refused').length
    expect(refused).toBe(failed?.records.length)
    expect(outcomes.filter((outcome) => outcome === 'durable')).toHaveLength(40 - refused)
    await stop(publisher)
  })

  test('in time is unsettled when it was sent, expired when it still waited', async () => {
    const { journal, publisher, publish } = await setUp({ eagerSends: 1, sendsInFlightMax: 1 }, 1)
    journal.hold()
    const sent = publish([publication('sent')], 50)
    await eventually(() => journal.attempts.length === 1)
    const waiting = publish([publication('waiting')], 50)
    expect(await sent).toEqual(['unsettled'])
    expect(await waiting).toEqual(['expired'])
    journal.release()
    await stop(publisher)
    expect(valuesOf(journal)).not.toContain('waiting')
  })
})

describe('partitions whose number changes', () => {
  const KEYS = Array.from({ length: 60 }, (_, index) => `key-${index}`)
  const keyed = () => KEYS.map((key) => publication(key, { routeBy: key }))
  const placesOf = ({ batches }: GatewayJournal): ReadonlyMap<unknown, number> =>
    new Map(batches.flatMap(({ records, partition }) => records.map(({ key }) => [key, partition])))
  const byHash = (partitions: number) => new Map(KEYS.map((key) => [key, partitionOf(key, partitions)]))

  test('are used without a restart: keys go where their hash says now', async () => {
    const { journal, publisher, publish } = await setUp({ partitionCheckMs: 1 }, 2)
    await publish(keyed())
    expect(placesOf(journal)).toEqual(byHash(2))
    journal.repartition(5)
    await eventually(() => publisher.partitionsOf(TOPIC) === 5)
    journal.batches.length = 0
    await publish(keyed())
    expect(placesOf(journal)).toEqual(byHash(5))
    await stop(publisher)
  })

  test('take records without a key in their turn', async () => {
    const { journal, publisher, publish } = await setUp({ partitionCheckMs: 1 }, 1)
    journal.repartition(3)
    await eventually(() => publisher.partitionsOf(TOPIC) === 3)
    for (let turn = 0; turn < 6; turn++) await publish([publication(`${turn}`)])
    expect(journal.batches.map(({ partition }) => partition)).toEqual([0, 1, 2, 0, 1, 2])
    await stop(publisher)
  })

  test('leave what waits where it is, in its order, and the next record of the key goes elsewhere', async () => {
    const moving = KEYS.find((key) => partitionOf(key, 2) === 0 && partitionOf(key, 5) === 3) ?? ''
    const { journal, publisher, publish } = await setUp({ partitionCheckMs: 1 }, 2)
    journal.hold()
    const first = publish([publication('first', { routeBy: moving })])
    await eventually(() => journal.attempts.length === 1)
    const second = publish([publication('second', { routeBy: moving })])
    journal.repartition(5)
    await eventually(() => publisher.partitionsOf(TOPIC) === 5)
    const third = publish([publication('third', { routeBy: moving })])
    journal.release()
    expect((await Promise.all([first, second, third])).flat()).toEqual(['durable', 'durable', 'durable'])
    const inPartition = (wanted: number) =>
      valuesOf({ ...journal, batches: journal.batches.filter(({ partition }) => partition === wanted) })
    expect([inPartition(0), inPartition(3)]).toEqual([['first', 'second'], ['third']])
    await stop(publisher)
  })

  test('are looked for once at the start', async () => {
    const journal = createGatewayJournal(4)
    const looks = vi.spyOn(journal, 'partitionCount')
    const { publisher, publish } = await setUp({}, 4, journal)
    expect(new Set(await publish(keyed()))).toEqual(new Set(['durable']))
    expect(looks).toHaveBeenCalledTimes(1)
    await stop(publisher)
  })

  test('are looked for again after a failure', async () => {
    const { journal, publisher, publish } = await setUp({ partitionCheckMs: 1 }, 4)
    const looks = vi.spyOn(journal, 'partitionCount')
    journal.repartition(new Error('no broker answers'))
    const before = looks.mock.calls.length
    await eventually(() => looks.mock.calls.length > before + 1)
    expect(publisher.partitionsOf(TOPIC)).toBe(4)
    expect(new Set(await publish(keyed()))).toEqual(new Set(['durable']))
    journal.repartition(6)
    await eventually(() => publisher.partitionsOf(TOPIC) === 6)
    await stop(publisher)
  })

  test('are fewer where the topic was made anew: only what waits for those that are gone is refused', async () => {
    const { journal, publisher, publish } = await setUp({ partitionCheckMs: 1 }, 4)
    for (let turn = 0; turn < 3; turn++) await publish([publication(`${turn}`)])
    journal.hold()
    const gone = publish([publication('to the last one')])
    await eventually(() => journal.attempts.at(-1)?.partition === 3)
    journal.repartition(2)
    await eventually(() => publisher.partitionsOf(TOPIC) === 2)
    journal.fail('not_written', 3)
    journal.release()
    expect(await gone).toEqual(['refused'])
    journal.batches.length = 0
    expect(new Set(await publish(keyed()))).toEqual(new Set(['durable']))
    expect(placesOf(journal)).toEqual(byHash(2))
    expect(await publish([publication('without a key')])).toEqual(['durable'])
    await stop(publisher)
  })

  test('are not looked for once the publisher stops', async () => {
    vi.useFakeTimers()
    try {
      const { journal, publisher } = await setUp({ partitionCheckMs: 1_000 })
      const looks = vi.spyOn(journal, 'partitionCount')
      await vi.advanceTimersByTimeAsync(2_000)
      expect(looks).toHaveBeenCalledTimes(2)
      await stop(publisher)
      await vi.advanceTimersByTimeAsync(2_000)
      expect(looks).toHaveBeenCalledTimes(2)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('memory', () => {
  test('is bounded: a full buffer refuses at once, and takes again when the journal has really settled', async () => {
    const { journal, publisher, publish, metrics } = await setUp({ bufferBytesMax: 1_000, sendTimeoutMs: 20 }, 1)
    const limited = async () => (await metrics.counter('sluice_limited_total').get()).values
    expect(await limited()).toMatchObject([{ labels: { reason: 'publish_buffer' }, value: 0 }])
    journal.hold()
    const first = publish([publication('first', { bytes: 900 })])
    expect(await publish([publication('second', { bytes: 200 })])).toEqual(['buffer_full'])
    expect(await first).toEqual(['unsettled'])
    // Nobody waits for the first any more, but the journal still holds it.
    expect(await publish([publication('third', { bytes: 200 })])).toEqual(['buffer_full'])
    expect(await limited()).toMatchObject([{ value: 2 }])
    journal.release()
    await eventually(async () => expect(await publish([publication('fourth', { bytes: 200 })])).toEqual(['durable']))
    await stop(publisher)
  })

  test('has room for the next Team, however much another sends', async () => {
    const { journal, publisher, publish } = await setUp({ bufferBytesMax: 1_000 }, 1)
    journal.hold()
    const sends = Array.from({ length: 20 }, () => publish([publication('noisy', { bytes: 100 })]))
    const quiet = publish([publication('quiet', { bytes: 100 })], 10_000, 'billing')
    await eventually(() => journal.attempts.length === 1)
    expect(await publish([publication('noisy', { bytes: 100 })])).toEqual(['buffer_full'])
    journal.release()
    expect(await quiet).toEqual(['durable'])
    const outcomes = (await Promise.all(sends)).flat()
    expect(outcomes.toSorted()).toEqual([...Array(13).fill('buffer_full'), ...Array(7).fill('durable')])
    expect(await publish([publication('noisy', { bytes: 700 })])).toEqual(['durable'])
    await stop(publisher)
  })
})

describe('a journal that keeps failing', () => {
  const breaker = { failuresPercent: 50, sendsMin: 3, windowMs: 10_000, openMs: 60_000 }

  test('is left alone for a while', async () => {
    const { journal, publisher, publish } = await setUp({ breaker }, 1)
    journal.fail('not_written')
    await eventually(async () => expect(await publish([publication('x')])).toEqual(['paused']))
    const attempts = journal.attempts.length
    expect(await publish([publication('y')])).toEqual(['paused'])
    expect(journal.attempts).toHaveLength(attempts)
    await stop(publisher)
  })

  test('for one topic alone still takes the others', async () => {
    const { journal, publisher, publish } = await setUp({ breaker, topics: [TOPIC, 'others'] }, 1)
    const { append } = journal
    const failure = new AppendError('too few replicas', 'not_written')
    journal.append = (batch) => (batch.topic === TOPIC ? Promise.reject(failure) : append(batch))
    await eventually(async () => expect(await publish([publication('x')])).toEqual(['paused']))
    const other = publisher.publish('others', 'payments', [publication('y')], performance.now() + 10_000)
    expect(await other).toEqual(['durable'])
    await stop(publisher)
  })

  test('is used again once a trial succeeds', async () => {
    const { journal, publisher, publish } = await setUp({ breaker: { ...breaker, openMs: 500 } }, 1)
    journal.fail('not_written')
    await eventually(async () => expect(await publish([publication('x')])).toEqual(['paused']))
    journal.fail(null)
    await eventually(async () => expect(await publish([publication('z')])).toEqual(['durable']))
    await stop(publisher)
  })
})

describe('topics that refuse appends', () => {
  test('are told, and leave it ready as long as another takes them', async () => {
    const { journal, publisher } = await setUp({ topics: [TOPIC, 'others'] })
    const refusals = new Map<string, string>()
    journal.refusalOf = async (topic) => refusals.get(topic) ?? null
    expect(await publisher.health()).toEqual({ name: 'publisher', ready: true })
    refusals.set(TOPIC, 'no right')
    expect(await publisher.health()).toEqual({ name: 'publisher', ready: true, reason: 'no right' })
    refusals.set('others', 'no topic')
    expect(await publisher.health()).toEqual({ name: 'publisher', ready: false, reason: 'no right; no topic' })
    refusals.clear()
    expect(await publisher.health()).toEqual({ name: 'publisher', ready: true })
    await stop(publisher)
  })

  test('are unknown to a journal that refuses none', async () => {
    const { publisher } = await setUp()
    expect(await publisher.health()).toEqual({ name: 'publisher', ready: true })
    await stop(publisher)
  })
})

describe('a publisher that stops', () => {
  test('sends what waits and takes nothing more', async () => {
    const { journal, publisher, publish } = await setUp({ eagerSends: 1, lingerMs: 60_000 }, 1)
    journal.hold()
    const ended: unknown[] = []
    const note = (what: unknown): unknown => ended.push(what)
    void publish([publication('first')]).then(note)
    await eventually(() => journal.attempts.length === 1)
    void publish([publication('waiting')]).then(note)
    const stopped = stop(publisher).then(() => note('stopped'))
    expect(await publish([publication('late')])).toEqual(['closed'])
    journal.release()
    await stopped
    expect(ended).toEqual([['durable'], ['durable'], 'stopped'])
    await stop(publisher)
  })

  test('waits for no look at the partitions', async () => {
    const { journal, publisher } = await setUp({ partitionCheckMs: 1 })
    const looks = vi.spyOn(journal, 'partitionCount').mockReturnValue(new Promise(() => undefined))
    await eventually(() => looks.mock.calls.length === 1)
    const hour = 3_600_000
    await publisher.stop(systemClock.now() + hour)
  })

  test('has started before it takes anything', async () => {
    const { publisher } = await setUp()
    await stop(publisher)
    expect(await publisher.publish(TOPIC, 'payments', [publication('x')], performance.now() + 1_000)).toEqual([
      'closed',
    ])
  })
})

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Batcher, createBatcher, type Slice } from '../../../../gateway/publisher/batcher.ts'
import type { MicroBatch, PublishOutcome } from '../../../../gateway/publisher/publication.ts'
import type { ScheduleOptions } from '../../../../gateway/publisher/schedule.ts'
import type { NewRecord } from '../../../../shared/journal/journal.ts'
import { type ByteBudget, type ByteShare, createByteBudget } from '../../../../shared/runtime/byte-budget.ts'
import * as fc from '../../../support/fast-check.ts'

const OPTIONS = {
  batchRecordsMax: 10,
  batchBytesMax: 1_000,
  eagerSends: 1,
  regatherMs: 0,
  lingerMs: 5,
  sendsInFlightMax: 3,
}

interface Sent extends MicroBatch {
  settle(outcome?: PublishOutcome): void
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

let budget: ByteBudget

/** A batcher whose sends settle when the test says so, on a clock that moves when the test says so. */
function setUp(options: Partial<ScheduleOptions> = {}, partitions = 4) {
  budget = createByteBudget(Number.POSITIVE_INFINITY)
  const inFlight = new Set<Sent>()
  const all: Sent[] = []
  /** As the next step holds them. */
  const batches: MicroBatch[] = []
  const send = (batch: MicroBatch): Promise<PublishOutcome> => {
    const { promise, resolve } = Promise.withResolvers<PublishOutcome>()
    const sent: Sent = {
      ...batch,
      settle: (outcome = 'durable') => {
        inFlight.delete(sent)
        resolve(outcome)
      },
    }
    inFlight.add(sent)
    all.push(sent)
    batches.push(batch)
    return promise
  }
  const batcher = createBatcher({
    options: { ...OPTIONS, ...options },
    topics: new Map([['logs', partitions]]),
    send,
  })
  return { batcher, all, batches, inFlight }
}

let made = 0
const slice = (partition: number | null, records = 1, bytes = records * 10): Slice => ({
  topic: 'logs',
  partition,
  records: Array.from({ length: records }, () => ({ key: null, value: `${made++}`, headers: {} })),
  count: records,
  bytes,
  traceparent: undefined,
})
const push = (batcher: Batcher, pushed: Slice, withinMs = 10_000, share: ByteShare = budget) =>
  batcher.push(pushed, share, performance.now() + withinMs)
const bytesOf = ({ parts }: MicroBatch) => parts.reduce((sum, { bytes }) => sum + bytes, 0)
const sizes = (all: readonly Sent[]) => all.map(({ records }) => records.length)
/** Lets promises that have settled be noticed. */
const turn = () => vi.advanceTimersByTimeAsync(0)

describe('when a lane sends', () => {
  test('in the same turn while fewer sends than eagerSends are in flight, with all that came in it', async () => {
    const { batcher, all } = setUp({ eagerSends: 2 })
    for (const partition of [0, 1, 2, 0]) void push(batcher, slice(partition))
    expect(all).toEqual([])
    await turn()
    expect(sizes(all)).toEqual([2, 1])
    expect(all.map(({ partition }) => partition)).toEqual([0, 1])
  })

  test('when a send ends: all that gathered for the partition, in one micro-batch', async () => {
    const { batcher, all } = setUp()
    void push(batcher, slice(0))
    await turn()
    for (let count = 0; count < 5; count += 1) void push(batcher, slice(0))
    await turn()
    expect(sizes(all)).toEqual([1])
    all[0]?.settle()
    await turn()
    expect(sizes(all)).toEqual([1, 5])
  })

  test('after a send has ended, with what its senders send again: when that is as much, or the time for it is over', async () => {
    const { batcher, all } = setUp({ regatherMs: 2 })
    vi.advanceTimersByTime(1_000)
    for (let count = 0; count < 9; count += 1) void push(batcher, slice(0))
    await turn()
    all[0]?.settle()
    await turn()
    void push(batcher, slice(0, 8))
    await turn()
    expect(sizes(all)).toEqual([9])
    void push(batcher, slice(0))
    await turn()
    expect(sizes(all)).toEqual([9, 9])

    void push(batcher, slice(0))
    all[1]?.settle()
    await turn()
    vi.advanceTimersByTime(1)
    expect(sizes(all)).toEqual([9, 9])
    vi.advanceTimersByTime(1)
    expect(sizes(all)).toEqual([9, 9, 1])

    all[2]?.settle()
    await turn()
    void push(batcher, slice(0))
    await turn()
    expect(sizes(all)).toEqual([9, 9, 1, 1])
  })

  test('at once after a send of a few, however soon that is', async () => {
    const { batcher, all } = setUp({ regatherMs: 2 })
    for (const expected of [[7], [7, 1]]) {
      void push(batcher, slice(0, expected.at(-1)))
      await turn()
      expect(sizes(all)).toEqual(expected)
      all.at(-1)?.settle()
      await turn()
    }
  })

  test('the records are left to the journal: a batch that is on its way does not hold them', async () => {
    const { batcher, batches } = setUp()
    void push(batcher, slice(0, 3))
    await turn()
    expect(batches.map(({ count, records }) => [count, records.length])).toEqual([[3, 0]])
  })

  test('after the linger, although sends are in flight; not before', async () => {
    const { batcher, all } = setUp()
    void push(batcher, slice(0))
    await turn()
    void push(batcher, slice(1))
    vi.advanceTimersByTime(3)
    void push(batcher, slice(2))
    vi.advanceTimersByTime(1)
    expect(all).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(all.map(({ partition }) => partition)).toEqual([0, 1])
    vi.advanceTimersByTime(3)
    expect(all.map(({ partition }) => partition)).toEqual([0, 1, 2])
  })

  test('when it is full, by records or by bytes', async () => {
    const { batcher, all } = setUp()
    void push(batcher, slice(0))
    await turn()
    for (let count = 0; count < 10; count += 1) void push(batcher, slice(1))
    await turn()
    expect(sizes(all)).toEqual([1, 10])
    void push(batcher, slice(2, 1, 400))
    void push(batcher, slice(2, 1, 600))
    await turn()
    expect(sizes(all)).toEqual([1, 10, 2])
    all[2]?.settle()
    void push(batcher, slice(2))
    await turn()
    expect(sizes(all)).toEqual([1, 10, 2])
  })

  test('never above sendsInFlightMax, and never twice at a time for one partition', () => {
    const { batcher, all } = setUp({ sendsInFlightMax: 2, eagerSends: 9 })
    for (const partition of [0, 0, 1, 2, 3]) void push(batcher, slice(partition, 10))
    vi.advanceTimersByTime(1_000)
    expect(all.map(({ partition }) => partition)).toEqual([0, 1])
  })

  test('what exceeds the limits by itself goes alone', async () => {
    const { batcher, all } = setUp()
    void push(batcher, slice(0))
    await turn()
    void push(batcher, slice(0))
    void push(batcher, slice(0, 1, 5_000))
    void push(batcher, slice(0))
    for (let index = 0; index < 4; index += 1) {
      all[index]?.settle()
      await turn()
    }
    expect(all.map(bytesOf)).toEqual([10, 10, 5_000, 10])
  })
})

describe('Teams', () => {
  test('take turns, each in its own order: nobody waits for all that another has sent', async () => {
    const { batcher, all } = setUp()
    void push(batcher, slice(0))
    await turn()
    const [noisy, quiet] = [budget.share('noisy', 1), budget.share('quiet', 1)]
    const loud = Array.from({ length: 3 }, () => slice(0, 10))
    const few = Array.from({ length: 2 }, () => slice(0, 1))
    for (const one of loud) void push(batcher, one, 10_000, noisy)
    for (const one of few) void push(batcher, one, 10_000, quiet)
    for (let index = 0; index < 5; index += 1) {
      all[index]?.settle()
      await turn()
    }
    expect(all.slice(1).map(({ records }) => records)).toEqual(
      [[loud[0]], few, [loud[1]], [loud[2]]].map((slices) => slices.flatMap((one) => one?.records ?? [])),
    )
    expect(budget.held).toBe(0)
  })

  test('of small requests share a micro-batch', async () => {
    const { batcher, all } = setUp()
    void push(batcher, slice(0))
    await turn()
    for (let count = 0; count < 12; count += 1) void push(batcher, slice(0), 10_000, budget.share('noisy', 1))
    for (let count = 0; count < 3; count += 1) void push(batcher, slice(0), 10_000, budget.share('quiet', 1))
    all[0]?.settle()
    await turn()
    const held = (all[1]?.parts ?? []).filter(({ share }) => share === budget.share('quiet', 1))
    expect([all[1]?.count, held.length]).toEqual([10, 3])
  })
})

describe('timers', () => {
  const delays = () => {
    const spy = vi.spyOn(globalThis, 'setTimeout')
    return () => spy.mock.calls.map(([, delay = 0]) => delay)
  }

  // Node warns of each.
  test('are never set for a time that is over, although a partition has waited too long for a send to end', async () => {
    const { batcher, all } = setUp({ sendsInFlightMax: 2 })
    const asked = delays()
    for (const partition of [0, 1, 2, 2]) {
      void push(batcher, slice(partition))
      await vi.advanceTimersByTimeAsync(60)
    }
    expect(all).toHaveLength(2)
    all[0]?.settle()
    await Promise.resolve()
    await Promise.resolve()
    void push(batcher, slice(3))
    await turn()
    expect(all).toHaveLength(3)
    expect(asked().filter((delay) => delay < 0)).toEqual([])
  })

  test('are not set for a deadline of draining that is over', async () => {
    const { batcher } = setUp()
    void push(batcher, slice(0))
    await turn()
    const asked = delays()
    const drained = batcher.drain(performance.now() - 1_000)
    await vi.advanceTimersByTimeAsync(1)
    await drained
    expect(asked().filter((delay) => delay < 0)).toEqual([])
  })
})

describe('records without a partition', () => {
  test('fill one partition after another, those that are not sending first', async () => {
    const { batcher, all } = setUp({ eagerSends: 9, sendsInFlightMax: 9 })
    void push(batcher, slice(2))
    for (let count = 0; count < 4; count += 1) {
      void push(batcher, slice(null))
      await turn()
    }
    expect(all.map(({ partition }) => partition)).toEqual([2, 0, 1, 3])
    all[1]?.settle()
    await turn()
    void push(batcher, slice(null))
    await turn()
    expect(all.map(({ partition }) => partition)).toEqual([2, 0, 1, 3, 0])
  })

  test('are not left to a partition that hangs while another is free', async () => {
    const { batcher, all } = setUp({ eagerSends: 2 }, 2)
    for (let count = 0; count < 2; count += 1) {
      void push(batcher, slice(null))
      await turn()
    }
    all[1]?.settle()
    await turn()
    for (let count = 0; count < 2; count += 1) {
      void push(batcher, slice(null))
      await turn()
      all.at(-1)?.settle()
      await turn()
    }
    expect(all.map(({ partition }) => partition)).toEqual([0, 1, 1, 1])
  })

  test('gather in one partition while they wait', async () => {
    const { batcher, all } = setUp()
    void push(batcher, slice(null))
    await turn()
    for (let count = 0; count < 5; count += 1) void push(batcher, slice(null))
    all[0]?.settle()
    await turn()
    expect(sizes(all)).toEqual([1, 5])
  })
})

describe('deadlines', () => {
  test('expired where it waits, and then it is not sent; unsettled where it was sent', async () => {
    const { batcher, all } = setUp()
    const sent = push(batcher, slice(0), 100)
    await turn()
    const waiting = push(batcher, slice(0), 100)
    vi.advanceTimersByTime(101)
    expect([await sent, await waiting]).toEqual(['unsettled', 'expired'])
    expect(budget.held).toBe(0)
    all[0]?.settle()
    await turn()
    expect(all).toHaveLength(1)
    void push(batcher, slice(0))
    await turn()
    expect(all).toHaveLength(2)
  })

  test('of parts in one micro-batch are each their own', async () => {
    const { batcher, all } = setUp()
    void push(batcher, slice(0), 100)
    await turn()
    const early = push(batcher, slice(0), 100)
    vi.advanceTimersByTime(50)
    const late = push(batcher, slice(0), 100)
    all[0]?.settle()
    await turn()
    expect(sizes(all)).toEqual([1, 2])
    vi.advanceTimersByTime(60)
    expect(await early).toBe('unsettled')
    all[1]?.settle()
    expect(await late).toBe('durable')
  })
})

describe('draining', () => {
  test('sends what waits without gathering, and ends when all is settled', async () => {
    const { batcher, all } = setUp({ lingerMs: 60_000, sendsInFlightMax: 9 })
    const outcomes = Promise.all([0, 1, 2].map((partition) => push(batcher, slice(partition))))
    await turn()
    expect(all).toHaveLength(1)
    const drained = batcher.drain(performance.now() + 1_000)
    expect(all).toHaveLength(3)
    for (const sent of all) sent.settle()
    await drained
    expect(await outcomes).toEqual(['durable', 'durable', 'durable'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('sends also what waits behind a send', async () => {
    const { batcher, all } = setUp()
    const outcomes = [push(batcher, slice(0))]
    await turn()
    outcomes.push(push(batcher, slice(0)))
    const drained = batcher.drain(performance.now() + 1_000)
    all[0]?.settle()
    await turn()
    expect(all).toHaveLength(2)
    all[1]?.settle()
    await drained
    expect(await Promise.all(outcomes)).toEqual(['durable', 'durable'])
  })

  test('ends at its deadline with an outcome for everything', async () => {
    const { batcher } = setUp()
    vi.advanceTimersByTime(1_000)
    const outcomes = [push(batcher, slice(0))]
    await turn()
    outcomes.push(push(batcher, slice(0)))
    const drained = batcher.drain(performance.now() + 100)
    await vi.advanceTimersByTimeAsync(101)
    await drained
    expect(await Promise.all(outcomes)).toEqual(['unsettled', 'expired'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('with nothing to do ends at once', async () => {
    await setUp().batcher.drain(performance.now() + 1_000)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('whatever happens', () => {
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('push' as const),
        partition: fc.option(fc.nat(3)),
        records: fc.integer({ min: 1, max: 10 }),
        bytes: fc.integer({ min: 1, max: OPTIONS.batchBytesMax }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('settle' as const),
        which: fc.nat(10),
        outcome: fc.constantFrom<PublishOutcome>('durable', 'refused', 'uncertain'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(60) }) },
  )

  const pace = fc.record({ eagerSends: fc.integer({ min: 1, max: 3 }), regatherMs: fc.nat(6) })

  test('every slice has one outcome, that of its send; records go once, whole, in order and within the limits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), pace, async (steps, eager) => {
        const { batcher, all, inFlight } = setUp(eager)
        const pushed: { slice: Slice; outcome?: PublishOutcome }[] = []
        const outcomeOf = new Map<Sent, PublishOutcome>()
        const settle = (sent: Sent, outcome: PublishOutcome): void => {
          outcomeOf.set(sent, outcome)
          sent.settle(outcome)
        }
        for (const each of steps) {
          if (each.do === 'push') {
            const entry: (typeof pushed)[number] = { slice: slice(each.partition, each.records, each.bytes) }
            pushed.push(entry)
            void push(batcher, entry.slice, 100).then((outcome) => Object.assign(entry, { outcome }))
          }
          if (each.do === 'settle') {
            const sent = [...inFlight][each.which % Math.max(1, inFlight.size)]
            if (sent !== undefined) settle(sent, each.outcome)
          }
          await vi.advanceTimersByTimeAsync(each.do === 'wait' ? each.ms : 0)
          expect(inFlight.size).toBeLessThanOrEqual(OPTIONS.sendsInFlightMax)
          expect(new Set([...inFlight].map(({ partition }) => partition)).size).toBe(inFlight.size)
        }
        await vi.advanceTimersByTimeAsync(10)
        for (let round = 0; round < 100 && inFlight.size > 0; round += 1) {
          for (const sent of [...inFlight]) settle(sent, 'durable')
          await vi.advanceTimersByTimeAsync(10)
        }
        await vi.advanceTimersByTimeAsync(200)
        const sentIn = new Map(all.flatMap((sent) => sent.records.map((record) => [record, sent] as const)))
        expect(all.reduce((sum, { records }) => sum + records.length, 0)).toBe(sentIn.size)
        for (const {
          slice: { records, partition },
          outcome,
        } of pushed) {
          const sents = new Set(records.map((record) => sentIn.get(record)))
          const [sent] = sents
          expect(sents.size).toBe(1)
          if (sent === undefined) expect(outcome).toBe('expired')
          else expect(['unsettled', outcomeOf.get(sent)]).toContain(outcome)
          if (sent !== undefined && partition !== null) expect(sent.partition).toBe(partition)
        }
        for (const sent of all) {
          expect(sent.records.length).toBeLessThanOrEqual(OPTIONS.batchRecordsMax)
          expect(bytesOf(sent)).toBeLessThanOrEqual(OPTIONS.batchBytesMax)
        }
        for (const partition of [0, 1, 2, 3]) {
          const values = all
            .filter((sent) => sent.partition === partition)
            .flatMap(({ records }) => records.map((record) => Number((record as NewRecord).value)))
          expect(values).toEqual(values.toSorted((a, b) => a - b))
        }
        expect(budget.held).toBe(0)
        await batcher.drain(performance.now())
        expect(vi.getTimerCount()).toBe(0)
      }),
      { numRuns: 150 },
    )
  })
})

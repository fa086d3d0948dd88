import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLiveGateways, type LiveGateways } from '../../../gateway/live-gateways.ts'
import { TOPICS } from '../../../shared/contract/topics.ts'
import type { Follower, Journal } from '../../../shared/journal/journal.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { createLogger } from '../../../shared/runtime/logger.ts'
import { createMetrics } from '../../../shared/runtime/metrics.ts'
import { createMemoryJournal } from '../../support/memory-journal.ts'

const TOPIC = 'sluice.gateways.v1'
const BEAT_MS = 5_000

let running: LiveGateways[] = []
beforeEach(() => void vi.useFakeTimers())
afterEach(async () => {
  for (const gateway of running) await gateway.stop(systemClock.now() + 1_000)
  running = []
  vi.useRealTimers()
})

const withTopic = () => createMemoryJournal({ topics: [{ ...TOPICS.gateways, name: TOPIC }] })
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
/** Long enough for what is on its way, and far shorter than a beat. */
const settle = () => pass(100)

async function start(journal: Pick<Journal, 'append' | 'follow'>, beatMs = BEAT_MS) {
  const metrics = createMetrics()
  const warned: unknown[] = []
  const logger = { ...createLogger('silent', 'test'), warn: (...args: unknown[]) => void warned.push(args) } as never
  const gateway = createLiveGateways({ journal, topic: TOPIC, clock: systemClock, logger, metrics, beatMs })
  running.push(gateway)
  await gateway.start()
  const gauge = async () => (await metrics.gauge('sluice_live_gateways').get()).values[0]?.value
  return { ...gateway, gauge, warned }
}

const counts = (gateways: readonly LiveGateways[]): number[] => gateways.map((gateway) => gateway.count())

describe('the live gateways', () => {
  test('are one at first, and know of each other as soon as they start, without waiting for a beat', async () => {
    const journal = withTopic()
    const first = await start(journal.anotherClient())
    expect(first.count()).toBe(1)
    await settle()
    const second = await start(journal.anotherClient())
    await settle()
    expect(counts([first, second])).toEqual([2, 2])
    const third = await start(journal.anotherClient())
    await settle()
    expect(counts([first, second, third])).toEqual([3, 3, 3])
    expect(await third.gauge()).toBe(3)
  })

  test('that start at the same moment know of each other within a beat', async () => {
    const journal = withTopic()
    const gateways = await Promise.all([1, 2, 3, 4].map(() => start(journal.anotherClient())))
    await pass(BEAT_MS + 100)
    expect(counts(gateways)).toEqual([4, 4, 4, 4])
  })

  test('know of each other as soon as one starts while the beat of the other is on its way', async () => {
    const journal = withTopic()
    const client = journal.anotherClient()
    const held = Promise.withResolvers<void>()
    const append: Journal['append'] = async (batch) => {
      await client.append(batch)
      await held.promise
    }
    const first = await start({ ...client, append })
    await settle()
    const second = await start(journal.anotherClient())
    await settle()
    held.resolve()
    await settle()
    expect(counts([first, second])).toEqual([2, 2])
  })

  test('know of each other although their topic had to be read again', async () => {
    const journal = withTopic()
    const first = await start(journal.anotherClient())
    await settle()
    journal.outdateFollowers(TOPIC)
    const second = await start(journal.anotherClient())
    await pass(10_000)
    expect(counts([first, second])).toEqual([2, 2])
  })

  test('stay as many for hours, also where their timers run apart', async () => {
    const journal = withTopic()
    const gateways = [await start(journal.anotherClient(), 5_000), await start(journal.anotherClient(), 7_300)]
    await pass(10_000)
    for (let minute = 0; minute < 120; minute += 1) {
      await pass(60_000)
      expect(counts(gateways)).toEqual([2, 2])
    }
  })

  test('are one less some beats after one has ended without a word', async () => {
    const journal = withTopic()
    const [left, ended] = [await start(journal.anotherClient()), await start(journal.anotherClient())]
    await pass(20_000)
    expect(left.count()).toBe(2)
    await ended.stop(systemClock.now() + 1_000)
    await pass(9_000)
    expect(left.count()).toBe(2)
    await pass(7_000)
    expect(left.count()).toBe(1)
    const again = await start(journal.anotherClient())
    await settle()
    expect(counts([left, again])).toEqual([2, 2])
  })

  test('of the past are not counted by one that reads the topic, for the first time or once more', async () => {
    const journal = withTopic()
    for (let life = 0; life < 10; life += 1) {
      const old = await start(journal.anotherClient())
      await settle()
      await old.stop(systemClock.now() + 1_000)
    }
    const fresh = await start(journal.anotherClient())
    await pass(BEAT_MS)
    expect(fresh.count()).toBe(1)
    await pass(20_000)
    journal.outdateFollowers(TOPIC)
    await pass(BEAT_MS + 100)
    expect(fresh.count()).toBe(1)
  })

  test('stay as many while the topic takes no beats, and none is forgotten when it does again', async () => {
    const journal = withTopic()
    const gateways = [await start(journal.anotherClient()), await start(journal.anotherClient())]
    await pass(20_000)
    journal.failAppends('not_written', 40)
    await pass(90_000)
    expect(counts(gateways)).toEqual([2, 2])
    for (const { warned } of gateways) expect(warned).toHaveLength(1)
    await pass(60_000)
    expect(counts(gateways)).toEqual([2, 2])
  })

  test('are counted from the moment on in which their topic is there', async () => {
    const journal = createMemoryJournal()
    const gateways = [await start(journal.anotherClient()), await start(journal.anotherClient())]
    await pass(30_000)
    expect(counts(gateways)).toEqual([1, 1])
    expect(gateways[0]?.warned).toHaveLength(1)
    await journal.createTopics([{ ...TOPICS.gateways, name: TOPIC }])
    await pass(2 * BEAT_MS)
    expect(counts(gateways)).toEqual([2, 2])
  })

  test('write one beat each in its time, and one more for each that is new', async () => {
    const journal = withTopic()
    await start(journal.anotherClient())
    await settle()
    await start(journal.anotherClient())
    await settle()
    const before = journal.recordsOf(TOPIC).length
    expect(before).toBeLessThanOrEqual(4)
    await pass(10 * BEAT_MS)
    expect(journal.recordsOf(TOPIC).length - before).toBe(20)
  })

  test('stop while their topic is being read, and end that reading when they can', async () => {
    const { promise: read, resolve } = Promise.withResolvers<Follower>()
    const gateway = await start({ ...withTopic(), follow: () => read })
    await gateway.stop(systemClock.now() + 60_000)
    const closed = Promise.withResolvers<void>()
    resolve({ outdated: new Promise(() => undefined), close: async () => closed.resolve() })
    await closed.promise
  })

  test('a foreign record changes nothing', async () => {
    const journal = withTopic()
    const gateway = await start(journal.anotherClient())
    await settle()
    const foreign = journal.append({
      ...{ topic: TOPIC, partition: 0 },
      records: [
        { key: null, value: 'what?', headers: {} },
        { key: '', value: null, headers: {} },
      ],
    })
    await settle()
    await foreign
    expect(gateway.count()).toBe(1)
  })
})

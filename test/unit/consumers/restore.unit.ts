import { expect, test } from 'vitest'
import { groupName } from '../../../consumers/projection.ts'
import { lacksLastEntry, restoreProjection, rewindProjection } from '../../../consumers/restore.ts'
import {
  APPLICATION_TOPIC,
  applicationLog,
  EVENT_TOPIC,
  entryTopics,
  eventLog,
  idOf,
  PREFIX,
  published,
} from '../../support/consumers-records.ts'
import { createMemoryStoreWriter } from '../../support/consumers-store.ts'
import { createMemoryJournal } from '../../support/memory-journal.ts'

const never = new AbortController().signal

/** Topics with event logs 0 to 4, 3 of which are older, a bad record, and an application log; a store that has the first event log. */
async function lost() {
  const journal = createMemoryJournal({ clock: { now: () => 0 }, topics: entryTopics() })
  const append = (topic: string, partition: number, records: readonly ReturnType<typeof published>[]) =>
    journal.append({ topic, partition, records })
  const old = [2, 3, 4].map((number) => published(eventLog(number, { receivedAt: '2026-02-01T10:00:00.000Z' })))
  await append(EVENT_TOPIC, 0, [published(eventLog(0)), { key: null, value: '{', headers: {} }, ...old])
  await append(EVENT_TOPIC, 1, [published(eventLog(1))])
  await append(APPLICATION_TOPIC, 0, [published(applicationLog(9))])
  const store = createMemoryStoreWriter()
  const restore = (name: 'event-logs' | 'application-logs' | 'flows', since: string | null = null, signal = never) =>
    restoreProjection(name, { journal, store, topicPrefix: PREFIX, since, signal })
  return { journal, store, restore }
}

test('all records are written again; what the store has is recognised, and what no projection takes is counted', async () => {
  const { store, restore } = await lost()
  expect(await restore('event-logs')).toEqual({ stored: 5, duplicate: 0, refused: 1 })
  expect(await restore('event-logs')).toEqual({ stored: 0, duplicate: 5, refused: 1 })
  store.refuse = () => 'too long'
  expect(await restore('application-logs')).toEqual({ stored: 0, duplicate: 0, refused: 1 })
  expect([...store.documents.keys()].sort()).toEqual([0, 1, 2, 3, 4].map(idOf))
})

test('flows are folded from both topics', async () => {
  const { store, restore } = await lost()
  expect(await restore('flows')).toEqual({ stored: 6, duplicate: 0, refused: 1 })
  expect(store.flows()).toMatchObject([{ correlationKey: 'order-1', days: ['2026-02-01', '2026-03-01'] }])
})

test('days before the first one are left out', async () => {
  const { store, restore } = await lost()
  expect(await restore('event-logs', '2026-03-01')).toEqual({ stored: 2, duplicate: 0, refused: 1 })
  expect([...store.documents.keys()].sort()).toEqual([0, 1].map(idOf))
})

test('a restore that is stopped, or whose store fails, rejects', async () => {
  const { store, restore } = await lost()
  await expect(restore('event-logs', null, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  store.beforeWrite = () => {
    throw new Error('halted')
  }
  await expect(restore('event-logs')).rejects.toThrow('halted')
})

test('more than one write takes is written in several, each record once', async () => {
  const journal = createMemoryJournal({ clock: { now: () => 0 }, topics: entryTopics() })
  const store = createMemoryStoreWriter()
  const restored = (payloads: readonly string[]) =>
    journal
      .append({
        topic: EVENT_TOPIC,
        partition: 0,
        records: payloads.map((payload, number) => published(eventLog(number, { payload }))),
      })
      .then(() => restoreProjection('event-logs', { journal, store, topicPrefix: PREFIX, since: null, signal: never }))
  expect(await restored(Array<string>(2_500).fill('x'))).toEqual({ stored: 2_500, duplicate: 0, refused: 0 })
  expect(store.writes).toEqual([2_000, 500])
  journal.removeBefore(EVENT_TOPIC, 0, 2_500)
  expect(await restored(Array<string>(10).fill('x'.repeat(2 * 1024 * 1024)))).toMatchObject({ duplicate: 10 })
  expect(store.writes).toEqual([2_000, 500, 4, 4, 2])
})

test('the topics that a projection has read are rewound; one that cannot be is told, with the remedy', async () => {
  const { journal } = await lost()
  const told: unknown[] = []
  const logger = { warn: (...line: unknown[]) => told.push(...line), error: (...line: unknown[]) => told.push(...line) }
  const rewind = (signal = never) =>
    rewindProjection('flows', {
      journal,
      topicPrefix: PREFIX,
      logger: logger as never,
      reason: 'the log store is new',
      signal,
    })
  await rewind()
  expect(told).toEqual([])

  const group = groupName(PREFIX, 'flows')
  const read = Promise.withResolvers<void>()
  const all = { group, topics: [APPLICATION_TOPIC], recordsMax: 10 }
  const subscription = await journal.subscribe(all, (batch) => batch.commit(1).then(read.resolve))
  await read.promise
  await subscription.close()
  await rewind()
  expect(await journal.positions(APPLICATION_TOPIC, group)).toMatchObject([{ committed: null }, { committed: null }])
  expect(told).toEqual([{ view: 'flows', topic: APPLICATION_TOPIC }, expect.stringContaining('is read again')])

  const stop = new AbortController()
  journal.positions = () => {
    stop.abort()
    return Promise.reject(new Error('no answer'))
  }
  await rewind(stop.signal)
  expect(told.at(-1)).toContain('`sluice views rebuild flows --from topics`')
})

test('a store that is older than the positions lacks the last entry that was stored', async () => {
  const journal = createMemoryJournal({ clock: { now: () => 0 }, topics: entryTopics(1) })
  const bad = { key: null, value: '{', headers: {} }
  const records = [published(eventLog(0)), published(eventLog(1)), bad, published(eventLog(2))]
  await journal.append({ topic: EVENT_TOPIC, partition: 0, records })
  const stored = new Set([idOf(0), idOf(1)])
  const store = {
    get: async (_team: string, _kind: string, id: string) => (stored.has(id) ? ({} as never) : undefined),
  }
  const lacks = (since = '') =>
    lacksLastEntry('event-logs', { journal, store, topicPrefix: PREFIX, since, signal: never })
  expect(await lacks()).toBe(false)

  const read = Promise.withResolvers<void>()
  const all = { group: groupName(PREFIX, 'event-logs'), topics: [EVENT_TOPIC], recordsMax: 10 }
  const subscription = await journal.subscribe(all, (batch) => batch.commit(3).then(read.resolve))
  await read.promise
  await subscription.close()
  expect(await lacks()).toBe(false)
  stored.delete(idOf(1))
  expect(await lacks()).toBe(true)
  expect(await lacks('2027-01-01')).toBe(false)
})

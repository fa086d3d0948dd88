import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PartitionBatch } from '../../../../../shared/journal/journal.ts'
import type { SqliteJournal } from '../../../../../shared/journal/sqlite/sqlite-journal.ts'
import { eventually } from '../../../../support/eventually.ts'
import {
  createJournalFolder,
  createTopic,
  type JournalFolder,
  positionAfter,
  recordsOf,
  scanAll,
  valuesOf,
} from '../../../../support/journal-fixture.ts'

let folder: JournalFolder
let journal: SqliteJournal

beforeEach(async () => {
  folder = await createJournalFolder()
  journal = await folder.open()
})

afterEach(() => folder.remove())

describe('a partition that changes hands', () => {
  test('waits for the handler of the one before, which is told to stop', async () => {
    const [topic, sentinel] = [await createTopic(journal, 'topic', 2), await createTopic(journal, 'sentinel')]
    const held: PartitionBatch[] = []
    const letGo = Promise.withResolvers<void>()
    for (const partition of [0, 1]) await journal.append({ topic, partition, records: recordsOf('a', 1) })
    await journal.subscribe({ group: 'group', topics: [topic], recordsMax: 10 }, async (batch) => {
      held.push(batch)
      await letGo.promise
      await batch.commit(positionAfter(batch))
    })
    await eventually(() => held.length === 2)

    const received: string[] = []
    await journal.subscribe({ group: 'group', topics: [topic, sentinel], recordsMax: 10 }, async (batch) => {
      received.push(`${batch.topic}/${batch.partition}/${valuesOf(batch.records)}`)
    })
    await journal.append({ topic: sentinel, partition: 0, records: recordsOf('s', 1) })
    await eventually(() => received.length > 0)
    expect(received).toEqual(['sentinel/0/s0'])
    expect(held.map(({ partition, signal }) => [partition, signal.aborted]).toSorted()).toEqual([
      [0, false],
      [1, true],
    ])

    letGo.resolve()
    await eventually(() => received.length === 2)
    // Told to stop, the first one could commit nothing more: the record is handed over again.
    expect(received[1]).toBe('topic/1/a0')
    const positions = await journal.positions(topic, 'group')
    expect(positions.map(({ committed }) => committed)).toEqual([1, null])
  })

  test('goes back to the first where the next one left before it came free', async () => {
    const topic = await createTopic(journal, 'topic', 2)
    const held: PartitionBatch[] = []
    const letGo = Promise.withResolvers<void>()
    await journal.append({ topic, partition: 1, records: recordsOf('a', 1) })
    await journal.subscribe({ group: 'group', topics: [topic], recordsMax: 10 }, async (batch) => {
      held.push(batch)
      await letGo.promise
    })
    await eventually(() => held.length === 1)
    let given = 0
    const options = { group: 'group', topics: [topic], recordsMax: 10 }
    const next = await journal.subscribe(options, async () => {
      given += 1
    })
    await eventually(() => held[0]?.signal.aborted ?? false)
    await next.close()
    letGo.resolve()
    await eventually(() => held.length === 2)
    expect(held[1]).toMatchObject({ partition: 1, signal: { aborted: false } })
    expect(given).toBe(0)
  })

  test('members may come and go in any order while others are still on the move', async () => {
    const topic = await createTopic(journal, 'topic', 6)
    const [busy, seen] = [new Set<number>(), new Set<string>()]
    let clashes = 0
    const join = () =>
      journal.subscribe({ group: 'group', topics: [topic], recordsMax: 2 }, async (batch) => {
        if (busy.has(batch.partition)) clashes += 1
        busy.add(batch.partition)
        await new Promise((resolve) => setImmediate(resolve))
        for (const value of valuesOf(batch.records)) seen.add(String(value))
        await batch.commit(positionAfter(batch))
        busy.delete(batch.partition)
      })
    const first = await join()
    let appended = 0
    for (let round = 0; round < 10; round++) {
      const [second, third] = await Promise.all([join(), join()])
      for (let partition = 0; partition < 6; partition++) {
        await journal.append({ topic, partition, records: recordsOf(`${round}/${partition}/`, 5) })
        appended += 5
      }
      await Promise.all([second.close(), third.close()])
    }
    await eventually(() => seen.size === appended)
    expect(clashes).toBe(0)
    await first.close()
  })
})

test('an append wakes the readers of the same journal at once, without the next look at the file', async () => {
  const quick = await folder.open({ pollMs: 1_000_000 })
  const topic = await createTopic(quick, 'topic')
  const [followed, handled]: string[][] = [[], []]
  await quick.follow(topic, (records) => void followed?.push(...valuesOf(records).map(String)))
  await quick.subscribe({ group: 'group', topics: [topic], recordsMax: 10 }, async ({ records }) => {
    handled?.push(...valuesOf(records).map(String))
  })
  for (let round = 1; round <= 3; round++) {
    await quick.append({ topic, partition: 0, records: recordsOf('a', 1) })
    await eventually(() => followed?.length === round && handled?.length === round)
  }
})

test('a follower that is closed while it reads gets nothing of the partitions after', async () => {
  const topic = await createTopic(journal, 'topic', 2)
  const seen: unknown[] = []
  const closed = Promise.withResolvers<void>()
  const follower = await journal.follow(topic, (records) => {
    seen.push(...valuesOf(records))
    closed.resolve(follower.close())
  })
  await Promise.all([0, 1].map((partition) => journal.append({ topic, partition, records: recordsOf('a', 1) })))
  await closed.promise
  expect(seen).toEqual(['a0'])
})

test('a handler that never waits for anything leaves the thread time for the rest', async () => {
  const topic = await createTopic(journal, 'topic')
  await journal.append({ topic, partition: 0, records: recordsOf('a', 2_000) })
  let handled = 0
  const stopped = Promise.withResolvers<number>()
  const subscription = await journal.subscribe({ group: 'group', topics: [topic], recordsMax: 1 }, async () => {
    handled += 1
    if (handled === 5) setImmediate(() => stopped.resolve(handled))
  })
  expect(await stopped.promise).toBeLessThan(20)
  await subscription.close()
})

test('reading leaves no transaction open behind it, whether a page ends by its records or by its bytes', async () => {
  const topic = await createTopic(journal, 'topic')
  const megabyte = { key: null, value: 'x'.repeat(1_000_000), headers: {} }
  for (let count = 0; count < 12; count++) await journal.append({ topic, partition: 0, records: [megabyte] })
  const checkpoint = () => {
    const other = new DatabaseSync(folder.file())
    const result = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
    other.close()
    return result
  }
  for await (const record of journal.scan(topic)) {
    if (record.offset < 2) expect(checkpoint()).toMatchObject({ busy: 0 })
  }
  const batches: PartitionBatch[] = []
  await journal.subscribe(
    { group: 'group', topics: [topic], recordsMax: 500 },
    async (batch) => void batches.push(batch),
  )
  await eventually(() => batches.flatMap(({ records }) => records).length === 12)
  expect(batches.length).toBeGreaterThan(1)
  expect(checkpoint()).toMatchObject({ busy: 0 })
  expect(await scanAll(journal, topic)).toHaveLength(12)
})

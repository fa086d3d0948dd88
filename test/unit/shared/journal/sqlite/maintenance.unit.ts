import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type NewRecord, PositionLostError } from '../../../../../shared/journal/journal.ts'
import { packRecords } from '../../../../../shared/journal/sqlite/record-codec.ts'
import type { SqliteJournal } from '../../../../../shared/journal/sqlite/sqlite-journal.ts'
import { openStore } from '../../../../../shared/journal/sqlite/store.ts'
import { eventually } from '../../../../support/eventually.ts'
import * as fc from '../../../../support/fast-check.ts'
import {
  bulkyRecords,
  createJournalFolder,
  type JournalFolder,
  positionAfter,
  recordOf,
  recordsOf,
  scanAll,
  valuesOf,
} from '../../../../support/journal-fixture.ts'

const DAY_MS = 86_400_000
const RETENTION_MS = 7 * DAY_MS
const NO_LIMIT = Number.MAX_SAFE_INTEGER

let folder: JournalFolder
let journal: SqliteJournal
let now: number

beforeEach(async () => {
  now = Date.UTC(2026, 0, 1)
  folder = await createJournalFolder()
  journal = await folder.open({ clock: { now: () => now } })
  await journal.createTopics([
    { name: 'logs', role: 'event-logs', partitions: 2, cleanup: 'delete', retentionMs: RETENTION_MS },
    { name: 'registry', role: 'registry', partitions: 1, cleanup: 'compact', retentionMs: null },
  ])
})

afterEach(() => folder.remove())

const append = (topic: string, records: readonly NewRecord[], partition = 0) =>
  journal.append({ topic, partition, records })

/** Reads all that stands in the topic as the group and commits the position asked for. */
const readAs = async (group: string, count: number, commit?: number): Promise<void> => {
  let seen = 0
  const subscription = await journal.subscribe({ group, topics: ['logs'], recordsMax: 500 }, async (batch) => {
    seen += batch.records.length
    await batch.commit(commit ?? positionAfter(batch))
  })
  await eventually(() => seen >= count)
  await subscription.close()
}

const firstOffset = async (partition = 0) => (await journal.positions('logs', 'none'))[partition]?.firstOffset

/** The bytes of each partition as the file counts them, beside the sum of its batches. */
const bytesKept = (): { stated: unknown; counted: unknown }[] => {
  const database = new DatabaseSync(folder.file())
  const rows = database
    .prepare(
      `SELECT bytes AS stated, (
         SELECT ifnull(sum(octet_length(content)), 0) FROM batches WHERE batches.id / 1099511627776 = partitions.id
       ) AS counted FROM partitions`,
    )
    .all()
  database.close()
  return rows as { stated: unknown; counted: unknown }[]
}

describe('retention', () => {
  test('records older than the topic keeps them go, oldest first, with their bytes', async () => {
    await append('logs', recordsOf('old', 1_300))
    now += RETENTION_MS
    await append('logs', recordsOf('new', 10))
    const report = await journal.maintain({ now: now + 1, retentionBytesMax: NO_LIMIT })
    expect(report).toEqual({ expired: 1_300, compacted: 0, held: [] })
    expect(valuesOf(await scanAll(journal, 'logs'))).toEqual(recordsOf('new', 10).map(({ value }) => value))
    expect(await firstOffset()).toBe(1_300)
    for (const { stated, counted } of bytesKept()) expect(stated).toBe(counted)
  })

  test('a record that is larger than a step goes, too', async () => {
    await append('logs', bulkyRecords(1, 5 * 1024 * 1024))
    await append('logs', recordsOf('old', 1))
    now += RETENTION_MS + 1
    expect(await journal.maintain({ now, retentionBytesMax: NO_LIMIT })).toMatchObject({ expired: 2 })
  })

  test('records exactly as old as the topic keeps them stay', async () => {
    await append('logs', recordsOf('a', 1))
    expect(await journal.maintain({ now: now + RETENTION_MS, retentionBytesMax: NO_LIMIT })).toMatchObject({
      expired: 0,
    })
  })

  test('a batch of a clock that was ahead for a moment goes with the next one, and not before it', async () => {
    await append('logs', recordsOf('a', 1))
    const clock = now
    now += 1_000 * DAY_MS
    await append('logs', recordsOf('ahead', 1))
    now = clock + DAY_MS
    await append('logs', recordsOf('b', 1))
    await journal.maintain({ now: now + RETENTION_MS, retentionBytesMax: NO_LIMIT })
    expect(valuesOf(await scanAll(journal, 'logs'))).toEqual(['ahead0', 'b0'])
    await journal.maintain({ now: now + RETENTION_MS + 1, retentionBytesMax: NO_LIMIT })
    expect(await scanAll(journal, 'logs')).toEqual([])
  })

  test('beyond the bytes of a topic the oldest go, partition by partition with an equal share', async () => {
    for (const partition of [0, 1]) {
      for (let batch = 0; batch < 20; batch++) await append('logs', [recordOf('x'.repeat(1_000))], partition)
    }
    const [first] = bytesKept()
    await journal.maintain({ now, retentionBytesMax: Number(first?.stated) })
    expect([await firstOffset(0), await firstOffset(1)]).toEqual([10, 10])
  })

  test('a topic may have fewer bytes than the others, and not more', async () => {
    for (let batch = 0; batch < 40; batch++) await append('logs', [recordOf('x'.repeat(1_000))])
    const half = Number(bytesKept()[0]?.stated) / 2
    await journal.maintain({ now, retentionBytesMax: NO_LIMIT, topicBytesMax: { other: 0, logs: 2 * half } })
    expect(await firstOffset()).toBe(20)
    await journal.maintain({ now, retentionBytesMax: half, topicBytesMax: { logs: NO_LIMIT } })
    expect(await firstOffset()).toBe(30)
  })

  test('offsets go on where they were, also when nothing is left', async () => {
    await append('logs', recordsOf('a', 3))
    await journal.maintain({ now: now + RETENTION_MS + 1, retentionBytesMax: NO_LIMIT })
    await append('logs', recordsOf('b', 1))
    expect((await scanAll(journal, 'logs')).map(({ offset }) => offset)).toEqual([3])
  })

  test('a group that joins later begins with the first record that is left', async () => {
    await append('logs', recordsOf('old', 3))
    await journal.maintain({ now: now + RETENTION_MS + 1, retentionBytesMax: NO_LIMIT })
    await append('logs', recordsOf('new', 2))
    const seen: unknown[] = []
    const subscription = await journal.subscribe(
      { group: 'later', topics: ['logs'], recordsMax: 500 },
      async (batch) => {
        seen.push(...valuesOf(batch.records))
      },
    )
    await Promise.race([subscription.done, eventually(() => seen.length > 0)])
    expect(seen).toEqual(['new0', 'new1'])
  })

  test('what a group has not committed stays, and the report names who holds it', async () => {
    await append('logs', recordsOf('a', 4))
    await append('logs', recordsOf('b', 6))
    await readAs('slow', 10, 7)
    await readAs('fast', 10)
    const report = await journal.maintain({ now: now + RETENTION_MS + 1, retentionBytesMax: 0 })
    expect(report).toEqual({ expired: 4, compacted: 0, held: [{ topic: 'logs', partition: 0, groups: ['slow'] }] })
    expect(await firstOffset()).toBe(4)
  })

  test('a group holds records from the moment it subscribes, before it commits anything', async () => {
    await append('logs', recordsOf('a', 10))
    const subscription = await journal.subscribe({ group: 'new', topics: ['logs'], recordsMax: 10 }, async () => {})
    await subscription.close()
    expect(await journal.maintain({ now: now + RETENTION_MS + 1, retentionBytesMax: 0 })).toMatchObject({ expired: 0 })
    expect((await journal.positions('logs', 'new'))[0]?.committed).toBeNull()
  })

  test('a group whose position lies before the first record kept is told so, rather than going on', async () => {
    await append('logs', recordsOf('a', 10))
    await readAs('group', 10)
    await journal.maintain({ now: now + RETENTION_MS + 1, retentionBytesMax: 0 })
    await append('logs', recordsOf('b', 1))
    await readAs('group', 1, 3)
    const handled: unknown[] = []
    const options = { group: 'group', topics: ['logs'], recordsMax: 10 }
    const subscription = await journal.subscribe(options, async (batch) => void handled.push(batch))
    await expect(subscription.done).rejects.toBeInstanceOf(PositionLostError)
    await expect(subscription.done).rejects.toThrow(
      'the group stands at 3, but the first record kept is 10 (docs/runbooks/SluiceViewHalted.md',
    )
    expect(handled).toEqual([])
  })

  test('a position beyond the end cannot be committed', async () => {
    await append('logs', recordsOf('a', 1))
    const refused = Promise.withResolvers<unknown>()
    await journal.subscribe({ group: 'group', topics: ['logs'], recordsMax: 10 }, async (batch) => {
      await batch.commit(2).catch(refused.resolve)
    })
    expect(await refused.promise).toBeInstanceOf(RangeError)
  })
})

describe('compaction', () => {
  const put = (key: string, value: string | null) => append('registry', [{ key, value, headers: {} }])
  const kept = async () =>
    (await scanAll(journal, 'registry')).map(({ offset, key, value }) => [offset, `${key}`, value && `${value}`])

  test('the last record of each key stays where it stood', async () => {
    await put('a', '1')
    await put('b', '2')
    await put('a', '3')
    await append('registry', [recordOf('no key')])
    await put('b', '4')
    const report = await journal.maintain({ now, retentionBytesMax: NO_LIMIT })
    expect(report).toMatchObject({ compacted: 2 })
    expect(await kept()).toEqual([
      [2, 'a', '3'],
      [3, 'null', 'no key'],
      [4, 'b', '4'],
    ])
    for (const { stated, counted } of bytesKept()) expect(stated).toBe(counted)
  })

  test('a key as text and the same key as bytes are one key', async () => {
    await put('ü', '1')
    await append('registry', [{ key: Buffer.from('ü'), value: '2', headers: {} }])
    await journal.maintain({ now, retentionBytesMax: NO_LIMIT })
    expect(await kept()).toEqual([[1, 'ü', '2']])
  })

  test('a deletion goes when a day has passed and what it deletes went before, but never as the last record', async () => {
    await put('a', '1')
    await put('a', null)
    await put('b', '2')
    const maintainAfter = (ms: number) => journal.maintain({ now: now + ms, retentionBytesMax: NO_LIMIT })
    await maintainAfter(2 * DAY_MS)
    expect(await kept()).toEqual([
      [1, 'a', null],
      [2, 'b', '2'],
    ])
    await maintainAfter(DAY_MS)
    expect(await kept()).toHaveLength(2)
    await maintainAfter(DAY_MS + 1)
    expect(await kept()).toEqual([[2, 'b', '2']])

    await put('b', null)
    await maintainAfter(2 * DAY_MS)
    await maintainAfter(2 * DAY_MS)
    expect(await kept()).toEqual([[3, 'b', null]])
  })

  test('neither age nor bytes remove anything from a compacted topic', async () => {
    await put('a', '1')
    await journal.maintain({ now: now + 1_000 * DAY_MS, retentionBytesMax: 0 })
    expect(await kept()).toHaveLength(1)
  })

  test('whatever is written and compacted when: folding the topic gives what was written last', async () => {
    type Step = readonly [key: string, value: string | null] | 'compact' | 'a day passes'
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(fc.string(), { nil: null })) },
      { weight: 2, arbitrary: fc.constant('compact' as const) },
      { weight: 1, arbitrary: fc.constant('a day passes' as const) },
    )
    let topics = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const topic = `compacted-${topics++}`
        await journal.createTopics([
          { name: topic, role: 'registry', partitions: 1, cleanup: 'compact', retentionMs: null },
        ])
        const model = new Map<string, string>()
        for (const one of steps) {
          if (one === 'compact') await journal.maintain({ now, retentionBytesMax: NO_LIMIT })
          else if (one === 'a day passes') now += DAY_MS + 1
          else {
            const [key, value] = one
            await append(topic, [{ key, value, headers: {} }])
            if (value === null) model.delete(key)
            else model.set(key, Buffer.from(value).toString())
          }
        }
        const folded = new Map<string, string>()
        for (const { key, value } of await scanAll(journal, topic)) {
          if (value === null) folded.delete(`${key}`)
          else folded.set(`${key}`, `${value}`)
        }
        expect(folded).toEqual(model)
      }),
      { numRuns: 60 },
    )
  })
})

test('appends are confirmed while maintenance runs, and a journal closed meanwhile ends it early', async () => {
  await append('logs', bulkyRecords(20_000, 1_000))
  now += RETENTION_MS + 1
  const maintained = journal.maintain({ now, retentionBytesMax: NO_LIMIT })
  await append('logs', recordsOf('new', 1))
  await journal.close()
  const { expired } = await maintained
  expect(expired).toBeGreaterThan(0)
  expect(expired).toBeLessThan(20_000)
  const values = valuesOf(await scanAll(await folder.open(), 'logs'))
  expect(values).toHaveLength(20_001 - expired)
  expect(values.at(-1)).toBe('new0')
})

test('a step takes no more than a limited number of small records', async () => {
  const { calls, close } = openStore({ file: folder.file() })
  await Promise.all(Array.from({ length: 501 }, () => append('logs', recordsOf('a', 1))))
  const request = { topic: 'logs', partition: 0, now: now + RETENTION_MS + 1, bytesMax: NO_LIMIT }
  expect(calls.retain(request)).toMatchObject({ removed: 500, more: true })
  expect(calls.retain(request)).toMatchObject({ removed: 1 })

  const records = Array.from({ length: 1_002 }, () => ({ ...recordOf('value'), key: 'key' }))
  await calls.append({ topic: 'registry', partition: 0, batches: packRecords(records) }, now)
  const [partition] = calls.partitions('registry')
  if (partition === undefined) throw new Error('the topic has no partition')
  const compacting = calls.compact(partition, now)
  expect(calls.read({ partitionId: partition.id, position: 0, recordsMax: 2_000 }).batches).toHaveLength(3)
  expect(await compacting).toBe(1_001)
  close()
})

test('a partition that cannot be cleaned up keeps no other from it', async () => {
  for (const partition of [0, 1]) await append('logs', recordsOf('a', 1), partition)
  const database = new DatabaseSync(folder.file())
  const first = "new.id = (SELECT min(id) FROM partitions WHERE topic = 'logs')"
  database.exec(
    `CREATE TRIGGER kept BEFORE UPDATE ON partitions WHEN ${first} BEGIN SELECT raise(ABORT, 'a damaged page'); END`,
  )
  database.close()
  now += RETENTION_MS + 1
  await expect(journal.maintain({ now, retentionBytesMax: NO_LIMIT })).rejects.toThrow('a damaged page')
  expect([await firstOffset(0), await firstOffset(1)]).toEqual([0, 1])
})

test('maintenance that is called off ends with its step, and the next one goes on', async () => {
  await append('logs', bulkyRecords(20_000, 1_000))
  now += RETENTION_MS + 1
  const calledOff = { now, retentionBytesMax: NO_LIMIT, signal: AbortSignal.abort() }
  expect(await journal.maintain(calledOff)).toMatchObject({ expired: 0 })
  const stopping = new AbortController()
  const maintained = journal.maintain({ now, retentionBytesMax: NO_LIMIT, signal: stopping.signal })
  await append('logs', recordsOf('new', 1))
  stopping.abort()
  const { expired } = await maintained
  expect(expired).toBeLessThan(20_000)
  expect(await journal.maintain({ now, retentionBytesMax: NO_LIMIT })).toMatchObject({ expired: 20_000 - expired })
  expect(valuesOf(await scanAll(journal, 'logs'))).toEqual(['new0'])
})

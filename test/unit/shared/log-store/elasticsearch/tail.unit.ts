import { describe, expect, test } from 'vitest'
import {
  type Checkpoints,
  createCheckpoints,
  type Look,
  type Origin,
} from '../../../../../shared/log-store/elasticsearch/checkpoints.ts'
import { ElasticsearchError } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { createTail } from '../../../../../shared/log-store/elasticsearch/tail.ts'
import type { EntryFilter } from '../../../../../shared/log-store/log-store.ts'
import { EVERYTHING } from '../../../../integration/elasticsearch-support.ts'
import { type ServedShard, serveShards } from '../../../../support/shard-server.ts'

const names = indexNames('test')
const shardOf = (kind: 'event' | 'application', day: string, uuid: string, end: number): ServedShard => ({
  index: names.day(kind, day),
  uuid,
  end,
  state: 'STARTED',
})

/** A tail of two days with entries, whose looks at the shards are not old, unless a test shares one. */
function tailOfTwoDays() {
  const old = shardOf('event', '2026-01-30', 'uuid-a', 9)
  const today = shardOf('event', '2026-01-31', 'uuid-b', 4)
  const { connection, shards, asked } = serveShards(old, today)
  const { now } = createCheckpoints(connection, names)
  let recent = now
  const checkpoints: Checkpoints = { now, recent: () => recent() }
  /** From now on, tails that go on share the present look. */
  const shareLook = async (): Promise<void> => {
    const look = await now()
    recent = async () => look
  }
  const tail = createTail({ connection, checkpoints })
  const read = async (cursor: string | null, filter: EntryFilter = EVERYTHING) => {
    const page = await tail(filter, cursor, 100)
    return { ids: page.entries.map(({ entry }) => entry.id), cursor: page.cursor }
  }
  return { old, today, shards, asked, read, shareLook }
}

test.each(['UNASSIGNED', 'INITIALIZING', 'CLOSED'] as const)(
  'a shard that is %s for a while is not read again from its beginning, and what it took since is not missed',
  async (state) => {
    const { old, today, read } = tailOfTwoDays()
    const begun = await read(null)
    old.state = state
    today.end = 5
    const without = await read(begun.cursor)
    expect(without.ids).toEqual([`${today.index}#5`])
    const still = await read(without.cursor)
    expect(still.ids).toEqual([])
    old.state = 'STARTED'
    old.end = 10
    expect((await read(still.cursor)).ids).toEqual([`${old.index}#10`])
  },
)

test.each(['UNASSIGNED', 'INITIALIZING'] as const)(
  'a tail does not begin while a shard is %s: where it ends cannot be told',
  async (state) => {
    const { old, read } = tailOfTwoDays()
    old.state = state
    const failure = await read(null).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ElasticsearchError)
    expect(failure).toMatchObject({ status: 503 })
    old.state = 'STARTED'
    const { ids, cursor } = await read(null)
    expect([...ids, ...(await read(cursor)).ids]).toEqual([])
  },
)

test('a shard that is back soon is waited for', async () => {
  const { old, asked, read } = tailOfTwoDays()
  old.state = 'INITIALIZING'
  const beginning = read(null)
  while (asked.stats === 0) await new Promise(setImmediate)
  old.state = 'STARTED'
  expect((await read((await beginning).cursor)).ids).toEqual([])
})

test('a reader who leaves while the shards do not answer waits for nothing', async () => {
  const never = new Promise<Look>(() => undefined)
  const { connection } = serveShards()
  const tail = createTail({ connection, checkpoints: { now: () => never, recent: () => never } })
  const reason = new Error('nobody waits')
  await expect(tail(EVERYTHING, null, 100, AbortSignal.abort(reason))).rejects.toBe(reason)
  for (const cursor of [null, 'ea~uuid-a0.9']) {
    const leaving = new AbortController()
    const read = tail(EVERYTHING, cursor, 100, leaving.signal)
    leaving.abort(reason)
    await expect(read).rejects.toBe(reason)
  }
})

test('entries that a search has no time to find are read later', async () => {
  const shard = shardOf('event', '2026-01-31', 'uuid-a', 0)
  const { connection, endEarly } = serveShards(shard)
  const { now } = createCheckpoints(connection, names)
  const tail = createTail({ connection, checkpoints: { now, recent: now } })
  const { cursor } = await tail(EVERYTHING, null, 100)
  shard.end = 1
  endEarly(true)
  await expect(tail(EVERYTHING, cursor, 100)).rejects.toMatchObject({ status: 429 })
  endEarly(false)
  expect((await tail(EVERYTHING, cursor, 100)).entries.map(({ entry }) => entry.id)).toEqual([`${shard.index}#1`])
})

test('a shard that turns its search away for a moment is asked again', async () => {
  const shard = shardOf('event', '2026-01-31', 'uuid-a', 0)
  const { connection, asked, endEarly } = serveShards(shard)
  const { now } = createCheckpoints(connection, names)
  const tail = createTail({ connection, checkpoints: { now, recent: now } })
  const { cursor } = await tail(EVERYTHING, null, 100)
  shard.end = 1
  endEarly(true)
  const reading = tail(EVERYTHING, cursor, 100)
  while (asked.search === 0) await new Promise(setImmediate)
  endEarly(false)
  expect((await reading).entries.map(({ entry }) => entry.id)).toEqual([`${shard.index}#1`])
})

test('a closed day keeps no tail from beginning', async () => {
  const { old, today, read } = tailOfTwoDays()
  old.state = 'CLOSED'
  const { cursor } = await read(null)
  today.end = 5
  expect((await read(cursor)).ids).toEqual([`${today.index}#5`])
})

test('a kind that is followed from now on has to be there as well', async () => {
  const { shards, read } = tailOfTwoDays()
  const other = shardOf('application', '2026-01-31', 'uuid-c', 20)
  other.state = 'UNASSIGNED'
  shards.push(other)
  const { cursor } = await read(null, { ...EVERYTHING, kinds: ['event'] })
  await expect(read(cursor)).rejects.toThrow(ElasticsearchError)
  other.state = 'STARTED'
  expect((await read(cursor)).ids).toEqual([])
})

test('a shard that has lost its last entries, as after the restore of a snapshot, shows those that it takes in their place', async () => {
  const { today, read } = tailOfTwoDays()
  const begun = await read(null)
  today.end = 2
  const restored = await read(begun.cursor)
  today.end = 6
  expect([restored.ids, (await read(restored.cursor)).ids]).toEqual([
    [],
    [3, 4, 5, 6].map((n) => `${today.index}#${n}`),
  ])
})

test('a new primary that does not know yet how far its copies are shows nothing twice', async () => {
  const { today, read } = tailOfTwoDays()
  const begun = await read(null)
  Object.assign(today, { end: 2, unconfirmed: 2 })
  const behind = await read(begun.cursor)
  Object.assign(today, { end: 5, unconfirmed: 0 })
  expect([behind.ids, (await read(behind.cursor)).ids]).toEqual([[], [`${today.index}#5`]])
})

test('a look that is older than the cursor shows nothing twice', async () => {
  const { today, read, shareLook } = tailOfTwoDays()
  await shareLook()
  today.end = 6
  const begun = await read(null)
  const goesOn = await read(begun.cursor)
  expect([...goesOn.ids, ...(await read(goesOn.cursor)).ids]).toEqual([])
})

test('a removed day leaves the cursor; a day made since is read from its beginning', async () => {
  const { old, shards, read } = tailOfTwoDays()
  const begun = await read(null)
  expect(begun.cursor).toContain('uuid-a')
  shards.splice(shards.indexOf(old), 1, shardOf('event', '2026-02-01', 'uuid-d', 1))
  const { ids, cursor } = await read(begun.cursor)
  expect(ids).toEqual(['test-event-logs-v1-2026.02.01#0', 'test-event-logs-v1-2026.02.01#1'])
  expect(cursor).not.toContain('uuid-a')
})

test('a reader of both kinds who was away for long catches up day by day', async () => {
  const { connection, shards } = serveShards()
  const { now } = createCheckpoints(connection, names)
  const tail = createTail({ connection, checkpoints: { now, recent: now } })
  let { cursor } = await tail(EVERYTHING, null, 100)
  const days = ['01', '02', '03', '04', '05', '06'].map((day) => `2026-01-${day}`)
  for (const kind of ['application', 'event'] as const)
    shards.push(...days.map((day) => shardOf(kind, day, `${kind.slice(0, 3)}-${day.slice(-2)}`, 0)))
  const read: string[] = []
  for (let more = true; more; ) {
    const page = await tail(EVERYTHING, cursor, 100)
    read.push(...page.entries.map(({ entry }) => entry.id.slice(-'2026.01.01#0'.length, -2)).toSorted())
    cursor = page.cursor
    more = page.more
  }
  expect(read).toEqual(days.flatMap((day) => [day, day]).map((day) => day.replaceAll('-', '.')))
})

test('no shard waits for ever for others that go on growing', async () => {
  const growing = Array.from({ length: 12 }, (_, number) => {
    const shard = shardOf('event', '2026-01-31', `u-${number}`.padEnd(6, '-'), 0)
    return { ...shard, index: shard.index.replace('-v1-', `-v1.${number + 2}-`) }
  })
  const { connection } = serveShards(...growing)
  const { now } = createCheckpoints(connection, names)
  const tail = createTail({ connection, checkpoints: { now, recent: now } })
  let { cursor } = await tail(EVERYTHING, null, 100)
  const read = new Set<string>()
  for (let round = 0; round < 3; round++) {
    for (const shard of growing) shard.end += 1
    const page = await tail(EVERYTHING, cursor, 100)
    for (const { entry } of page.entries) read.add(entry.id.split('#')[0] ?? '')
    cursor = page.cursor
  }
  expect(read.size).toBe(growing.length)
})

test('a day made since the shared look is new to nobody who began after it was made', async () => {
  const { shards, read, shareLook } = tailOfTwoDays()
  await shareLook()
  const made = shardOf('event', '2026-02-01', 'uuid-d', 1)
  shards.push(made)
  const begun = await read(null)
  const goesOn = await read(begun.cursor)
  await shareLook()
  expect([...goesOn.ids, ...(await read(goesOn.cursor)).ids]).toEqual([])
  made.end = 2
  await shareLook()
  expect((await read(goesOn.cursor)).ids).toEqual([`${made.index}#2`])
})

describe('a day that was rebuilt', () => {
  const rebuilt = (index: string, end: number, origin: Origin): ServedShard => ({
    ...{ index: names.nextGeneration(index, index), uuid: 'uuid-e', end, state: 'STARTED' },
    origin,
  })
  const numbersOf = (ids: readonly string[]): number[] => ids.map((id) => Number(id.split('#')[1]))

  test('goes on for a reader who saw all of it, and for one who missed the last ones', async () => {
    const { old, today, shards, read } = tailOfTwoDays()
    const begun = await read(null)
    old.end = 12
    // Two numbers were no documents, so that ten of thirteen are left, and one more came since.
    shards.splice(shards.indexOf(old), 1, rebuilt(old.index, 11, { key: 'uuid-a0', end: 12, copiedEnd: 10 }))
    const { ids, cursor } = await read(begun.cursor)
    expect(numbersOf(ids)).toEqual([8, 9, 10, 11])
    expect((await read(cursor)).ids).toEqual([])
    today.end = 5
    expect((await read(cursor)).ids).toEqual([`${today.index}#5`])
  })

  test('that is UNASSIGNED for a while is not read again from its beginning', async () => {
    const { old, shards, read } = tailOfTwoDays()
    const begun = await read(null)
    const day = rebuilt(old.index, 9, { key: 'uuid-a0', end: 9, copiedEnd: 9 })
    day.state = 'UNASSIGNED'
    shards.splice(shards.indexOf(old), 1, day)
    const without = await read(begun.cursor)
    expect(without.ids).toEqual([])
    day.state = 'STARTED'
    day.end = 10
    expect(numbersOf((await read(without.cursor)).ids)).toEqual([10])
  })

  test('is new to nobody who begins', async () => {
    const { old, shards, read } = tailOfTwoDays()
    shards.splice(shards.indexOf(old), 1, rebuilt(old.index, 11, { key: 'uuid-a0', end: 12, copiedEnd: 10 }))
    const { ids, cursor } = await read(null)
    expect([...ids, ...(await read(cursor)).ids]).toEqual([])
  })

  test('has not been read when its index went between the look and the search', async () => {
    const { old, shards, read } = tailOfTwoDays()
    const begun = await read(null)
    shards.splice(shards.indexOf(old), 1, { ...old, end: 12, goes: true })
    const without = await read(begun.cursor)
    expect(without.ids).toEqual([])
    shards.push(rebuilt(old.index, 12, { key: 'uuid-a0', end: 12, copiedEnd: 12 }))
    expect(numbersOf((await read(without.cursor)).ids)).toEqual([10, 11, 12])
  })
})

import { expect, test } from 'vitest'
import { DAY_MS, timestampOf } from '../../../../../shared/contract/timestamp.ts'
import { createCheckpoints } from '../../../../../shared/log-store/elasticsearch/checkpoints.ts'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { serveShards } from '../../../../support/shard-server.ts'

const names = indexNames('test')
const INDEX = names.day('event', '2026-01-31')

function checkpointsOfOneShard() {
  const shard = { index: INDEX, uuid: 'Xy12_-', end: -1, state: 'STARTED' as const }
  const server = serveShards(shard)
  const write = (): void => {
    shard.end += 1
  }
  return { ...server, write, checkpoints: createCheckpoints(server.connection, names) }
}

test('what stands at or below a checkpoint has been made visible, at the present end as well', async () => {
  const { checkpoints, write, visible } = checkpointsOfOneShard()
  write()
  expect((await checkpoints.now()).streams).toMatchObject([{ end: 0 }])
  expect(visible.get(INDEX)).toBe(0)
})

test('what a copy of the shard does not show yet is not taken for visible', async () => {
  const { checkpoints, write, loseRefreshes } = checkpointsOfOneShard()
  write()
  loseRefreshes(1)
  for (let round = 0; round < 2; round++) await expect(checkpoints.now()).rejects.toMatchObject({ status: 503 })
  loseRefreshes(0)
  expect((await checkpoints.now()).streams).toMatchObject([{ end: 0 }])
})

test('the present end is read after the call, also while another look is under way', async () => {
  const { checkpoints, write, asked } = checkpointsOfOneShard()
  write()
  const before = checkpoints.now()
  while (asked.stats === 0) await new Promise(setImmediate)
  write()
  const after = checkpoints.now()
  expect((await before).streams).toMatchObject([{ end: 0 }])
  expect((await after).streams).toMatchObject([{ end: 1 }])
})

test('many who ask for the present end at once cost no more than two looks', async () => {
  const { checkpoints, write, asked } = checkpointsOfOneShard()
  write()
  const first = checkpoints.now()
  await new Promise(setImmediate)
  await Promise.all([first, ...Array.from({ length: 50 }, () => checkpoints.now())])
  expect(asked).toEqual({ settings: 2, stats: 2, refresh: 1, mapping: 0, search: 0 })
})

test('many who follow share a look for a while', async () => {
  const { checkpoints, write, asked } = checkpointsOfOneShard()
  write()
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 50 }, () => checkpoints.recent()))
  }
  expect(asked).toEqual({ settings: 1, stats: 1, refresh: 1, mapping: 0, search: 0 })
})

test('a look that failed is told to all who waited for it, and is not remembered', async () => {
  const { checkpoints, fail } = checkpointsOfOneShard()
  fail(true)
  const both = await Promise.allSettled([checkpoints.now(), checkpoints.recent()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fail(false)
  expect((await checkpoints.recent()).streams).toHaveLength(1)
})

test('shards that do not tell how far they have come are named, and whether somebody closed them', async () => {
  const states = ['STARTED', 'INITIALIZING', 'UNASSIGNED', 'CLOSED'] as const
  const { connection } = serveShards(
    ...states.map((state, at) => ({ index: `${INDEX}${at}`, uuid: `uuid-${at}`, end: 7, state })),
  )
  const { streams, silent } = await createCheckpoints(connection, names).now()
  expect(streams).toMatchObject([{ key: 'uuid-00', end: 7 }])
  expect(silent).toMatchObject([
    { key: 'uuid-10', closed: false },
    { key: 'uuid-20', closed: false },
    { key: 'uuid-30', closed: true },
  ])
})

test('the origins of a rebuilt index are read once', async () => {
  const origin = { key: 'uuid-a0', end: 9, copiedEnd: 7 }
  const rebuilt = {
    index: names.nextGeneration(INDEX, INDEX),
    uuid: 'uuid-b',
    end: 8,
    state: 'STARTED' as const,
    origin,
  }
  const { connection, asked } = serveShards(rebuilt)
  const checkpoints = createCheckpoints(connection, names)
  for (let look = 0; look < 3; look++) expect((await checkpoints.now()).streams).toMatchObject([{ end: 8, origin }])
  expect(asked.mapping).toBe(1)
})

test('more days than the line of a request can name are made visible, and the origins of all of them read', async () => {
  const days = Array.from({ length: 200 }, (_, day) =>
    timestampOf(Date.parse('2026-01-31') + day * DAY_MS).slice(0, 10),
  )
  const origin = { key: 'uuid-a0', end: 9, copiedEnd: 7 }
  const kept = days.map((day, at) => ({ index: names.day('event', day), uuid: `${at}`.padStart(6, 'e'), end: 8 }))
  const rebuilt = days.map((day, at) => {
    const index = names.day('application', day)
    return { index: names.nextGeneration(index, index), uuid: `${at}`.padStart(6, 'a'), end: 8, origin }
  })
  const shards = [...kept, ...rebuilt].map((shard) => ({ ...shard, state: 'STARTED' as const }))
  const { connection, visible } = serveShards(...shards)
  const { streams } = await createCheckpoints(connection, names).now()
  expect(visible.size).toBe(400)
  expect(streams.filter((stream) => stream.origin?.key === 'uuid-a0')).toHaveLength(200)
})

import { expect, test } from '@jest/globals'
import { createCheckpoints } from '../../../../../shared/log-store/elasticsearch/checkpoints.ts'
import type { Connection, ElasticsearchRequest } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'

const names = indexNames('test')
const INDEX = names.day('event', '2026-01-31')

/** Checkpoints of one shard on a server that takes `write()`s and answers a turn of the event loop later. */
function checkpointsOfOneShard() {
  let end = -1
  let visible = -1
  let failing = false
  const asked = { stats: 0, refresh: 0 }
  const connection: Connection = {
    async send<Answer>({ path }: ElasticsearchRequest) {
      const isStats = path.includes('/_stats')
      asked[isStats ? 'stats' : 'refresh'] += 1
      if (!isStats) visible = end
      const shards = { 0: [{ routing: { primary: true }, seq_no: { global_checkpoint: end } }] }
      await new Promise(setImmediate)
      if (failing) throw new Error('down')
      return (isStats ? { indices: { [INDEX]: { uuid: 'Xy12_-abcdefghijklmnop', shards } } } : {}) as Answer
    },
    close: async () => undefined,
  }
  return {
    checkpoints: createCheckpoints(connection, names),
    asked,
    write: () => ++end,
    visible: () => visible,
    fail: (on: boolean) => {
      failing = on
    },
  }
}

test('what stands at or below a checkpoint has been made visible, at the present end as well', async () => {
  const { checkpoints, write, visible } = checkpointsOfOneShard()
  write()
  expect(await checkpoints.now()).toMatchObject([{ end: 0 }])
  expect(visible()).toBe(0)
})

test('the present end is read after the call, also while another look is under way', async () => {
  const { checkpoints, write } = checkpointsOfOneShard()
  write()
  const before = checkpoints.now()
  await new Promise(setImmediate)
  write()
  const after = checkpoints.now()
  expect(await before).toMatchObject([{ end: 0 }])
  expect(await after).toMatchObject([{ end: 1 }])
})

test('many who ask for the present end at once cost no more than two looks', async () => {
  const { checkpoints, write, asked } = checkpointsOfOneShard()
  write()
  const first = checkpoints.now()
  await new Promise(setImmediate)
  await Promise.all([first, ...Array.from({ length: 50 }, () => checkpoints.now())])
  expect(asked).toEqual({ stats: 2, refresh: 1 })
})

test('many who follow share a look for a while', async () => {
  const { checkpoints, write, asked } = checkpointsOfOneShard()
  write()
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 50 }, () => checkpoints.recent()))
  }
  expect(asked).toEqual({ stats: 1, refresh: 1 })
})

test('a look that failed is told to all who waited for it, and is not remembered', async () => {
  const { checkpoints, fail } = checkpointsOfOneShard()
  fail(true)
  const both = await Promise.allSettled([checkpoints.now(), checkpoints.recent()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fail(false)
  expect(await checkpoints.recent()).toHaveLength(1)
})

import { expect, test } from 'vitest'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { createShardReport } from '../../../../../shared/log-store/elasticsearch/shard-report.ts'
import { createMetrics } from '../../../../../shared/runtime/metrics.ts'

test('shards are counted, and the fullest ones told of', async () => {
  const metrics = createMetrics()
  let shards: object[] = [
    { docs: '10', store: '9000' },
    { docs: '70', store: '5000' },
    { docs: null, store: null },
  ]
  const send = async () => shards as never
  const measure = createShardReport({ send }, indexNames('sluice'), metrics)
  const values = async () => {
    const names = [
      'sluice_store_open_shards',
      'sluice_store_shard_bytes_max',
      'sluice_store_shard_documents_max',
    ] as const
    return Promise.all(names.map(async (name) => (await metrics.gauge(name).get()).values[0]?.value))
  }
  await measure()
  expect(await values()).toEqual([3, 9_000, 70])
  shards = []
  await measure()
  expect(await values()).toEqual([0, 0, 0])
})

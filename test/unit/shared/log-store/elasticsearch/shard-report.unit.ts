import { pino } from 'pino'
import { expect, test } from 'vitest'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { createShardReport } from '../../../../../shared/log-store/elasticsearch/shard-report.ts'
import { createMetrics } from '../../../../../shared/runtime/metrics.ts'

test('shards are counted, and the fullest ones and the newest days told of', async () => {
  const metrics = createMetrics()
  let shards: object[] = [
    { index: 'sluice-event-logs-v1-2026.11.28', docs: '10', store: '9000' },
    { index: 'sluice-event-logs-v1.2-2026.11.27', docs: '70', store: '5000' },
    { index: 'sluice-flows-v1', docs: null, store: null },
  ]
  const send = async () => shards as never
  const measure = createShardReport({ send }, indexNames('sluice'), metrics, pino({ level: 'silent' }))
  const values = async () => {
    const names = [
      'sluice_store_open_shards',
      'sluice_store_shard_bytes_max',
      'sluice_store_shard_documents_max',
    ] as const
    return Promise.all(names.map(async (name) => (await metrics.gauge(name).get()).values[0]?.value))
  }
  const days = async () => (await metrics.gauge('sluice_store_newest_day_timestamp_seconds').get()).values
  expect(await days()).toEqual([])
  await measure()
  expect(await values()).toEqual([3, 9_000, 70])
  expect(await days()).toEqual([
    { labels: { kind: 'event' }, value: Date.parse('2026-11-28') / 1_000 },
    { labels: { kind: 'application' }, value: 0 },
  ])
  shards = []
  await measure()
  expect(await values()).toEqual([0, 0, 0])
})

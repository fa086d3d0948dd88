import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { eventLogDocument } from '../../../consumers/projections/entries.ts'
import { createRetentionJob } from '../../../consumers/retention.ts'
import { createMetrics } from '../../../shared/runtime/metrics.ts'
import { eventLog } from '../../support/consumers-records.ts'
import { silent } from '../../support/consumers-rig.ts'
import { createMemoryStoreWriter } from '../../support/consumers-store.ts'
import { eventually } from '../../support/eventually.ts'

const NOW = Date.parse('2026-03-31T15:00:00.000Z')
const clock = { now: () => NOW }

describe('the retention job', () => {
  test('removes whole days and keeps every entry for at least the days asked for', async () => {
    const store = createMemoryStoreWriter()
    const receivedAt = ['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z', '2026-03-01T15:00:00.000Z']
    const documents = receivedAt.map((each, index) => eventLogDocument(eventLog(index, { receivedAt: each }), ''))
    await store.write(documents, new AbortController().signal)
    const job = createRetentionJob({
      store,
      clock,
      metrics: createMetrics(),
      days: 30,
      intervalMs: 3_600_000,
      logger: silent,
    })
    await job.start()
    await job.stop(NOW + 5_000)
    expect(store.removedBefore).toEqual(['2026-03-01'])
    expect([...store.documents.values()].map((document) => document.receivedAt)).toEqual(receivedAt.slice(1))
  })

  test('runs again at intervals, also after a failure', async () => {
    let calls = 0
    const store = {
      removeBefore: async () => {
        calls += 1
        if (calls === 1) throw new Error('no answer')
        return 0
      },
    }
    const job = createRetentionJob({ store, clock, metrics: createMetrics(), days: 1, intervalMs: 1, logger: silent })
    await job.start()
    await eventually(() => calls >= 3)
    await job.stop(NOW + 5_000)
    const ended = calls
    await job.stop(NOW + 5_000)
    expect(calls).toBe(ended)
  })

  test('tells when it last did its work, and no failure moves that', async () => {
    const metrics = createMetrics()
    let fails = true
    const store = {
      removeBefore: async () => {
        if (fails) throw new Error('no answer')
        return 0
      },
    }
    const lastSuccess = async () =>
      (await metrics.gauge('sluice_retention_last_success_timestamp_seconds').get()).values[0]?.value
    const removeOnce = async () => {
      const job = createRetentionJob({ store, clock, metrics, days: 1, intervalMs: 3_600_000, logger: silent })
      await job.start()
      await job.stop(NOW + 5_000)
    }
    await removeOnce()
    expect(await lastSuccess()).toBe(0)
    fails = false
    await removeOnce()
    expect(await lastSuccess()).toBe(NOW / 1_000)
  })

  test('is stopped once a removal that goes on has ended', async () => {
    const removal = Promise.withResolvers<number>()
    const store = { removeBefore: () => removal.promise }
    const job = createRetentionJob({ store, clock, metrics: createMetrics(), days: 1, intervalMs: 1, logger: silent })
    await job.start()
    let isStopped = false
    const stopping = job.stop(NOW + 5_000).then(() => {
      isStopped = true
    })
    await new Promise(setImmediate)
    expect(isStopped).toBe(false)
    removal.resolve(1)
    await stopping
  })

  test('is stopped by the deadline though a removal does not end', async () => {
    const store = { removeBefore: () => new Promise<number>(() => undefined) }
    const job = createRetentionJob({ store, clock, metrics: createMetrics(), days: 1, intervalMs: 1, logger: silent })
    await job.start()
    await job.stop(NOW)
  })

  test('is stopped in the middle of a removal, which does not count as done', async () => {
    const metrics = createMetrics()
    let isCalledOff = false
    const store = {
      removeBefore: async (_day: string, signal?: AbortSignal): Promise<number> => {
        await once(signal as AbortSignal, 'abort')
        isCalledOff = true
        throw signal?.reason
      },
    }
    const job = createRetentionJob({ store, clock, metrics, days: 1, intervalMs: 1, logger: silent })
    await job.start()
    await job.stop(Number.MAX_SAFE_INTEGER)
    expect(isCalledOff).toBe(true)
    const lastSuccess = metrics.gauge('sluice_retention_last_success_timestamp_seconds')
    expect((await lastSuccess.get()).values[0]?.value).toBe(0)
  })

  test('can be stopped without a start', async () => {
    const store = createMemoryStoreWriter()
    const job = createRetentionJob({ store, clock, metrics: createMetrics(), days: 1, intervalMs: 1, logger: silent })
    await job.stop(Number.MAX_SAFE_INTEGER)
    await job.start()
    expect(store.removedBefore).toEqual([])
  })
})

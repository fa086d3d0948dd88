import { once } from 'node:events'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { eventLogDocument } from '../../../consumers/projections/entries.ts'
import { createRetentionJob } from '../../../consumers/retention.ts'
import { DAY_MS } from '../../../shared/contract/timestamp.ts'
import type { LogStoreWriter } from '../../../shared/log-store/log-store.ts'
import { createMetrics } from '../../../shared/runtime/metrics.ts'
import { eventLog } from '../../support/consumers-records.ts'
import { silent } from '../../support/consumers-rig.ts'
import { createMemoryStoreWriter } from '../../support/consumers-store.ts'

const NOW = Date.parse('2026-03-31T15:00:00.000Z')
const clock = { now: () => NOW }

/** A job for 30 days that runs once, with the time that it shows of its last success. */
function rig(store: Pick<LogStoreWriter, 'removeBefore'>) {
  const metrics = createMetrics()
  const job = createRetentionJob({ store, clock, metrics, days: 30, intervalMs: 3_600_000, logger: silent })
  return {
    runOnce: async () => {
      await job.start()
      await job.stop(Number.MAX_SAFE_INTEGER)
    },
    lastSuccess: async () =>
      (await metrics.gauge('sluice_retention_last_success_timestamp_seconds').get()).values[0]?.value,
  }
}

describe('the retention job', () => {
  test('removes whole days, keeps every entry for at least the days asked for, and tells when it did', async () => {
    const store = createMemoryStoreWriter()
    const receivedAt = ['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z', '2026-03-01T15:00:00.000Z']
    const documents = receivedAt.map((each, index) => eventLogDocument(eventLog(index, { receivedAt: each }), ''))
    await store.write(documents, new AbortController().signal)
    const { runOnce, lastSuccess } = rig(store)
    await runOnce()
    expect(store.removedBefore).toEqual(['2026-03-01'])
    expect([...store.documents.values()].map((document) => document.receivedAt)).toEqual(receivedAt.slice(1))
    expect(await lastSuccess()).toBe(NOW / 1_000)
  })

  test('does not count a failure as done', async () => {
    const { runOnce, lastSuccess } = rig({ removeBefore: () => Promise.reject(new Error('no answer')) })
    await runOnce()
    expect(await lastSuccess()).toBe(0)
  })

  test('removes nothing for a day because the clock was set ahead, and tells so', async () => {
    const store = createMemoryStoreWriter()
    const warnings: unknown[] = []
    const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) })
    let [elapsed, aheadMs] = [0, 0]
    const job = createRetentionJob({
      store,
      clock: { now: () => NOW + elapsed + aheadMs },
      steady: { now: () => elapsed },
      metrics: createMetrics(),
      days: 30,
      intervalMs: 1,
      logger,
    })
    /** The day before which a later run removes; the run in progress may have begun before this call. */
    const removed = async (): Promise<string | undefined> => {
      const { length } = store.removedBefore
      await expect.poll(() => store.removedBefore.length).toBeGreaterThan(length + 1)
      return store.removedBefore.at(-1)
    }
    await job.start()
    expect(await removed()).toBe('2026-03-01')
    expect(warnings).toEqual([])
    aheadMs = 365 * DAY_MS
    expect(await removed()).toBe('2026-03-01')
    expect(warnings[0]).toMatch(/^the clock was set ahead/)
    elapsed = DAY_MS - 1
    expect(await removed()).toBe('2026-03-02')
    elapsed = DAY_MS
    expect(await removed()).toBe('2027-03-02')
    await job.stop(Number.MAX_SAFE_INTEGER)
  })

  test('is stopped in the middle of a removal, which does not count as done', async () => {
    let isCalledOff = false
    const { runOnce, lastSuccess } = rig({
      removeBefore: async (_day: string, signal?: AbortSignal): Promise<number> => {
        await once(signal as AbortSignal, 'abort')
        isCalledOff = true
        throw signal?.reason
      },
    })
    await runOnce()
    expect(isCalledOff).toBe(true)
    expect(await lastSuccess()).toBe(0)
  })
})

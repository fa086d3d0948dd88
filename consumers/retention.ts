import { DAY_MS, timestampOf } from '../shared/contract/timestamp.ts'
import type { LogStoreWriter } from '../shared/log-store/log-store.ts'
import type { BaseServices } from '../shared/role.ts'
import { type Clock, createCautiousClock } from '../shared/runtime/clock.ts'
import type { Service } from '../shared/runtime/lifecycle.ts'
import { createRepeater } from '../shared/runtime/repeat.ts'

interface RetentionDeps extends Pick<BaseServices, 'clock' | 'logger' | 'metrics'> {
  readonly store: Pick<LogStoreWriter, 'removeBefore'>
  /** The clock for intervals. */
  readonly steady?: Clock
  readonly days: number
  readonly intervalMs: number
}

/**
 * Removes expired days from the store, at start and then at intervals. Every entry is kept for at least `days` days after it was accepted,
 * and up to a day longer, as only whole days are removed; after the clock was set ahead, yet another day. A failure is logged and retried at
 * the next interval: old entries that stay longer are no reason to stop.
 */
export function createRetentionJob(deps: RetentionDeps): Service {
  const { store, clock, steady, days, intervalMs, logger, metrics } = deps
  const cautious = createCautiousClock(clock, steady)
  const lastSuccess = metrics.gauge('sluice_retention_last_success_timestamp_seconds')
  return createRepeater({
    name: 'retention',
    intervalMs,
    run: async (signal) => {
      const [now, believed] = [clock.now(), cautious.now()]
      if (believed < now)
        logger.warn(
          { now: timestampOf(now), believed: timestampOf(believed) },
          'the clock was set ahead; nothing is removed for a day because of it',
        )
      const before = timestampOf(believed - days * DAY_MS).slice(0, 10)
      const removed = await store.removeBefore(before, signal)
      lastSuccess.set(clock.now() / 1_000)
      if (removed > 0) logger.info({ before, removed }, 'old days were removed')
    },
    onError: (err) => logger.error({ err }, 'old days could not be removed; trying again later'),
    clock,
  })
}

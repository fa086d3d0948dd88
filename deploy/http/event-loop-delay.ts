import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'

/** The sampling interval of the event loop; a delay may be underestimated by as much. */
const RESOLUTION_MS = 10
/** At least the usual time between two scrapes, so that no scrape misses a delay. */
const WINDOW_MS = 60_000
const QUANTILES = [0.5, 0.99, 1]

/**
 * Measures the delay of this thread's event loop in a window of time that follows the clock, not the scrapes, as one of several scrapers would
 * otherwise take the delays from the others. Of two histograms that are reset in turn, the older one always covers one to two windows.
 */
export function createEventLoopDelay(metrics: Metrics, windowMs = WINDOW_MS): Service {
  const histograms = [0, 1].map(() => monitorEventLoopDelay({ resolution: RESOLUTION_MS }))
  let timer: NodeJS.Timeout | undefined
  metrics.gauge('sluice_event_loop_delay_seconds', (gauge) => {
    const [older] = histograms
    for (const quantile of QUANTILES) {
      // Node measures the time from one sample to the next (nanoseconds).
      const lateMs = (older?.percentile(quantile * 100) ?? 0) / 1e6 - RESOLUTION_MS
      gauge.set({ quantile: String(quantile) }, Math.max(0, lateMs) / 1_000)
    }
    return undefined
  })
  return {
    name: 'event loop delay',
    start: async () => {
      for (const histogram of histograms) histogram.enable()
      timer = setInterval(() => {
        histograms.reverse()
        histograms[1]?.reset()
      }, windowMs).unref()
    },
    stop: async () => {
      clearInterval(timer)
      for (const histogram of histograms) histogram.disable()
    },
  }
}

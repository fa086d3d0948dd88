import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'

/** How often the event loop is looked at; a delay can be told as shorter by as much. */
const RESOLUTION_MS = 10
/** No shorter than the usual time between two scrapes, so that none of them misses a delay. */
const WINDOW_MS = 60_000
const QUANTILES = [0.5, 0.99, 1]

/** Measures how late the event loop of this thread is. */
export interface EventLoopDelay extends Service {
  /** Sets the metric. */
  report(): void
}

/**
 * Tells of a window of time that goes by the clock and not by scrapes, as each of several scrapers would otherwise take the delays
 * from the others. Of two histograms that begin anew in turn, the older one always holds one to two windows.
 */
export function createEventLoopDelay(metrics: Metrics, windowMs = WINDOW_MS): EventLoopDelay {
  const gauge = metrics.gauge('sluice_event_loop_delay_seconds')
  const histograms = [0, 1].map(() => monitorEventLoopDelay({ resolution: RESOLUTION_MS }))
  let timer: NodeJS.Timeout | undefined
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
    report: () => {
      const [older] = histograms
      for (const quantile of QUANTILES) {
        // Node measures from one look to the next (nanoseconds).
        const lateMs = (older?.percentile(quantile * 100) ?? 0) / 1e6 - RESOLUTION_MS
        gauge.set({ quantile: String(quantile) }, Math.max(0, lateMs) / 1_000)
      }
    },
  }
}

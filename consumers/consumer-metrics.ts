import type { Clock } from '../shared/runtime/clock.ts'
import type { Metrics } from '../shared/runtime/metrics.ts'
import type { DeadLetterReason } from './outcome.ts'
import type { ProjectionName } from './projection.ts'

/** How many records of a chunk ended how. */
export interface OutcomeCounts {
  stored: number
  duplicate: number
  skipped: number
  dead_letter: number
}

/** The instruments of one projection. */
export interface Measures {
  outcomes(counts: OutcomeCounts): void
  deadLetters(reasons: readonly DeadLetterReason[]): void
  /** Runs a write and takes its time. */
  timed<T>(write: () => Promise<T>): Promise<T>
  /** Entries received at these times (canonical timestamps) are written now, and searchable after so many milliseconds. */
  searchable(receivedAt: readonly string[], searchableWithinMs: number): void
  lagRecords(topic: string, partition: number, records: number): void
  lagSeconds(seconds: number): void
  halted(isHalted: boolean): void
}

export function createMeasures(metrics: Metrics, projection: ProjectionName, clock: Clock): Measures {
  const records = metrics.counter('sluice_consumer_records_total')
  const letters = metrics.counter('sluice_consumer_dead_letters_total')
  const lagRecords = metrics.gauge('sluice_consumer_lag_records')
  const lagSeconds = metrics.gauge('sluice_consumer_lag_seconds').labels({ view: projection })
  const halted = metrics.gauge('sluice_consumer_halted').labels({ view: projection })
  const write = metrics.histogram('sluice_consumer_write_seconds').labels({ view: projection })
  const searchable = metrics.histogram('sluice_consumer_searchable_seconds').labels({ view: projection })
  return {
    outcomes: (counts) => {
      for (const [outcome, count] of Object.entries(counts))
        if (count > 0) records.inc({ view: projection, outcome }, count)
    },
    deadLetters: (reasons) => {
      for (const reason of reasons) letters.inc({ view: projection, reason })
    },
    timed: async (run) => {
      const start = performance.now()
      const result = await run()
      write.observe((performance.now() - start) / 1_000)
      return result
    },
    searchable: (receivedAt, searchableWithinMs) => {
      const visibleAt = clock.now() + searchableWithinMs
      let last = ''
      let seconds = 0
      // The entries of one request have one time, and stand together.
      for (const at of receivedAt) {
        if (at !== last) seconds = Math.max(0, visibleAt - Date.parse(at)) / 1_000
        last = at
        searchable.observe(seconds)
      }
    },
    lagRecords: (topic, partition, count) =>
      lagRecords.set({ view: projection, topic, partition: String(partition) }, count),
    lagSeconds: (seconds) => lagSeconds.set(seconds),
    halted: (isHalted) => halted.set(isHalted ? 1 : 0),
  }
}

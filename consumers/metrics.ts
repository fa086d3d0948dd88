import { type AssignmentCause, type PartitionPosition, TopicMissingError } from '../shared/journal/journal.ts'
import type { CoreServices } from '../shared/role.ts'
import type { Clock } from '../shared/runtime/clock.ts'
import type { Service } from '../shared/runtime/lifecycle.ts'
import type { Metrics } from '../shared/runtime/metrics.ts'
import { createRepeater } from '../shared/runtime/repeat.ts'
import { DEAD_LETTER_REASONS, type DeadLetterReason } from './dead-letters.ts'
import type { ProjectionName } from './projection.ts'

/** The records of a chunk by outcome. */
interface OutcomeCounts {
  stored: number
  duplicate: number
  skipped: number
  dead_letter: number
}

/** The instruments of one projection. */
export interface Instruments {
  outcomes(counts: OutcomeCounts): void
  deadLetters(reasons: readonly DeadLetterReason[]): void
  /** Runs a write and measures its duration. */
  timed<T>(write: () => Promise<T>): Promise<T>
  /** Entries received at these times (canonical timestamps) are written now and searchable `searchableWithinMs` later. */
  searchable(receivedAt: readonly string[], searchableWithinMs: number): void
  lagRecords(topic: string, partition: number, records: number): void
  lagSeconds(seconds: number): void
  /** A position was committed now. */
  committed(): void
  /** The consumer now reads this many partitions. */
  assigned(partitions: number, cause: AssignmentCause): void
  halted(isHalted: boolean): void
  /** Whether another log store takes a part of the entries. */
  divided(isDivided: boolean): void
}

export function createInstruments(metrics: Metrics, projection: ProjectionName, clock: Clock): Instruments {
  const own = { view: projection }
  const records = metrics.counter('sluice_consumer_records_total')
  const letters = metrics.counter('sluice_consumer_dead_letters_total', {
    ...own,
    reason: Object.keys(DEAD_LETTER_REASONS),
  })
  const lagRecords = metrics.gauge('sluice_consumer_lag_records')
  const lagSeconds = metrics.gauge('sluice_consumer_lag_seconds').labels(own)
  const halted = metrics.gauge('sluice_consumer_halted').labels(own)
  const divided = metrics.gauge('sluice_consumer_divided').labels(own)
  const write = metrics.histogram('sluice_consumer_write_seconds').labels(own)
  const searchable = metrics.histogram('sluice_consumer_searchable_seconds').labels(own)
  const committed = metrics.gauge('sluice_consumer_last_commit_timestamp_seconds').labels(own)
  const assigned = metrics.gauge('sluice_consumer_assigned_partitions').labels(own)
  const rebalances = metrics.counter('sluice_consumer_rebalances_total', { ...own, reason: ['group', 'member'] })
  const paused = metrics.counter('sluice_consumer_paused_seconds_total', own).labels(own)
  let pausedSince: number | undefined
  return {
    outcomes: (counts) => {
      for (const [outcome, count] of Object.entries(counts)) if (count > 0) records.inc({ ...own, outcome }, count)
    },
    deadLetters: (reasons) => {
      for (const reason of reasons) letters.inc({ ...own, reason })
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
      // Entries of one request are adjacent and have the same time.
      for (const at of receivedAt) {
        if (at !== last) seconds = Math.max(0, visibleAt - Date.parse(at)) / 1_000
        last = at
        searchable.observe(seconds)
      }
    },
    lagRecords: (topic, partition, count) => lagRecords.set({ ...own, topic, partition: String(partition) }, count),
    lagSeconds: (seconds) => lagSeconds.set(seconds),
    committed: () => committed.set(clock.now() / 1_000),
    assigned: (partitions, cause) => {
      assigned.set(partitions)
      if (cause === 'group' || cause === 'member') {
        rebalances.inc({ ...own, reason: cause })
        if (partitions === 0) pausedSince ??= clock.now()
        return
      }
      if (pausedSince !== undefined) paused.inc(Math.max(0, clock.now() - pausedSince) / 1_000)
      pausedSince = undefined
    },
    halted: (isHalted) => halted.set(isHalted ? 1 : 0),
    divided: (isDivided) => divided.set(isDivided ? 1 : 0),
  }
}

/**
 * How long the oldest record that a projection has not stored has been waiting. If a batch is at hand, its records' times tell; otherwise,
 * and if the clock that they are from is ahead, the wait counts from when a position that does not move was first seen.
 */
export interface Lag {
  /** The oldest record at hand that is not stored: its position, and when it was appended (milliseconds since 1970). */
  reading(place: string, position: number, appendedAt: number): void
  /** No records of the partition are at hand. */
  idle(place: string): void
  /** The journal's answer about a partition: the group's position, how many records come after it, and the time. */
  observed(place: string, position: number, behind: number, now: number): void
  /** The longest wait in seconds; 0 if nothing waits. */
  seconds(now: number): number
}

interface Wait {
  readonly position: number
  readonly since: number
}

/** A place is a topic and partition as one text. */
export function createLag(): Lag {
  const atHand = new Map<string, Wait>()
  const seen = new Map<string, Wait>()
  return {
    reading: (place, position, appendedAt) => void atHand.set(place, { position, since: appendedAt }),
    idle: (place) => void atHand.delete(place),
    observed: (place, position, behind, now) => {
      const here = atHand.get(place)
      // Another member of the group has passed the records that were at hand here.
      if (here !== undefined && position > here.position) atHand.delete(place)
      const before = seen.get(place)
      if (behind === 0) seen.delete(place)
      // A clock that was ahead has been set back: nothing would have waited for as long as it was ahead.
      else if (before?.position !== position || before.since > now) seen.set(place, { position, since: now })
    },
    seconds: (now) => {
      const passed = (place: string, position: number): boolean => (atHand.get(place)?.position ?? 0) > position
      const still = [...seen].filter(([place, { position }]) => !passed(place, position)).map(([, wait]) => wait)
      const waits = [...atHand.values(), ...still]
      return waits.reduce((most, { since }) => Math.max(most, (now - since) / 1_000), 0)
    },
  }
}

interface LagReporterDeps extends Pick<CoreServices, 'journal' | 'clock' | 'logger'> {
  readonly topics: readonly string[]
  readonly group: string
  readonly lag: Lag
  /** Called with what each measurement of a topic finds. */
  readonly onPositions: (topic: string, positions: readonly PartitionPosition[]) => void
  readonly instruments: Instruments
  readonly intervalMs: number
}

/** Measures how far a group is behind. */
interface LagReporter extends Service {
  /** The topic that the last measurement found to be gone, in a sentence; null if none is. */
  missing(): string | null
}

/**
 * Measures every few seconds how far a group is behind, over all partitions, including those that other members read: each member reports
 * the same, so a graph takes the maximum, not the sum. It goes on after the consumer has halted.
 */
export function createLagReporter(deps: LagReporterDeps): LagReporter {
  const { journal, topics, group, lag, onPositions, instruments, clock, logger, intervalMs } = deps
  let missing: string | null = null

  const measure = async (topic: string): Promise<void> => {
    const positions = await journal.positions(topic, group)
    onPositions(topic, positions)
    for (const { partition, firstOffset, endPosition, committed } of positions) {
      const position = committed ?? firstOffset
      const behind = Math.max(0, endPosition - position)
      instruments.lagRecords(topic, partition, behind)
      lag.observed(`${topic}/${partition}`, position, behind, clock.now())
    }
  }
  const repeater = createRepeater({
    name: 'lag',
    clock,
    intervalMs,
    run: async () => {
      let gone: string | null = null
      // The others are measured without a topic that fails.
      for (const topic of topics) {
        await measure(topic).catch((error) => {
          const reason = error instanceof Error ? error.message : String(error)
          if (error instanceof TopicMissingError) gone ??= reason
          logger.warn({ group, reason }, 'how far the group is behind could not be measured')
        })
      }
      missing = gone
      // The records at hand keep growing older while the journal does not answer.
      instruments.lagSeconds(lag.seconds(clock.now()))
    },
    onError: (error) => logger.error({ group, err: error }, 'the measurement of the lag failed'),
  })
  return { ...repeater, missing: () => missing }
}

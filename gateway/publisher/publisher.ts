import { AppendError, type Journal } from '../../shared/journal/journal.ts'
import { createByteBudget } from '../../shared/runtime/byte-budget.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { type Batcher, type BatcherOptions, createBatcher } from './batcher.ts'
import { type BreakerOptions, type BreakerState, createBreaker, PausedError } from './breaker.ts'
import { createFailureLog } from './failure-log.ts'
import { holdBytes } from './hold-bytes.ts'
import { measureSends } from './measure.ts'
import { createPartitionCounts } from './partition-counts.ts'
import type { MicroBatch, Publication, PublishOutcome, Send } from './publication.ts'
import { cutSlices, type PlacedSlice } from './slices.ts'
import { limitTime, UnsettledError } from './time-limit.ts'

export interface PublisherOptions extends BatcherOptions {
  /** Every topic that is published to; they must exist at the start. */
  readonly topics: readonly string[]
  /** Most bytes that wait for the journal or have not settled there. */
  readonly bufferBytesMax: number
  /** How long a send may take before it counts as failed. */
  readonly sendTimeoutMs: number
  /** How often it is looked whether partitions were added. */
  readonly partitionCheckMs: number
  readonly breaker: BreakerOptions
}

/** What has proved good on Kafka; an embedded journal has one partition and one disk, and a pace of its own. */
export const PUBLISHER_DEFAULTS = {
  batchRecordsMax: 500,
  batchBytesMax: 900_000,
  eagerSends: 4,
  regatherMs: 0,
  lingerMs: 5,
  sendsInFlightMax: 64,
  partitionCheckMs: 10_000,
  breaker: { failuresPercent: 50, sendsMin: 10, windowMs: 10_000, openMs: 2_000 },
} as const satisfies Omit<PublisherOptions, 'topics' | 'bufferBytesMax' | 'sendTimeoutMs'>

export interface PublisherDeps {
  readonly journal: Pick<Journal, 'append' | 'partitionCount'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly options: PublisherOptions
}

export interface Publisher extends Service {
  /**
   * Publishes records of one request: one outcome each, in their order, by the deadline (on the clock of `performance.now()`;
   * it must not go back between calls). Never rejects. Where the buffer has no room for all, none is taken.
   */
  publish(topic: string, publications: readonly Publication[], deadline: number): Promise<readonly PublishOutcome[]>
  /** How many partitions a topic has; 0 before the start. */
  partitionsOf(topic: string): number
}

const BREAKER_GAUGE: Readonly<Record<BreakerState, number>> = { closed: 0, halfOpen: 1, open: 2 }

/** Takes records from `start` to `stop`; outside of that they are `closed`. */
export function createPublisher({ journal, clock, metrics, logger, options }: PublisherDeps): Publisher {
  const breakerState = metrics.gauge('sluice_publish_breaker_state')
  const budget = createByteBudget(options.bufferBytesMax)
  const queueBytes = metrics.gauge('sluice_publish_queue_bytes')
  // Read when it is asked for: it changes several times a request.
  Object.assign(queueBytes, { collect: () => queueBytes.set(budget.held) })
  const append = holdBytes(
    budget,
    measureSends(metrics, (batch) => journal.append(batch)),
  )
  const breaker = createBreaker(options.breaker, onBreakerState, limitTime(options.sendTimeoutMs, append))
  const send = outcomesOf(breaker.send, createFailureLog(logger))
  const partitions = createPartitionCounts({
    journal,
    logger,
    topics: options.topics,
    checkMs: options.partitionCheckMs,
    onMore: (topic, count) => batcher?.grow(topic, count),
  })
  let batcher: Batcher | undefined
  let stopping: Promise<void> | undefined

  function onBreakerState(state: BreakerState): void {
    breakerState.set(BREAKER_GAUGE[state])
    if (state === 'open') logger.error({}, 'the journal keeps failing: sending is paused')
    if (state === 'closed') logger.info({}, 'the journal works again: sending goes on')
  }

  async function start(): Promise<void> {
    batcher = createBatcher({ options, topics: await partitions.start(), budget, send })
  }

  async function stop(deadline: number): Promise<void> {
    partitions.stop()
    const draining = batcher
    batcher = undefined
    await draining?.drain(performance.now() + deadline - clock.now())
    breaker.close()
  }

  function publish(topic: string, publications: readonly Publication[], deadline: number) {
    const { length } = publications
    const all = (outcome: PublishOutcome): readonly PublishOutcome[] => new Array<PublishOutcome>(length).fill(outcome)
    if (batcher === undefined) return Promise.resolve(all('closed'))
    const bytes = publications.reduce((sum, publication) => sum + publication.bytes, 0)
    if (!budget.fits(bytes)) return Promise.resolve(all('buffer_full'))
    const slices = cutSlices(topic, publications, partitions.of(topic), options)
    const [only] = slices
    if (slices.length === 1 && only !== undefined) return batcher.push(only, deadline).then(all)
    return pushEach(batcher, slices, deadline)
  }

  return {
    name: 'publisher',
    start,
    stop: (deadline) => {
      stopping ??= stop(deadline)
      return stopping
    },
    publish,
    partitionsOf: partitions.of,
  }
}

/** One outcome for each record of the slices, at the places that they say. */
async function pushEach(
  { push }: Batcher,
  slices: readonly PlacedSlice[],
  deadline: number,
): Promise<readonly PublishOutcome[]> {
  const outcomes: PublishOutcome[] = []
  await Promise.all(
    slices.map(({ places, ...slice }) =>
      push(slice, deadline).then((outcome) => {
        for (const place of places) outcomes[place] = outcome
      }),
    ),
  )
  return outcomes
}

/** A send whose failure is an outcome. */
const outcomesOf =
  (send: Send, onFailure: (error: unknown, batch: MicroBatch) => void) =>
  async (batch: MicroBatch): Promise<PublishOutcome> => {
    try {
      await send(batch)
      return 'durable'
    } catch (error) {
      if (error instanceof PausedError) return 'paused'
      onFailure(error, batch)
      if (error instanceof UnsettledError) return 'unsettled'
      return error instanceof AppendError && error.outcome === 'not_written' ? 'refused' : 'uncertain'
    }
  }

import { partitionOf } from '../../shared/contract/partitioner.ts'
import type { NewRecord } from '../../shared/journal/journal.ts'
import type { BaseServices, HealthCheck } from '../../shared/role.ts'
import { type ByteShare, createByteBudget } from '../../shared/runtime/byte-budget.ts'
import type { Health, Service } from '../../shared/runtime/lifecycle.ts'
import { createRepeater } from '../../shared/runtime/repeat.ts'
import { type Batcher, createBatcher, type Slice } from './batcher.ts'
import { createPartitionCounts } from './partition-counts.ts'
import type { BatchLimits } from './partition-queues.ts'
import type { Publication, PublisherJournal, PublishOutcome } from './publication.ts'
import type { ScheduleOptions } from './schedule.ts'
import { type BreakerOptions, createSender } from './sender.ts'

export interface PublisherOptions extends ScheduleOptions {
  /** Every topic that is published to; they must exist at the start. */
  readonly topics: readonly string[]
  /** Maximum bytes that wait for the journal or have not settled there. */
  readonly bufferBytesMax: number
  /** How long a send may take before it counts as failed. */
  readonly sendTimeoutMs: number
  /** Milliseconds between two checks of the topics' numbers of partitions and limits. */
  readonly partitionCheckMs: number
  readonly breaker: BreakerOptions
}

/** Values that proved good on Kafka; the embedded journal, with one partition and one disk, has a batching policy of its own. */
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

interface PublisherDeps extends Pick<BaseServices, 'clock' | 'logger' | 'metrics' | 'tracer'> {
  readonly journal: PublisherJournal
  readonly options: PublisherOptions
}

export interface Publisher extends Service, HealthCheck {
  /** Ready unless all topics refuse appends, as a topic that takes them must not lose its senders. The reason names those that refuse. */
  health(): Promise<Health>
  /**
   * Publishes the records of one request of a Team: one outcome each, in order, by the deadline (on the clock of `performance.now()`; it
   * must not decrease between calls). Never rejects. If the Team's share of the buffer has no room for all records, none is taken.
   */
  publish(
    topic: string,
    team: string,
    publications: readonly Publication[],
    deadline: number,
  ): Promise<readonly PublishOutcome[]>
  /** The number of partitions of a topic; 0 before the start. */
  partitionsOf(topic: string): number
}

/** Takes records from `start` to `stop`; at other times their outcome is `closed`. */
export function createPublisher({ journal, clock, metrics, logger, tracer = null, options }: PublisherDeps): Publisher {
  const budget = createByteBudget(options.bufferBytesMax)
  metrics.gauge('sluice_publish_queue_bytes', () => budget.held)
  const limited = metrics.counter('sluice_limited_total', { reason: 'publish_buffer' })
  const { limits, restrict, checkTight } = createLimits(journal, options)
  const sender = createSender({
    ...options,
    journal,
    metrics,
    logger,
    tracer,
    onTooLarge: restrict,
  })
  let batcher: Batcher | undefined
  const partitions = createPartitionCounts({
    journal,
    logger,
    topics: options.topics,
    onChange: (topic, count) => batcher?.resize(topic, count),
  })
  const checks = createRepeater({
    name: 'checks of topics',
    clock,
    intervalMs: options.partitionCheckMs,
    firstAfterMs: options.partitionCheckMs,
    run: async (signal) => {
      await partitions.check(signal)
      await checkTight()
    },
    onError: (err) => logger.debug({ err }, 'the limits of the topics could not be read'),
  })
  let stopping: Promise<void> | undefined

  async function start(): Promise<void> {
    batcher = createBatcher({ options: limits, topics: await partitions.start(), send: sender.send })
    await checks.start()
  }

  async function stop(deadline: number): Promise<void> {
    const draining = batcher
    batcher = undefined
    // Not awaited: a check under way changes nothing any more, and brokers that are away may keep it until the deadline.
    void checks.stop(deadline)
    await draining?.drain(performance.now() + deadline - clock.now())
    sender.close()
  }

  async function health(): Promise<Health> {
    const found = await Promise.all(options.topics.map((topic) => journal.refusalOf?.(topic) ?? null))
    const refusals = found.filter((refusal) => refusal !== null)
    const ready = refusals.length < found.length
    return { name: 'publisher', ready, ...(refusals.length > 0 && { reason: refusals.join('; ') }) }
  }

  const packed = ({ records, ...slice }: PlacedSlice) => ({
    ...slice,
    count: records.length,
    records: journal.pack?.(records) ?? records,
  })

  function publish(topic: string, team: string, publications: readonly Publication[], deadline: number) {
    const { length } = publications
    const all = (outcome: PublishOutcome): readonly PublishOutcome[] => new Array<PublishOutcome>(length).fill(outcome)
    if (batcher === undefined) return Promise.resolve(all('closed'))
    const bytes = publications.reduce((sum, publication) => sum + publication.bytes, 0)
    const share = budget.share(team)
    if (!share.fits(bytes)) {
      limited.inc({ reason: 'publish_buffer' })
      return Promise.resolve(all('buffer_full'))
    }
    const slices = cutSlices(topic, publications, partitions.of(topic), limits).map(packed)
    const [only] = slices
    if (slices.length === 1 && only !== undefined) return batcher.push(only, share, deadline).then(all)
    return pushEach(batcher, slices, share, deadline)
  }

  return {
    name: 'publisher',
    start,
    stop: (deadline) => {
      stopping ??= stop(deadline)
      return stopping
    },
    health,
    publish,
    partitionsOf: partitions.of,
  }
}

/**
 * The limits of micro-batches. A topic that takes less at once makes all of them smaller, until it is found to take more: a larger batch
 * that only tried would be refused with its records.
 */
function createLimits(journal: PublisherJournal, options: PublisherOptions) {
  const limits = { ...options }
  /** The topics that take less than a micro-batch may have, with how much they take. */
  const tight = new Map<string, number>()
  const restrict = (topic: string, bytesMax: number): void => {
    if (bytesMax < options.batchBytesMax) tight.set(topic, bytesMax)
    else tight.delete(topic)
    limits.batchBytesMax = Math.min(options.batchBytesMax, ...tight.values())
  }
  const checkTight = async (): Promise<void> => {
    for (const [topic, known] of tight) restrict(topic, (await journal.bytesMax?.(topic)) ?? known)
  }
  return { limits, restrict, checkTight }
}

/** Pushes all slices; returns one outcome per record, at the indexes in `places`. */
async function pushEach(
  { push }: Batcher,
  slices: readonly (Slice & Pick<PlacedSlice, 'places'>)[],
  share: ByteShare,
  deadline: number,
): Promise<readonly PublishOutcome[]> {
  const outcomes: PublishOutcome[] = []
  await Promise.all(
    slices.map(({ places, ...slice }) =>
      push(slice, share, deadline).then((outcome) => {
        for (const place of places) outcomes[place] = outcome
      }),
    ),
  )
  return outcomes
}

/** A slice in the making, with the indexes of its records among the publications. */
interface PlacedSlice extends Omit<Slice, 'count'> {
  readonly records: NewRecord[]
  readonly places: number[]
  bytes: number
}

/**
 * Cuts the publications of one request, in order, into as few slices as the limits allow: separate ones for each partition, and for records
 * that may go to any.
 */
export function cutSlices(
  topic: string,
  publications: readonly Publication[],
  partitions: number,
  limits: BatchLimits,
): readonly PlacedSlice[] {
  const slices: PlacedSlice[] = []
  const growing: PlacedSlice[] = []
  for (const [place, { record, bytes, routeBy }] of publications.entries()) {
    const partition = routeBy === null ? null : partitionOf(routeBy, partitions)
    // Records for any partition come after those for the last one.
    const index = partition ?? partitions
    let slice = growing[index]
    if (slice === undefined || !hasRoom(slice, bytes, limits)) {
      const { traceparent } = record.headers
      slice = { topic, partition, records: [], places: [], bytes: 0, traceparent }
      slices.push(slice)
      growing[index] = slice
    }
    slice.records.push(record)
    slice.places.push(place)
    slice.bytes += bytes
  }
  return slices
}

const hasRoom = (slice: PlacedSlice, bytes: number, { batchRecordsMax, batchBytesMax }: BatchLimits): boolean =>
  slice.records.length < batchRecordsMax && slice.bytes + bytes <= batchBytesMax

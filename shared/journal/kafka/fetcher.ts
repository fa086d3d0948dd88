import { type Connection, Consumer } from '@platformatic/kafka'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createWaker } from '../../runtime/waiting.ts'
import { clientOptions } from './connection.ts'
import { describeFault, hasCode, isRefusedForGood } from './faults.ts'
import { type FetchedPartition, fetch } from './fetch.ts'
import { createFetchReport } from './fetch-report.ts'
import { createFetchedRecords, type FetchedRecords } from './fetched-records.ts'
import { createLeaders, type LeadersOptions } from './leaders.ts'
import { NO_EPOCH } from './offsets.ts'
import { NO_LEADER, patchClient } from './patched-client.ts'
import type { Source } from './source.ts'

export interface FetcherOptions extends LeadersOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly sources: readonly Source[]
  readonly signal: AbortSignal
  readonly requestTimeoutMs: number
  /** Maximum time that a broker waits for records before it answers with none. */
  readonly maxWaitMs: number
  readonly maxPartitionBytes: number
  /** After an answer with few records, the milliseconds to wait before the next request so that more gather; default 0. */
  readonly gatherMs?: number
  /** Whether more records of the partition are wanted now. */
  wants(source: Source): boolean
  /** Receives records in order; `endPosition` is the position after the partition's last record. */
  onRecords(source: Source, records: FetchedRecords, endPosition: number): void
  /** Called if a position is not in the log. Rejects to end the reading; otherwise it has set another position, or an obstacle. */
  onOutOfRange(source: Source): Promise<void>
  /** Called if the topic was made anew, where the position means nothing: the partition is not fetched any more. */
  onReplaced(source: Source): void
}

/** How long a broker waits for records while other partitions of it are not wanted, but may be soon. */
const SHORT_WAIT_MS = 25
/** Maximum bytes of one answer. They wait in memory, so less than what all partitions may have is better. */
const MAX_BYTES = 4 * 1024 * 1024
/** An answer with fewer bytes has few records. */
const FEW_BYTES = 1024 * 1024
const RETRY_DELAY_MS = 200
const SUPERVISE_MS = 500
/** The longest wait for a broker that reads nothing, as a quota is used up: the quota may be raised meanwhile. */
const MUTED_MS_MAX = 60_000

interface Fetcher {
  /** Resolves when the signal aborts; rejects with what `onOutOfRange` rejected with. */
  readonly done: Promise<void>
  /** Called when records of a source are wanted again. */
  wake(): void
  /** Starts to read one more partition. */
  add(source: Source): void
  /** Stops fetching a partition; `onRecords` may still get records that are on their way. */
  remove(source: Source): void
}

/**
 * Reads partitions from their leaders, one request per broker at a time, and survives any failure of the brokers. A partition that is not
 * wanted does not hold up the others. Uncommitted transactions are read as well: Sluice writes none, and one that another program left open
 * must not stop the reading.
 */
export function startFetcher(options: FetcherOptions): Fetcher {
  const { logger, signal, maxWaitMs, gatherMs = 0 } = options
  const client = createClient(options)
  const report = createFetchReport(logger)
  const leaders = createLeaders(options, client, report)
  // The supervisor has its own: a handler that ends wakes the readers, and must not cause a metadata request each time.
  const [waker, supervisor] = [createWaker(signal), createWaker(signal)]
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>()
  // At once: a request whose answer is still awaited ends with the client.
  signal.addEventListener('abort', () => end(), { once: true })
  let [sources, turn] = [options.sources, 0]
  /** The brokers that are being read from. */
  const nodes = new Set<number>()

  /** Finds the leaders, and runs one loop for each of them. */
  const supervise = async (): Promise<void> => {
    while (!signal.aborted) {
      await leaders.update(onLeaders)
      for (const node of new Set(sources.map(leaders.of))) {
        if (node === NO_LEADER || nodes.has(node) || signal.aborted) continue
        nodes.add(node)
        void readFrom(node).then(() => nodes.delete(node), fail)
      }
      if (sources.some((source) => leaders.of(source) === NO_LEADER)) leaders.doubt()
      report.look(sources)
      await supervisor.wait(SUPERVISE_MS)
    }
  }
  const onLeaders = (topic: string): void => {
    for (const source of sources.filter((each) => each.topic === topic)) {
      if (leaders.of(source) === NO_LEADER) source.refusal = { at: performance.now(), reason: 'no broker leads it' }
      if (!leaders.isReplaced(source)) continue
      remove(source)
      options.onReplaced(source)
    }
  }

  /** Reads from a broker as long as it leads any of the partitions. */
  const readFrom = async (node: number): Promise<void> => {
    let restUntil = 0
    while (!signal.aborted) {
      const led = sources.filter((source) => leaders.of(source) === node)
      if (led.length === 0) return
      const wanted = led.filter((source) => options.wants(source))
      const restMs = restUntil - performance.now()
      if (wanted.length === 0 || restMs > 0) {
        for (const source of led) source.answeredAt = performance.now()
        await waker.wait(wanted.length === 0 ? maxWaitMs : Math.min(restMs, maxWaitMs))
        continue
      }
      const { restMs: nextRestMs, failure, outOfRange = [] } = await fetchFrom(node, led, wanted).catch(failed)
      if (signal.aborted) return
      restUntil = performance.now() + nextRestMs
      if (failure === undefined) continue
      report.failed({ node }, failure, 'a fetch failed')
      for (const source of outOfRange) await options.onOutOfRange(source)
      leaders.doubt()
      await waker.wait(RETRY_DELAY_MS)
    }
  }

  /** One request for the wanted ones of the partitions that a broker leads. Resolves once the records are handed over. */
  const fetchFrom = async (node: number, led: readonly Source[], wanted: readonly Source[]): Promise<Outcome> => {
    const askedAt = options.clock.now()
    const { partitions: fetched, mutedMs } = await fetch(await connectionTo(client, node), {
      maxWaitMs: wanted.length < led.length ? SHORT_WAIT_MS : maxWaitMs,
      maxBytes: MAX_BYTES,
      topics: requestOf(leaders.topicIdOf, wanted, options.maxPartitionBytes),
    })
    if (signal.aborted) return { restMs: 0 }
    const { advanced, failures } = handOver(leaders.topicIdOf, wanted, fetched, askedAt, options)
    for (const source of led) if (!failures.has(source)) source.answeredAt = performance.now()
    for (const source of [...advanced, ...failures.keys()]) source.turn = ++turn
    report.unreadable(failures)
    const outOfRange = [...failures].flatMap(([source, error]) => (isOutOfRange(error) ? [source] : []))
    if (failures.size > 0)
      return { ...failed(new AggregateError(failures.values(), 'some partitions could not be read')), outOfRange }
    return { restMs: Math.min(Math.max(mutedMs, areFew(fetched) ? gatherMs : 0), MUTED_MS_MAX) }
  }

  const add = (source: Source): void => {
    sources = [...sources, source]
    supervisor.wake()
  }
  const remove = (source: Source): void => {
    sources = sources.filter((each) => each !== source)
  }

  return { done: closingAfter(Promise.race([supervise(), ended]), client, logger), wake: waker.wake, add, remove }
}

/** The outcome of a request to a broker. */
interface Outcome {
  /**
   * Milliseconds to wait before the next one. What is sent while the broker reads nothing times out here, and is answered later all the same,
   * to nobody, which may use up the quota again.
   */
  readonly restMs: number
  /** The failure of the request, or of some partitions; undefined if there was none. */
  readonly failure?: unknown
  /** The partitions whose position is not in the log. */
  readonly outOfRange?: readonly Source[]
}

const failed = (failure: unknown): Outcome => ({ restMs: 0, failure })

/** Closes the client when the reading ends; settles as the reading does. */
async function closingAfter(reading: Promise<void>, client: Consumer, logger: Logger): Promise<void> {
  try {
    await reading
  } finally {
    await client.close(true).catch((error) => logger.debug({ reason: describeFault(error) }, 'a reader did not close'))
  }
}

/** Errors after which the topic may not be the one that was read. */
const NO_TOPIC = ['UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_ID', 'INCONSISTENT_TOPIC_ID']
/** Errors after which another broker has to be asked, or the topic is not the one that was read. */
const MOVED = ['NOT_LEADER_OR_FOLLOWER', 'FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH', ...NO_TOPIC]

const isOutOfRange = (error: unknown): boolean => hasCode(error, 'OFFSET_OUT_OF_RANGE')

/** A consumer that joins no group. */
function createClient({ connection, topics, requestTimeoutMs, maxWaitMs }: FetcherOptions) {
  const client = new Consumer<Buffer, Buffer, Buffer, Buffer>({
    ...clientOptions(connection, { requestTimeoutMs: requestTimeoutMs + maxWaitMs, retries: 0 }),
    groupId: `${connection.clientId}-no-group`,
  })
  for (const topic of topics) client.topics.track(topic)
  return patchClient(client, connection)
}

/** Whether an answer has few records. An empty one does not count, as the broker has already waited. */
function areFew(fetched: readonly FetchedPartition[]): boolean {
  const bytes = fetched.reduce((sum, { records }) => sum + (records?.length ?? 0), 0)
  return bytes > 0 && bytes < FEW_BYTES
}

type TopicIdOf = (source: Source) => string

function requestOf(topicIdOf: TopicIdOf, wanted: readonly Source[], partitionMaxBytes: number) {
  const inTurn = wanted.toSorted((a, b) => a.turn - b.turn)
  const byTopic = Map.groupBy(inTurn, topicIdOf)
  return [...byTopic].map(([topicId, sources]) => ({
    topicId,
    partitions: sources.map(({ partition, position, leaderEpoch }) => ({
      partition,
      fetchOffset: BigInt(position),
      currentLeaderEpoch: NO_EPOCH,
      lastFetchedEpoch: leaderEpoch,
      partitionMaxBytes,
    })),
  }))
}

async function connectionTo(client: Consumer, node: number): Promise<Connection> {
  const connection = (await client.connectToBrokers([node])).get(node)
  if (connection === undefined) throw new Error(`the broker ${node} is not known`)
  return connection
}

/**
 * Hands the records of an answer over, in its order. A partition that fails does not hold up the others; its position stays, as unreadable
 * records must not be skipped. After an unclean election the leader may lack records that were read, and have taken others since at the same
 * positions, perhaps beyond the present one: the reading goes back to the end of what is common (KIP-320).
 */
export function handOver(
  topicIdOf: TopicIdOf,
  wanted: readonly Source[],
  fetched: readonly FetchedPartition[],
  askedAt: number,
  { onRecords, logger }: Pick<FetcherOptions, 'onRecords' | 'logger'>,
): { readonly advanced: readonly Source[]; readonly failures: ReadonlyMap<Source, unknown> } {
  const advanced: Source[] = []
  const failures = new Map<Source, unknown>()
  for (const { topicId, partition, records, commonEnd, highWatermark, error } of fetched) {
    const source = wanted.find((each) => topicIdOf(each) === topicId && each.partition === partition)
    if (source === undefined) continue
    source.isTopicMissed = hasCode(error, ...NO_TOPIC)
    if (error !== null) {
      const reason = describeFault(error)
      // A position out of range is judged by `onOutOfRange`, which sets an obstacle if need be.
      if (!isOutOfRange(error)) source.obstacle = isRefusedForGood(error) ? reason : null
      if (!hasCode(error, ...MOVED)) source.refusal = { at: performance.now(), reason }
      failures.set(source, error)
      continue
    }
    const { topic, position, leaderEpoch } = source
    source.topicId = topicId
    source.obstacle = null
    try {
      if (commonEnd !== null) {
        const reason =
          'the topic has lost records that were read, as by an unclean election; others are read in their place'
        logger.error({ topic, partition, position, from: commonEnd.position }, reason)
        Object.assign(source, commonEnd)
        advanced.push(source)
      }
      if (records !== null && records.length > 0) {
        const found = createFetchedRecords(topic, partition, records, source)
        Object.assign(source, found.next)
        onRecords(source, found, Math.max(highWatermark, source.position))
        if (source.position > position) advanced.push(source)
      }
      if (source.position >= highWatermark) source.readAt = askedAt
    } catch (failure) {
      Object.assign(source, { position, leaderEpoch, obstacle: describeFault(failure) })
      failures.set(source, failure)
    }
  }
  return { advanced, failures }
}

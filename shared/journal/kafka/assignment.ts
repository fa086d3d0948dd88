import type { JournalRecord, PartitionBatch } from '../journal.ts'
import type { Cluster } from './cluster.ts'
import type { Commit } from './commit.ts'
import type { FetchedRecords } from './fetched-records.ts'
import { type Source, startFetcher } from './fetcher.ts'
import { boundsNow, type ReadContext } from './read.ts'
import type { PartitionState } from './stall.ts'
import { findStartingPoints, refuseLost, type StartingPoints, type TopicPartitions } from './starting-points.ts'

export type Handler = (batch: PartitionBatch) => Promise<void>

/** The partitions that a member reads. */
export interface Assignment {
  /** Starts to read at the group's position. */
  add(partitions: readonly TopicPartitions[]): void
  /** Stops reading a partition and aborts its batch; resolves when no handler of it is running. The others continue. */
  remove(topic: string, partition: number): Promise<void>
  /** Stops reading all partitions and aborts their batches; does not wait. */
  abort(): void
  /** Resolves when no handler is running and nothing is being fetched. */
  ended(): Promise<void>
  /** When the oldest running handler started (`performance.now()`); null if none is running. */
  busySince(): number | null
  /** The state of each partition's reading. */
  states(): readonly PartitionState[]
}

export interface AssignmentOptions {
  readonly context: ReadContext
  readonly group: string
  /** The topics of all partitions, including those added later. */
  readonly topics: readonly string[]
  readonly recordsMax: number
  readonly handler: Handler
  /** Commits on behalf of the member that owns the partitions. */
  readonly commit: Commit
  /** Called when every partition added so far is being read. */
  onBegun(): void
  /** Called when a topic was made anew: the positions that were found belong to the one before. */
  onReplaced(topic: string): void
  /** Ends the subscription: a handler threw, or records are lost. */
  fail(error: unknown): void
}

interface PartitionQueue {
  readonly source: Source
  /** Aborted when the partition is removed, or when all are. */
  readonly stop: AbortController
  /** Records that were fetched but not yet handed to the handler. */
  readonly chunks: FetchedRecords[]
  waitingBytes: number
  endPosition: number
  runningSince: number | null
  /** The running handler, or the last one. */
  handled: Promise<void>
}

/** Maximum bytes that may wait for a partition before no more are fetched for it. */
const AHEAD_BYTES = 1024 * 1024
/** A batch ends with the record that reaches this many bytes, inflated, so that memory stays bounded whatever the records' sizes. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024
/**
 * Milliseconds to gather records between fetches. A store makes records searchable once a second, so a projection that waits here waits
 * less there, and brokers, consumers and the store get fewer and fuller requests.
 */
const GATHER_MS = 100

/** Reads the partitions that are added, independently of each other: a slow handler of one does not hold up the others. */
export function startAssignment(options: AssignmentOptions): Assignment {
  const { context, recordsMax } = options
  const stop = new AbortController()
  const { signal } = stop
  const queues = new Map<Source, PartitionQueue>()
  const starts = new Set<Start>()

  const abort = (): void => {
    stop.abort()
    for (const queue of queues.values()) queue.stop.abort()
  }
  const giveUp = (error: unknown): void => {
    abort()
    options.fail(error)
  }
  const pump = (queue: PartitionQueue): void => {
    if (queue.runningSince !== null || queue.stop.signal.aborted) return
    const records = take(queue, recordsMax, giveUp)
    if (records.length === 0) return
    queue.runningSince = performance.now()
    queue.handled = handleBatch(options, queue, records, abort, giveUp).finally(() => {
      queue.runningSince = null
      fetcher.wake()
      pump(queue)
    })
  }
  const fetcher = startFetcher({
    ...context,
    topics: options.topics,
    sources: [],
    signal,
    gatherMs: GATHER_MS,
    wants: (source) => (queues.get(source)?.waitingBytes ?? 0) < AHEAD_BYTES,
    onRecords: (source, records, endPosition) => {
      const queue = queues.get(source)
      if (queue === undefined || queue.stop.signal.aborted) return
      queue.endPosition = endPosition
      queue.chunks.push(records)
      queue.waitingBytes += records.bytes
      pump(queue)
    },
    onOutOfRange: (source) => checkRange(context.cluster, source),
    onReplaced: ({ topic }) => options.onReplaced(topic),
  })
  const reading = fetcher.done.catch(giveUp)

  const add = (partitions: readonly TopicPartitions[]): void => {
    const starting = findStartingPoints({
      context,
      group: options.group,
      partitions,
      signal,
      onAllFound: options.onBegun,
      onFound: (point) => {
        const source = { ...point, topicId: undefined, answeredAt: performance.now(), unledAt: 0, flaw: null }
        queues.set(source, queueOf(source))
        fetcher.add(source)
      },
    })
    const start = { ...starting, at: performance.now(), done: starting.done.catch(giveUp) }
    starts.add(start)
    void start.done.then(() => starts.delete(start))
  }
  const remove = async (topic: string, partition: number): Promise<void> => {
    for (const start of starts) start.forget(topic, partition)
    for (const [source, queue] of queues) {
      if (source.topic !== topic || source.partition !== partition) continue
      queue.stop.abort()
      fetcher.remove(source)
      await queue.handled
      queues.delete(source)
    }
  }

  return {
    add,
    remove,
    abort,
    ended: async () => {
      await Promise.all([reading, ...[...starts].map(({ done }) => done)])
      await Promise.all([...queues.values()].map(({ handled }) => handled))
    },
    busySince: () => oldestRun([...queues.values()]),
    states: () => [...[...starts].flatMap(waitingStates), ...[...queues.values()].flatMap(readingState)],
  }
}

function oldestRun(queues: readonly PartitionQueue[]): number | null {
  const since = queues.map((queue) => queue.runningSince).filter((each) => each !== null)
  return since.length === 0 ? null : Math.min(...since)
}

const queueOf = (source: Source): PartitionQueue => ({
  source,
  stop: new AbortController(),
  chunks: [],
  waitingBytes: 0,
  endPosition: 0,
  runningSince: null,
  handled: Promise.resolve(),
})

async function handleBatch(
  { handler, commit }: AssignmentOptions,
  { source: { topic, partition }, stop: { signal }, endPosition }: PartitionQueue,
  records: readonly JournalRecord[],
  onFenced: () => void,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const commitOwned = async (position: number): Promise<void> => {
    if (signal.aborted) return
    const outcome = await commit(topic, partition, position, signal)
    if (outcome === 'fenced' && !signal.aborted) onFenced()
  }
  try {
    await handler({ topic, partition, records, endPosition, signal, commit: commitOwned })
  } catch (error) {
    // Once the partition is gone, its records are redelivered to the next owner; a failure of the old batch does not matter.
    if (!signal.aborted) onFailure(error)
  }
}

/** Partitions whose position is being looked up. */
interface Start extends StartingPoints {
  /** When it began (`performance.now()`). */
  readonly at: number
}

const waitingStates = ({ pending, at }: Start): readonly PartitionState[] =>
  pending().map((each) => stateOf(each, each.reason, { answeredAt: at, unledAt: 0 }))

const readingState = ({ source, stop }: PartitionQueue): readonly PartitionState[] =>
  stop.signal.aborted ? [] : [stateOf(source, source.flaw, source)]

const stateOf = (
  { topic, partition }: { readonly topic: string; readonly partition: number },
  waitsFor: string | null,
  { answeredAt, unledAt }: Pick<Source, 'answeredAt' | 'unledAt'>,
): PartitionState => ({ partition: `${topic}/${partition}`, waitsFor, answeredAt, unledAt })

/** The next records of a partition, from as many fetches as it takes to fill a batch; empty if they cannot be read. */
function take(
  queue: PartitionQueue,
  recordsMax: number,
  onFailure: (error: unknown) => void,
): readonly JournalRecord[] {
  const taken: JournalRecord[] = []
  const room = { records: recordsMax, bytes: BATCH_BYTES_MAX }
  try {
    while (room.records > 0 && room.bytes > 0) {
      const chunk = queue.chunks[0]
      if (chunk === undefined) break
      taken.push(...chunk.take(room))
      if (!chunk.isEmpty()) break
      queue.chunks.shift()
      queue.waitingBytes -= chunk.bytes
    }
    return taken
  } catch (error) {
    onFailure(error)
    return []
  }
}

async function checkRange(cluster: Cluster, source: Source): Promise<void> {
  const found = await boundsNow(cluster, source)
  if (found) refuseLost(source, found.first, found.end)
}

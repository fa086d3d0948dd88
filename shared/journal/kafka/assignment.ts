import type { JournalRecord, PartitionBatch } from '../journal.ts'
import type { Cluster } from './cluster.ts'
import type { FetchedRecords } from './fetched-records.ts'
import { type Source, startFetcher } from './fetcher.ts'
import { boundsNow, type ReadContext } from './read.ts'
import type { PartitionState } from './stall.ts'
import { findStartingPoints, refuseLost } from './starting-points.ts'

export type Handler = (batch: PartitionBatch) => Promise<void>

/** The partitions that a member reads in one generation of its group. */
export interface Assignment {
  /** Stops the reading and aborts the batches; does not wait. */
  abort(): void
  /** Resolves when no handler runs and nothing is fetched. */
  ended(): Promise<void>
  /** Of `performance.now()`: since when the oldest running handler has run; null: none runs. */
  busySince(): number | null
  /** The state of each partition's reading. */
  states(): readonly PartitionState[]
}

export interface AssignmentOptions {
  readonly context: ReadContext
  readonly group: string
  readonly recordsMax: number
  readonly partitions: readonly { readonly topic: string; readonly partitions: readonly number[] }[]
  readonly handler: Handler
  /** Commits in the generation of this assignment. */
  commit(topic: string, partition: number, position: number, signal: AbortSignal): Promise<'committed' | 'fenced'>
  /** Every partition is being read. */
  onBegun(): void
  /** The subscription must end: a handler threw, or records are lost. */
  fail(error: unknown): void
}

interface PartitionQueue {
  readonly source: Source
  /** Fetched and not yet handed to the handler. */
  readonly chunks: FetchedRecords[]
  waitingBytes: number
  endPosition: number
  runningSince: number | null
}

/** Bytes that a partition may have waiting before no more are fetched for it. */
const AHEAD_BYTES = 1024 * 1024
/**
 * A store makes records searchable once a second, so what a projection waits here it does not wait there; brokers, consumers and the store have
 * fewer and fuller requests.
 */
const GATHER_MS = 100

/** Begins to read where the group stands. Each partition goes its own way: a slow handler of one holds up no other. */
export function startAssignment(options: AssignmentOptions): Assignment {
  const { context, recordsMax, handler } = options
  const stop = new AbortController()
  const { signal } = stop
  const running = new Set<Promise<void>>()
  const queues = new Map<Source, PartitionQueue>()
  const startedAt = performance.now()

  const giveUp = (error: unknown): void => {
    stop.abort()
    options.fail(error)
  }
  const read = (queue: PartitionQueue): readonly JournalRecord[] => {
    try {
      return take(queue, recordsMax)
    } catch (error) {
      giveUp(error)
      return []
    }
  }
  const pump = (queue: PartitionQueue): void => {
    if (queue.runningSince !== null || signal.aborted) return
    const records = read(queue)
    if (records.length === 0) return
    queue.runningSince = performance.now()
    const handled = handle(queue, records).finally(() => {
      queue.runningSince = null
      running.delete(handled)
      fetcher.wake()
      pump(queue)
    })
    running.add(handled)
  }
  const handle = async ({ source, endPosition }: PartitionQueue, records: readonly JournalRecord[]): Promise<void> => {
    const { topic, partition } = source
    const commit = async (position: number): Promise<void> => {
      if (signal.aborted) return
      const outcome = await options.commit(topic, partition, position, signal)
      if (outcome === 'fenced') stop.abort()
    }
    try {
      await handler({ topic, partition, records, endPosition, signal, commit })
    } catch (error) {
      // Once the partition is gone its records come again to its next owner; a failure of the old batch decides nothing.
      if (!signal.aborted) giveUp(error)
    }
  }
  const fetcher = startFetcher({
    ...context,
    topics: options.partitions.map(({ topic }) => topic),
    sources: [],
    signal,
    gatherMs: GATHER_MS,
    wants: (source) => (queues.get(source)?.waitingBytes ?? 0) < AHEAD_BYTES,
    onRecords: (source, records, endPosition) => {
      const queue = queues.get(source)
      if (queue === undefined) return
      queue.endPosition = endPosition
      queue.chunks.push(records)
      queue.waitingBytes += records.bytes
      pump(queue)
    },
    onOutOfRange: (source) => checkRange(context.cluster, source),
  })
  const starting = findStartingPoints({
    ...options,
    signal,
    onAllFound: options.onBegun,
    onFound: (point) => {
      const source = { ...point, answeredAt: performance.now(), unledAt: 0 }
      queues.set(source, { source, chunks: [], waitingBytes: 0, endPosition: 0, runningSince: null })
      fetcher.add(source)
    },
  })
  const reading = Promise.all([fetcher.done.catch(giveUp), starting.done.catch(giveUp)])

  return {
    abort: () => stop.abort(),
    ended: async () => {
      await reading
      while (running.size > 0) await Promise.all(running)
    },
    busySince: () => {
      const since = [...queues.values()].map((queue) => queue.runningSince).filter((each) => each !== null)
      return since.length === 0 ? null : Math.min(...since)
    },
    states: () => [
      ...starting.pending().map((each) => stateOf(each, each.reason, { answeredAt: startedAt, unledAt: 0 })),
      ...[...queues.keys()].map((source) => stateOf(source, null, source)),
    ],
  }
}

const stateOf = (
  { topic, partition }: { readonly topic: string; readonly partition: number },
  waitsFor: string | null,
  { answeredAt, unledAt }: Pick<Source, 'answeredAt' | 'unledAt'>,
): PartitionState => ({ partition: `${topic}/${partition}`, waitsFor, answeredAt, unledAt })

/** The next records of a partition, of as many fetches as it takes to fill a batch. */
function take(queue: PartitionQueue, recordsMax: number): readonly JournalRecord[] {
  const taken: JournalRecord[] = []
  while (taken.length < recordsMax) {
    const chunk = queue.chunks[0]
    if (chunk === undefined) break
    taken.push(...chunk.take(recordsMax - taken.length))
    if (!chunk.isEmpty()) break
    queue.chunks.shift()
    queue.waitingBytes -= chunk.bytes
  }
  return taken
}

async function checkRange(cluster: Cluster, source: Source): Promise<void> {
  const found = await boundsNow(cluster, source)
  if (found) refuseLost(source, found.first, found.end)
}

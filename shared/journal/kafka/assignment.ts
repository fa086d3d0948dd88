import { type JournalRecord, type PartitionBatch, PositionLostError } from '../journal.ts'
import type { Cluster } from './cluster.ts'
import { describeFault } from './faults.ts'
import type { FetchedRecords } from './fetched-records.ts'
import { type Fetcher, type Source, startFetcher } from './fetcher.ts'
import type { ReadContext } from './read.ts'
import { createWaker } from './waiting.ts'

export type Handler = (batch: PartitionBatch) => Promise<void>

/** What a member reads in one generation of its group. */
export interface Assignment {
  /** Stops the reading and aborts the batches; does not wait. */
  abort(): void
  /** Resolves when no handler runs and nothing is fetched. */
  ended(): Promise<void>
  /** Of `performance.now()`: since when the oldest running handler has run; null: none runs. */
  busySince(): number | null
  /** Of `performance.now()`: when the partition that waits longest was last answered for. */
  answeredAt(): number
}

export interface AssignmentOptions {
  readonly context: ReadContext
  readonly group: string
  readonly recordsMax: number
  readonly partitions: readonly { readonly topic: string; readonly partitions: readonly number[] }[]
  readonly handler: Handler
  /** Commits in the generation of this assignment. */
  commit(topic: string, partition: number, position: number, signal: AbortSignal): Promise<'committed' | 'fenced'>
  /** The subscription must end: a handler threw, or records are lost. */
  fail(error: unknown): void
}

interface Lane {
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
 * A store makes records searchable once a second, so what a view waits here it does not wait there; brokers, consumers and the store have
 * fewer and fuller requests.
 */
const GATHER_MS = 100
const RETRY_DELAY_MS = 500

/** Begins to read where the group stands. Each partition goes its own way: a slow handler of one holds up no other. */
export function startAssignment(options: AssignmentOptions): Assignment {
  const { context, recordsMax, handler, fail } = options
  const stop = new AbortController()
  const { signal } = stop
  const waker = createWaker(signal)
  const running = new Set<Promise<void>>()
  let lanes: readonly Lane[] = []
  let fetcher: Fetcher | undefined
  const startedAt = performance.now()

  const read = (lane: Lane): readonly JournalRecord[] => {
    try {
      return take(lane, recordsMax)
    } catch (error) {
      stop.abort()
      fail(error)
      return []
    }
  }
  const pump = (lane: Lane): void => {
    if (lane.runningSince !== null || signal.aborted) return
    const records = read(lane)
    if (records.length === 0) return
    lane.runningSince = performance.now()
    const handled = handle(lane, records).finally(() => {
      lane.runningSince = null
      running.delete(handled)
      fetcher?.wake()
      pump(lane)
    })
    running.add(handled)
  }
  const handle = async ({ source, endPosition }: Lane, records: readonly JournalRecord[]): Promise<void> => {
    const { topic, partition } = source
    const commit = async (position: number): Promise<void> => {
      if (signal.aborted) return
      const outcome = await options.commit(topic, partition, position, signal)
      if (outcome === 'fenced') stop.abort()
    }
    try {
      await handler({ topic, partition, records, endPosition, signal, commit })
    } catch (error) {
      // Once the partition is gone its records come again to whoever owns it; what fails of the old batch decides nothing.
      if (signal.aborted) return
      stop.abort()
      fail(error)
    }
  }
  const run = async (): Promise<void> => {
    const sources = await startingPoints(options, waker, signal)
    if (signal.aborted) return
    lanes = sources.map((source) => ({ source, chunks: [], waitingBytes: 0, endPosition: 0, runningSince: null }))
    const laneOf = new Map(lanes.map((lane) => [lane.source, lane]))
    fetcher = startFetcher({
      ...context,
      sources,
      signal,
      gatherMs: GATHER_MS,
      wants: (source) => (laneOf.get(source)?.waitingBytes ?? 0) < AHEAD_BYTES,
      onRecords: (source, records, endPosition) => {
        const lane = laneOf.get(source)
        if (lane === undefined) return
        lane.endPosition = endPosition
        lane.chunks.push(records)
        lane.waitingBytes += records.bytes
        pump(lane)
      },
      onOutOfRange: (source) => checkRange(context.cluster, source),
    })
    await fetcher.done
  }
  const reading = run().catch((error) => {
    stop.abort()
    fail(error)
  })

  return {
    abort: () => stop.abort(),
    ended: async () => {
      await reading
      while (running.size > 0) await Promise.all(running)
    },
    busySince: () => {
      const since = lanes.map((lane) => lane.runningSince).filter((each) => each !== null)
      return since.length === 0 ? null : Math.min(...since)
    },
    answeredAt: () => Math.min(performance.now(), ...lanes.map((lane) => Math.max(startedAt, lane.source.answeredAt))),
  }
}

/** The next records of a partition, of as many fetches as it takes to fill a batch. */
function take(lane: Lane, recordsMax: number): readonly JournalRecord[] {
  const taken: JournalRecord[] = []
  while (taken.length < recordsMax) {
    const chunk = lane.chunks[0]
    if (chunk === undefined) break
    taken.push(...chunk.take(recordsMax - taken.length))
    if (!chunk.isEmpty()) break
    lane.chunks.shift()
    lane.waitingBytes -= chunk.bytes
  }
  return taken
}

/** Where the group stands in each partition; asks until the coordinator answers. */
async function startingPoints(
  { context, group, partitions }: AssignmentOptions,
  waker: { wait(ms: number): Promise<void> },
  signal: AbortSignal,
): Promise<readonly Source[]> {
  const sources: Source[] = []
  for (const { topic, partitions: numbers } of partitions) {
    const positions = await askUntil(() => context.cluster.positions(topic, group))
    for (const partition of numbers) {
      const found = positions?.[partition]
      if (found === undefined) continue
      const { committed, firstOffset, endPosition } = found
      const source = { topic, partition, position: committed ?? firstOffset, answeredAt: performance.now() }
      refuseLost(source, firstOffset, endPosition)
      sources.push(source)
    }
  }
  return sources

  async function askUntil<T>(ask: () => Promise<T>): Promise<T | undefined> {
    while (!signal.aborted) {
      try {
        return await ask()
      } catch (error) {
        context.logger.debug({ group, reason: describeFault(error) }, 'the committed positions could not be read')
        await waker.wait(RETRY_DELAY_MS)
      }
    }
    return undefined
  }
}

/** Clients go on from the first or the last record where a position is out of range, and so hide a loss; this one stops. */
function refuseLost({ topic, partition, position }: Source, firstOffset: number, endPosition: number): void {
  if (position < firstOffset) throw new PositionLostError(topic, partition, position, firstOffset)
  if (position > endPosition) {
    throw new Error(
      `${topic}/${partition}: the group stands at ${position}, but the topic ends at ${endPosition}; it was made anew or lost records`,
    )
  }
}

async function checkRange(cluster: Cluster, source: Source): Promise<void> {
  const bounds = await cluster.bounds(source.topic).catch(() => [])
  const found = bounds[source.partition]
  if (found) refuseLost(source, found.first, found.end)
}

import type { PartitionBatch } from '../journal.ts'
import type { Cluster } from './cluster.ts'
import type { Commit } from './commit.ts'
import { describeFault } from './faults.ts'
import type { FetchedRecord, FetchedRecords } from './fetched-records.ts'
import { startFetcher } from './fetcher.ts'
import { type LogPlace, NO_EPOCH } from './offsets.ts'
import { boundsNow, type ReadContext } from './read.ts'
import { type Source, sourceAt } from './source.ts'
import type { PartitionState } from './stall.ts'
import { findStartingPoints, refuseLost, type StartingPoint, type Waiting } from './starting-points.ts'

export type Handler = (batch: PartitionBatch) => Promise<void>

/** The partitions that a member reads. */
export interface Assignment {
  /** Starts to read at the group's position. */
  add(partitions: readonly Pick<PartitionState, 'topic' | 'partition'>[]): void
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
  /** As in `SubscribeOptions`. */
  readonly note?: () => string | null
  readonly handler: Handler
  /** Commits on behalf of the member that owns the partitions. */
  readonly commit: Commit
  /** Called when the group has refused a commit because it has moved on without the member; all batches are aborted then. */
  onFenced?(): void
  /** Called when every partition added so far is being read. */
  onBegun(): void
  /** Called when a topic was made anew: the positions that were found belong to the one before. */
  onReplaced(topic: string): void
  /** Ends the subscription: a handler threw, or records are lost. */
  fail(error: unknown): void
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

/**
 * Reads the partitions that are added, independently of each other: a slow handler of one does not hold up the others. A partition is
 * waiting until its position is known; then it is a source of the fetcher, with a queue of its records, until it is removed.
 */
export function startAssignment(options: AssignmentOptions): Assignment {
  const { context, group, topics } = options
  const stop = new AbortController()
  const { signal } = stop
  const waiting = new Set<Waiting>()
  const queues = new Map<Source, PartitionQueue>()
  const searches = new Set<Promise<void>>()

  const abort = (): void => {
    stop.abort()
    waiting.clear()
    for (const queue of queues.values()) queue.abort()
  }
  const fail = (error: unknown): void => {
    abort()
    options.fail(error)
  }
  const onFenced = (): void => {
    abort()
    options.onFenced?.()
  }
  const fetcher = startFetcher({
    ...context,
    topics,
    sources: [],
    signal,
    gatherMs: GATHER_MS,
    wants: (source) => queues.get(source)?.hasRoom() ?? true,
    onRecords: (source, records, endPosition) => queues.get(source)?.put(records, endPosition),
    onOutOfRange: (source) => checkRange(context.cluster, source).catch((error) => failAfterRest(source, error)),
    onReplaced: ({ topic }) => options.onReplaced(topic),
  })
  const fetching = fetcher.done.catch(fail)
  /** Records that were read before may be nowhere else by now: they are handled first, however long that takes. Does not wait for it. */
  const failAfterRest = (source: Source, error: unknown): void => {
    source.obstacle = describeFault(error)
    fetcher.remove(source)
    void queues
      .get(source)
      ?.emptied()
      .then((isOwned) => {
        if (isOwned) fail(error)
      })
  }
  const read = (point: StartingPoint): void => {
    const source = sourceAt(point)
    queues.set(source, createQueue(source, options, { onHandled: fetcher.wake, onFenced, fail }))
    fetcher.add(source)
  }

  return {
    add: (added) => {
      const begun = { obstacle: 'its position is being asked for', answeredAt: performance.now(), refusal: null }
      const partitions = added.map(({ topic, partition }): Waiting => ({ topic, partition, ...begun }))
      for (const each of partitions) waiting.add(each)
      const isSought = (each: Waiting): boolean => waiting.has(each)
      const onFound = (each: Waiting, point: StartingPoint): void => {
        waiting.delete(each)
        read(point)
      }
      const search = findStartingPoints({ context, group, partitions, signal, isSought, onFound })
        .then(() => {
          if (!signal.aborted) options.onBegun()
        })
        .catch(fail)
        .finally(() => searches.delete(search))
      searches.add(search)
    },
    remove: async (topic, partition) => {
      for (const each of waiting) if (each.topic === topic && each.partition === partition) waiting.delete(each)
      for (const [source, queue] of queues) {
        if (source.topic !== topic || source.partition !== partition) continue
        queue.abort()
        fetcher.remove(source)
        await queue.handled()
        queues.delete(source)
      }
    },
    abort,
    ended: async () => {
      await Promise.all([fetching, ...searches])
      await Promise.all([...queues.values()].map((queue) => queue.handled()))
    },
    busySince: () => {
      const since = [...queues.values()].map((queue) => queue.busySince()).filter((each) => each !== null)
      return since.length === 0 ? null : Math.min(...since)
    },
    states: () => [...waiting, ...[...queues.values()].flatMap((queue) => queue.states())],
  }
}

type PartitionQueue = ReturnType<typeof createQueue>

interface QueueEvents {
  /** Called when the handler has returned, and there may be room for more records. */
  onHandled(): void
  onFenced(): void
  fail(error: unknown): void
}

/** One partition's records on their way from the fetcher to the handler, which has one batch of them at a time. */
function createQueue(source: Source, { handler, commit, recordsMax }: AssignmentOptions, events: QueueEvents) {
  const { topic, partition } = source
  const stop = new AbortController()
  const { signal } = stop
  const chunks: FetchedRecords[] = []
  let endPosition = 0
  let busySince: number | null = null
  /** The position after the last record that the handler got, and the one up to which nothing is left to commit. */
  let [handed, settled] = [source.position, source.position]
  /** Resolves when the running handler has returned, or the last one. */
  let handled = Promise.resolve()

  const handleNext = (): void => {
    if (busySince !== null || signal.aborted) return
    const records = take()
    const isPast = chunks.length === 0 && settled === handed && source.position > handed
    if (records.length === 0 && !isPast) return
    busySince = performance.now()
    handled = (records.length === 0 ? passOver() : handle(records)).finally(() => {
      busySince = null
      events.onHandled()
      handleNext()
    })
  }
  const take = (): readonly FetchedRecord[] => {
    try {
      return takeBatch(chunks, recordsMax)
    } catch (error) {
      events.fail(error)
      return []
    }
  }
  /** Commits the position after what is no record, as the marker of a transaction: the group would seem to be behind for ever. */
  const passOver = (): Promise<void> => {
    const { position, leaderEpoch } = source
    handed = position
    return commitOwned({ position, leaderEpoch }).catch(events.fail)
  }
  const handle = async (records: readonly FetchedRecord[]): Promise<void> => {
    handed = (records.at(-1)?.offset ?? 0) + 1
    const commitOf = (position: number) => commitOwned({ position, leaderEpoch: epochBefore(position, records) })
    try {
      await handler({ topic, partition, records, endPosition, signal, commit: commitOf })
    } catch (error) {
      // Once the partition is gone, its records are redelivered to the next owner; a failure of the old batch does not matter.
      if (!signal.aborted) events.fail(error)
    }
  }
  const commitOwned = async (place: LogPlace): Promise<void> => {
    if (signal.aborted) return
    const outcome = await commit(topic, partition, place, signal)
    if (outcome === 'committed') settled = place.position
    if (outcome === 'fenced' && !signal.aborted) events.onFenced()
  }

  return {
    hasRoom: (): boolean => chunks.reduce((sum, { bytes }) => sum + bytes, 0) < AHEAD_BYTES,
    put: (records: FetchedRecords, end: number): void => {
      if (signal.aborted) return
      chunks.push(records)
      endPosition = end
      handleNext()
    },
    /** Aborts the running batch; there is none after it. */
    abort: (): void => stop.abort(),
    handled: (): Promise<void> => handled,
    /** Resolves when all of its records were handled, to whether the partition is still read. */
    emptied: async (): Promise<boolean> => {
      while (busySince !== null && !signal.aborted) await handled
      return !signal.aborted
    },
    /** When the running handler started (`performance.now()`); null if none is running. */
    busySince: (): number | null => busySince,
    states: (): readonly PartitionState[] => (signal.aborted ? [] : [source]),
  }
}

/** The epoch of the record before a position, which is mostly the last one. */
const epochBefore = (position: number, records: readonly FetchedRecord[]): number =>
  records.findLast(({ offset }) => offset === position - 1)?.leaderEpoch ?? NO_EPOCH

/** Takes the records of one batch, of as many fetches as fill it. Their offsets rise, also where the reading went back. */
function takeBatch(chunks: FetchedRecords[], recordsMax: number): readonly FetchedRecord[] {
  const taken: FetchedRecord[] = []
  const room = { records: recordsMax, bytes: BATCH_BYTES_MAX }
  while (room.records > 0 && room.bytes > 0) {
    const chunk = chunks[0]
    if (chunk === undefined || chunk.position <= (taken.at(-1)?.offset ?? -1)) break
    taken.push(...chunk.take(room))
    if (!chunk.isEmpty()) break
    chunks.shift()
  }
  return taken
}

/** The epoch of a position that was copied from another cluster, say, means nothing in this one; it may lie between other records, too. */
const UNKNOWN_EPOCH =
  "the epoch of the group's position is later than its leader's; it may be that of another topic or cluster: set the position anew"

/** A leader also calls a position out of range whose epoch it does not know. */
async function checkRange(cluster: Cluster, source: Source): Promise<void> {
  const found = await boundsNow(cluster, source)
  if (found === undefined) return
  refuseLost(source, found.first, found.end)
  if (source.leaderEpoch !== NO_EPOCH) source.obstacle = UNKNOWN_EPOCH
}

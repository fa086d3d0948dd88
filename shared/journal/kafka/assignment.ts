import type { Cluster } from './cluster.ts'
import { describeFault } from './faults.ts'
import { startFetcher } from './fetcher.ts'
import { NO_EPOCH } from './offsets.ts'
import { boundsNow, type ReadContext } from './read.ts'
import { createReadQueue, type QueueOptions, type ReadQueue } from './read-queue.ts'
import { type Source, sourceAt } from './source.ts'
import type { PartitionState } from './stall.ts'
import { findStartingPoints, refuseLost, type StartingPoint, type Waiting } from './starting-points.ts'

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

export interface AssignmentOptions extends QueueOptions {
  readonly context: ReadContext
  readonly group: string
  /** The topics of all partitions, including those added later. */
  readonly topics: readonly string[]
  /** As in `SubscribeOptions`. */
  readonly note?: () => string | null
  /** Called when the group has refused a commit because it has moved on without the member; all batches are aborted then. */
  onFenced?(): void
  /** Called when every partition added so far is being read. */
  onBegun(): void
  /** Called when a topic was made anew: the positions that were found belong to the one before. */
  onReplaced(place: Pick<Source, 'topic'>): void
  /** Ends the subscription: a handler threw, or records are lost. */
  fail(error: unknown): void
}

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
  const { context, group, topics, onReplaced } = options
  const stop = new AbortController()
  const { signal } = stop
  const waiting = new Set<Waiting>()
  const queues = new Map<Source, ReadQueue>()
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
    onReplaced,
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
    queues.set(source, createReadQueue(source, options, { onHandled: fetcher.wake, onFenced, onReplaced, fail }))
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

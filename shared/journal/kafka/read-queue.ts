import type { PartitionBatch } from '../journal.ts'
import type { Cluster } from './cluster.ts'
import type { Commit } from './commit.ts'
import type { FetchedRecord, FetchedRecords } from './fetched-records.ts'
import { type LogPlace, NO_EPOCH } from './offsets.ts'
import type { Source } from './source.ts'
import type { PartitionState } from './stall.ts'

export type Handler = (batch: PartitionBatch) => Promise<void>

export interface QueueOptions {
  readonly recordsMax: number
  readonly handler: Handler
  /** Commits on behalf of the member that owns the partitions. */
  readonly commit: Commit
  readonly context: { readonly cluster: Pick<Cluster, 'idOf'> }
}

/** Maximum bytes that may wait for a partition before no more are fetched for it. */
const AHEAD_BYTES = 1024 * 1024
/** A batch ends with the record that reaches this many bytes, inflated, so that memory stays bounded whatever the records' sizes. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024

export type ReadQueue = ReturnType<typeof createReadQueue>

interface QueueEvents {
  /** Called when the handler has returned, and there may be room for more records. */
  onHandled(): void
  onFenced(): void
  /** Called when a commit found that the topic was made anew. */
  onReplaced(source: Source): void
  fail(error: unknown): void
}

/** One partition's records on their way from the fetcher to the handler, which has one batch of them at a time. */
export function createReadQueue(source: Source, options: QueueOptions, events: QueueEvents) {
  const { handler, commit, recordsMax, context } = options
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
  /** Commits the position after offsets without a record, such as markers of transactions: the group would seem to be behind for ever. */
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
    const outcome = await commit(topic, partition, place, signal, isStillThere)
    if (outcome === 'committed') settled = place.position
    if (outcome === 'fenced' && !signal.aborted) events.onFenced()
    if (outcome === 'replaced' && !signal.aborted) events.onReplaced(source)
  }
  const isStillThere = async (isDoubtful: boolean): Promise<boolean | null> => {
    if (!isDoubtful && !source.isTopicMissed) return true
    const present = await context.cluster.idOf(topic)
    return present === null ? null : present === source.topicId
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

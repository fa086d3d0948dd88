import { chunksOf } from '../batches.ts'
import { AppendError } from '../journal.ts'
import type { Database } from './database.ts'
import { toAppendError } from './failures.ts'
import type { Partitions } from './partitions.ts'
import { compressContent, type PackedBatch, packedRecords } from './record-codec.ts'
import { batchId } from './schema.ts'

/** Maximum bytes of one transaction of several batches: it limits how long the first of them waits for the last. */
const GROUP_BYTES_MAX = 8 * 1024 * 1024
/** After this many bytes the write-ahead log is restarted. */
const LOG_RESTART_BYTES = 128 * 1024 * 1024

/** Records to be appended to one partition. */
export interface PackedAppend {
  readonly topic: string
  readonly partition: number
  readonly batches: readonly PackedBatch[]
}

interface Prepared {
  readonly partitionId: number
  /** In a compacted topic each record has a row of its own, so that it can be removed individually. */
  readonly compacted: boolean
  readonly appendedAt: number
  readonly batches: readonly StoredContent[]
  readonly bytes: number
}

/** A packed batch in the form that is written. */
type StoredContent = Pick<PackedBatch, 'count'> & { readonly content: Uint8Array }

/** The growth of a partition within a transaction. */
interface Growth {
  next: number
  bytes: number
}

export function createAppender(database: Database, partitions: Partitions) {
  const insert = database.prepare(
    'INSERT INTO batches (id, appended_at, records, key, deletes, content) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const advance = database.prepare('UPDATE partitions SET next_offset = ?, bytes = bytes + ? WHERE id = ?')

  const prepare = ({ topic, partition, batches: packed }: PackedAppend, appendedAt: number): Prepared => {
    const found = partitions.find(topic, partition)
    if (found === undefined) throw new AppendError(`${topic} has no partition ${partition}`, 'not_written')
    const batches = found.compacted
      ? packed
      : packed.map(({ count, content }) => ({ count, content: compressContent(content) }))
    const bytes = batches.reduce((sum, { content }) => sum + content.length, 0)
    return { partitionId: found.id, compacted: found.compacted, appendedAt, batches, bytes }
  }

  const write = ({ partitionId, compacted, appendedAt, batches, bytes }: Prepared, growth: Growth): void => {
    for (const { count, content } of batches) {
      if (compacted) {
        for (const { key, value, whole } of packedRecords(content))
          insert.run(batchId(partitionId, growth.next++), appendedAt, 1, key, value === null ? 1 : 0, whole)
      } else {
        insert.run(batchId(partitionId, growth.next), appendedAt, count, null, null, content)
        growth.next += count
      }
    }
    growth.bytes += bytes
  }

  const writeGroup = (batches: readonly Prepared[]): void =>
    database.write(() => {
      const grown = new Map<number, Growth>()
      for (const batch of batches) {
        // The end is read within the transaction, as another process may have appended.
        const growth = grown.get(batch.partitionId) ?? {
          next: partitions.state(batch.partitionId).endPosition,
          bytes: 0,
        }
        grown.set(batch.partitionId, growth)
        write(batch, growth)
      }
      for (const [id, { next, bytes }] of grown) advance.run(next, bytes, id)
    })

  let bytesInLog = 0
  const writeAndRestart = (batches: readonly Prepared[]): void => {
    writeGroup(batches)
    bytesInLog += batches.reduce((sum, { bytes }) => sum + bytes, 0)
    if (bytesInLog < LOG_RESTART_BYTES) return
    bytesInLog = 0
    // Deferred, as these records are durable and their senders need not wait.
    setImmediate(restartLog)
  }

  const restartLog = (): void => {
    try {
      database.restartLog()
    } catch {
      // The log stays as it is; a problem that prevents the checkpoint will fail an append too, and be reported there.
    }
  }

  const queue = createAppendQueue(writeAndRestart, GROUP_BYTES_MAX)

  return {
    /** Appends that arrive together are written in one transaction. Rejects with an `AppendError`. */
    append: async (packed: PackedAppend, appendedAt: number): Promise<void> => {
      try {
        const prepared = prepare(packed, appendedAt)
        await queue.add(prepared, prepared.bytes)
      } catch (error) {
        throw toAppendError(error)
      }
    },
    flush: queue.flush,
  }
}

interface Waiting<Batch> {
  readonly batch: Batch
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Writes the batches that arrive in one event loop turn in one transaction of at most about `groupBytesMax` bytes, in order of arrival:
 * they share one disk sync. An error that `write` throws fails the whole group. What waits is bounded only by what the callers have in
 * progress.
 */
export function createAppendQueue<Batch>(write: (batches: readonly Batch[]) => void, groupBytesMax: number) {
  let waiting: Waiting<Batch>[] = []
  let scheduled = false

  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      writeGroup()
      if (waiting.length > 0) schedule()
    })
  }

  const writeGroup = (): void => {
    const group = takeGroup()
    if (group.length === 0) return
    try {
      write(group.map(({ batch }) => batch))
      for (const { resolve } of group) resolve()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  const takeGroup = (): readonly Waiting<Batch>[] => {
    const limits = { recordsMax: Number.POSITIVE_INFINITY, bytesMax: groupBytesMax }
    const [group = []] = chunksOf(waiting, ({ bytes }) => bytes, limits)
    waiting = waiting.slice(group.length)
    return group
  }

  return {
    /** Resolves when the batch is durable, rejects when it is not. */
    add: (batch: Batch, bytes: number): Promise<void> => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting.push({ batch, bytes, resolve, reject })
      schedule()
      return promise
    },
    /** Writes everything that waits at once. */
    flush: (): void => {
      while (waiting.length > 0) writeGroup()
    },
  }
}

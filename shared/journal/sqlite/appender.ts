import { type AppendBatch, AppendError } from '../journal.ts'
import { createAppendQueue } from './append-queue.ts'
import type { Database } from './database.ts'
import { toAppendError } from './failures.ts'
import type { Partitions } from './partitions.ts'
import { type EncodedRecord, encodeRecord } from './record-codec.ts'
import { recordId } from './schema.ts'

/** The most bytes of one transaction of several batches: it bounds how long the first of them waits for the last. */
const GROUP_BYTES_MAX = 8 * 1024 * 1024
/** After this many bytes the write-ahead log is made to begin anew. */
const LOG_RESTART_BYTES = 128 * 1024 * 1024

export interface Appender {
  append(batch: AppendBatch, appendedAt: number): Promise<void>
  /** Writes at once what waits. */
  flush(): void
}

interface Prepared {
  readonly partitionId: number
  readonly appendedAt: number
  readonly records: readonly EncodedRecord[]
  readonly bytes: number
}

/** How far a partition has come within a transaction. */
interface Growth {
  next: number
  bytes: number
}

export function createAppender(database: Database, partitions: Partitions): Appender {
  const insert = database.prepare('INSERT INTO records (id, appended_at, key, value, headers) VALUES (?, ?, ?, ?, ?)')
  const advance = database.prepare('UPDATE partitions SET next_offset = ?, bytes = bytes + ? WHERE id = ?')

  const prepare = ({ topic, partition, records }: AppendBatch, appendedAt: number): Prepared => {
    const partitionId = partitions.idOf(topic, partition)
    if (partitionId === undefined) throw new AppendError(`${topic} has no partition ${partition}`, 'not_written')
    const encoded = records.map(encodeRecord)
    return { partitionId, appendedAt, records: encoded, bytes: encoded.reduce((sum, { bytes }) => sum + bytes, 0) }
  }

  const write = (batch: Prepared, growth: Growth): void => {
    for (const { key, value, headers } of batch.records) {
      insert.run(recordId(batch.partitionId, growth.next), batch.appendedAt, key, value, headers)
      growth.next += 1
    }
    growth.bytes += batch.bytes
  }

  const writeGroup = (batches: readonly Prepared[]): void =>
    database.write(() => {
      const grown = new Map<number, Growth>()
      for (const batch of batches) {
        // The end is read within the transaction, because another process may have appended.
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
    // Later, because these records are durable and their senders need not wait.
    setImmediate(restartLog)
  }

  const restartLog = (): void => {
    try {
      database.restartLog()
    } catch {
      // The log stays as it is; what keeps it from being copied will fail an append too, and be reported there.
    }
  }

  const queue = createAppendQueue(writeAndRestart, GROUP_BYTES_MAX)

  return {
    append: async (batch, appendedAt) => {
      try {
        const prepared = prepare(batch, appendedAt)
        await queue.add(prepared, prepared.bytes)
      } catch (error) {
        throw toAppendError(error)
      }
    },
    flush: queue.flush,
  }
}

import type { Callable } from '../../runtime/threads/thread.ts'
import type { DatabaseFileOptions } from '../../sqlite/database-file.ts'
import type { NamedTopic } from '../journal.ts'
import { createAppender, type PackedAppend } from './appender.ts'
import { createCompaction } from './compaction.ts'
import { openDatabase } from './database.ts'
import { createGroupPositions, type GroupPositions } from './group-positions.ts'
import { createPartitions, type PartitionState, type TopicCleanup } from './partitions.ts'
import { createRecords, type Page, type ReadRequest } from './records.ts'
import { createRetention, type RetentionRequest, type RetentionStep } from './retention.ts'

/**
 * The journal's database: all access to the file, without waiting and without subscriptions. It runs in the caller's thread or in one of
 * its own, so all arguments and results support structured cloning. Every call may throw a `JournalFileError`.
 */
export interface Store extends GroupPositions {
  /** Appends that arrive together are written in one transaction. Rejects with an `AppendError`. */
  append(packed: PackedAppend, appendedAt: number): Promise<void>
  createTopics(topics: readonly NamedTopic[]): void
  /** The topic's partitions by number; throws a `TopicMissingError`. */
  partitions(topic: string): readonly PartitionState[]
  read(request: ReadRequest): Page
  /** A number that changes when another connection has written. */
  changes(): number
  /** Writes about 1 MiB and removes it; throws if the disk has no room or fails. */
  probe(): void
  /** Every topic and how it is cleaned up. */
  topics(): readonly TopicCleanup[]
  /** Removes expired batches, in one step of bounded size. */
  retain(request: RetentionRequest): RetentionStep
  /** Keeps the last record of each key; returns how many records were removed. */
  compact(partition: PartitionState, now: number): Promise<number>
}

/** A store to call, in its own thread or the caller's. */
export type StoreCalls = Callable<Store>

/** The bytes of a probe: those of a large batch, so that room for them is room for most appends. */
const PROBE_BYTES = 1024 * 1024

/** Opens the file; throws a `JournalFileError`. */
export function openStore(options: DatabaseFileOptions): { readonly calls: Store; close(): void } {
  const database = openDatabase(options)
  const partitions = createPartitions(database)
  const appender = createAppender(database, partitions)
  const dataVersion = database.prepare('PRAGMA data_version')
  const fill = database.prepare(`INSERT INTO probe (filler) VALUES (zeroblob(${PROBE_BYTES}))`)
  const clear = database.prepare('DELETE FROM probe')
  const calls: Store = {
    ...createGroupPositions(database, partitions),
    ...createRetention(database),
    ...createCompaction(database),
    append: appender.append,
    createTopics: partitions.create,
    partitions: partitions.ofTopic,
    topics: partitions.topics,
    read: createRecords(database, partitions).read,
    changes: () => database.read(() => dataVersion.get()?.['data_version'] as number),
    probe: () => {
      database.write(() => fill.run())
      database.write(() => clear.run())
    },
  }
  return {
    calls,
    close: () => {
      appender.flush()
      database.close()
    },
  }
}

import type { Callable } from '../../runtime/threads/thread.ts'
import type { DatabaseFileOptions } from '../../sqlite/database-file.ts'
import { createAppender } from './appender.ts'
import { createCompaction } from './compaction.ts'
import { openDatabase } from './database.ts'
import { createGroupPositions } from './group-positions.ts'
import { createPartitions } from './partitions.ts'
import { createRecords } from './records.ts'
import { createRetention } from './retention.ts'

/**
 * The journal's database: all access to the file, without waiting and without subscriptions. It runs in the caller's thread or in one of
 * its own, so all arguments and results support structured cloning. Every call may throw a `JournalFileError`.
 */
export type Store = ReturnType<typeof openStore>['calls']

/** A store to call, in its own thread or the caller's. */
export type StoreCalls = Callable<Store>

/** The bytes of a probe: those of a large batch, so that room for them is room for most appends. */
const PROBE_BYTES = 1024 * 1024

/** Opens the file; throws a `JournalFileError`. */
export function openStore(options: DatabaseFileOptions) {
  const database = openDatabase(options)
  const partitions = createPartitions(database)
  const appender = createAppender(database, partitions)
  const dataVersion = database.prepare('PRAGMA data_version')
  const fill = database.prepare(`INSERT INTO probe (filler) VALUES (zeroblob(${PROBE_BYTES}))`)
  const clear = database.prepare('DELETE FROM probe')
  const calls = {
    ...createGroupPositions(database, partitions),
    ...createRetention(database),
    ...createCompaction(database),
    append: appender.append,
    createTopics: partitions.create,
    partitions: partitions.ofTopic,
    topics: partitions.topics,
    read: createRecords(database, partitions).read,
    /** A number that changes when another connection has written. */
    changes: (): number => database.read(() => dataVersion.get()?.['data_version'] as number),
    /** Writes about 1 MiB and removes it; throws if the disk has no room or fails. */
    probe: (): void => {
      database.write(() => fill.run())
      database.write(() => clear.run())
    },
  }
  return {
    calls,
    close: (): void => {
      appender.flush()
      database.close()
    },
  }
}

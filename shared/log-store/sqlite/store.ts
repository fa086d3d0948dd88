import { type Contents, createContents } from './contents.ts'
import { type CountReader, createCountReader } from './count-reader.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'
import { createEntryReader, type EntryReader } from './entry-reader.ts'
import { createEntryWriter, type EntryWriter } from './entry-writer.ts'
import { createFlowReader, type FlowReader } from './flow-reader.ts'
import { createFlowWriter, type FlowWriter } from './flow-writer.ts'
import { createGroupReader } from './group-reader.ts'
import { STORE_LIMITS, type StoreLimits } from './limits.ts'
import { createRenewal, type Renewal } from './renewal.ts'
import { createRetention, type Retention } from './retention.ts'
import { createRollups, type Rollups } from './rollups.ts'
import { createSeriesReader } from './series-reader.ts'

/**
 * The log store's database: all access to the file, without waiting and without retrying. It runs in the caller's thread or in one of its
 * own, so all arguments and results support structured cloning. Every call may throw a `StoreUnavailableError` or a `StoreHaltError`.
 */
export interface Store
  extends EntryWriter,
    FlowWriter,
    Retention,
    Renewal,
    EntryReader,
    CountReader,
    FlowReader,
    Pick<Contents, 'moveMore'>,
    Pick<Rollups, 'countMore' | 'forgetCounts' | 'countedEntries'>,
    ReturnType<typeof createGroupReader>,
    ReturnType<typeof createSeriesReader> {}

export interface StoreOptions extends DatabaseOptions {
  readonly limits?: Partial<StoreLimits>
}

/** Opens the file; throws as the calls do. */
export function openStore(options: StoreOptions): { readonly calls: Store; close(): void } {
  const database = openDatabase(options)
  const limits = { ...STORE_LIMITS, ...options.limits }
  const contents = createContents(database, limits)
  const rollups = createRollups(database, limits)
  const context = { database, contents, limits }
  return {
    calls: {
      ...createEntryWriter(database, contents, rollups, limits),
      ...createFlowWriter(database),
      ...createRetention(database, contents, rollups),
      ...createRenewal(database, contents, limits),
      ...createEntryReader(context),
      ...createFlowReader(database),
      ...createCountReader(context),
      ...createGroupReader(context),
      ...createSeriesReader(context),
      moveMore: contents.moveMore,
      countMore: rollups.countMore,
      forgetCounts: rollups.forgetCounts,
      countedEntries: rollups.countedEntries,
    },
    close: () => database.close(),
  }
}

import type { FlowDelta } from '../../contract/documents.ts'
import { createContents } from './contents.ts'
import { STORE_LIMITS, type StoreContext, type StoreLimits } from './context.ts'
import { count, facets, histogram } from './count-reader.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'
import { get, search, tail } from './entry-reader.ts'
import { createEntryWriter } from './entry-writer.ts'
import { countFlows, flow, searchFlows, tallyFlows } from './flow-reader.ts'
import { mergeFlows } from './flow-writer.ts'
import { groups } from './group-reader.ts'
import { moveMore, renewMore } from './renewal.ts'
import { createRemoveOldest, dropEmptyTextTable, removeDocumentsBefore, removeFlowsBefore } from './retention.ts'
import { countedEntries, countMore, forgetCounts } from './rollups.ts'
import { series } from './series-reader.ts'
import { keyOf } from './teams.ts'

export interface StoreOptions extends DatabaseOptions {
  readonly limits?: Partial<StoreLimits>
}

/**
 * The log store's database: all access to the file, without waiting and without retrying. It runs in the caller's thread or in one of its
 * own, so all arguments and results support structured cloning, except for the function that `renewMore` takes. Each call is one transaction.
 * Every call may throw a `StoreUnavailableError` or a `StoreHaltError`.
 */
export type Store = ReturnType<typeof openStore>['calls']

/** Whether nothing was ever stored. SQLite remembers the last arrival (`AUTOINCREMENT`), also when retention has removed all entries. */
const isNew = ({ database }: StoreContext): boolean =>
  database.prepare("SELECT 1 FROM sqlite_sequence WHERE name = 'entries' UNION ALL SELECT 1 FROM flows").get() ===
  undefined

/** Opens the file; throws as the calls do. */
export function openStore(options: StoreOptions) {
  const database = openDatabase(options)
  const limits = { ...STORE_LIMITS, ...options.limits }
  const context: StoreContext = { database, contents: createContents(database), limits }

  type Call<Args extends readonly unknown[], Result> = (context: StoreContext, ...args: Args) => Result
  const reading = <Args extends readonly unknown[], Result>(call: Call<Args, Result>) => {
    return (...args: Args): Result => database.read(() => call(context, ...args))
  }
  const writing = <Args extends readonly unknown[], Result>(call: Call<Args, Result>) => {
    return (...args: Args): Result => database.write(() => call(context, ...args))
  }

  /** A call that reads of one Team. */
  const readingOf = <Args extends readonly unknown[], Result>(call: Call<[team: string, ...Args], Result>) => {
    return (team: string, ...args: Args): Result => database.read(() => call(context, keyOf(database, team), ...args))
  }
  /** The same by a filter. */
  const filtering = <Filter extends { readonly team: string }, Args extends readonly unknown[], Result>(
    call: Call<[filter: Filter, ...Args], Result>,
  ) => {
    return (filter: Filter, ...args: Args): Result =>
      database.read(() => call(context, { ...filter, team: keyOf(database, filter.team) }, ...args))
  }

  return {
    calls: {
      isNew: reading(isNew),
      // These two begin their transactions themselves, and none if there is nothing to write.
      write: createEntryWriter(context),
      mergeFlows: (deltas: readonly FlowDelta[]) => mergeFlows(context, deltas),
      search: filtering(search),
      get: readingOf(get),
      tail: filtering(tail),
      count: filtering(count),
      histogram: filtering(histogram),
      facets: filtering(facets),
      groups: filtering(groups),
      series: filtering(series),
      searchFlows: filtering(searchFlows),
      countFlows: filtering(countFlows),
      tallyFlows: filtering(tallyFlows),
      flow: readingOf(flow),
      removeDocumentsBefore: writing(removeDocumentsBefore),
      removeFlowsBefore: writing(removeFlowsBefore),
      dropEmptyTextTable: writing(dropEmptyTextTable),
      removeOldest: writing(createRemoveOldest()),
      countMore: writing(countMore),
      forgetCounts: writing(forgetCounts),
      countedEntries: reading(countedEntries),
      moveMore: writing(moveMore),
      renewMore: writing(renewMore),
    },
    close: (): void => database.close(),
  }
}

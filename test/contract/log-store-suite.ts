import { afterAll, beforeAll, describe } from 'vitest'
import type { LogStore } from '../../shared/log-store/log-store.ts'
import { boundsContract } from './log-store-bounds.ts'
import { countingContract } from './log-store-counting.ts'
import { flowStatisticsContract } from './log-store-flow-statistics.ts'
import { flowContract } from './log-store-flows.ts'
import { groupingContract } from './log-store-grouping.ts'
import { hostileContract } from './log-store-hostile.ts'
import { queryContract } from './log-store-queries.ts'
import { createRig, type Rig } from './log-store-rig.ts'
import { searchingContract } from './log-store-searching.ts'
import { seriesContract } from './log-store-series.ts'
import { tailingContract } from './log-store-tailing.ts'
import { writingContract } from './log-store-writing.ts'

export interface LogStoreFixture {
  readonly store: LogStore
  /** Makes writes visible to searches, where a store does so only at intervals. */
  refresh?(): Promise<unknown>
  /** Closes the store and removes what it kept. */
  cleanUp(): Promise<void>
}

/** The duties of every adapter of the log store, tested through nothing but the port. One store serves the whole suite. */
export function logStoreContract(name: string, makeStore: () => Promise<LogStoreFixture>): void {
  describe(`the log store on ${name}`, () => {
    let fixture: LogStoreFixture
    const rig: Rig = createRig(
      () => fixture.store,
      () => fixture.refresh?.(),
    )

    beforeAll(async () => {
      fixture = await makeStore()
    }, 120_000)

    afterAll(() => fixture.cleanUp(), 60_000)

    writingContract(rig)
    searchingContract(rig)
    queryContract(rig)
    countingContract(rig)
    groupingContract(rig)
    seriesContract(rig)
    tailingContract(rig)
    flowContract(rig)
    flowStatisticsContract(rig)
    hostileContract(rig)
    boundsContract(rig)
  })
}

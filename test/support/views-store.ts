import { join } from 'node:path'
import { flowFact, foldFlows } from '../../consumers/projections/flows.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import { createSqliteLogStore, type SqliteLogStore } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import { documentOf } from './documents.ts'
import { temporaryFolder } from './sluice-process.ts'

/** The log store of the embedded mode, for tests of its readers. It is opened with the first entry or read. */
export interface ObservedLogStore extends LogStoreReader {
  /** Every later read sees the entries. */
  add(...records: readonly EntryRecord[]): void
  /** Every read call from the nth on (counted from 0, starting now) throws; null heals it. */
  failAfter(calls: number | null): void
  /** Read calls so far, by name. */
  readonly calls: readonly string[]
  close(): Promise<void>
}

const READS = [
  ...(['search', 'get', 'tail', 'count', 'histogram', 'facets', 'groups', 'series'] as const),
  ...(['searchFlows', 'countFlows', 'tallyFlows', 'flow'] as const),
]

export function createObservedLogStore(): ObservedLogStore {
  const calls: string[] = []
  let callsLeft: number | null = null
  let folder: ReturnType<typeof temporaryFolder> | undefined
  /** The store, once it has all entries added so far. */
  let filled: Promise<SqliteLogStore> | undefined

  const fill = (): Promise<SqliteLogStore> => {
    folder ??= temporaryFolder()
    filled ??= createSqliteLogStore({ file: join(folder.path, 'logs.db'), thread: 'same', logger: { warn: () => {} } })
    return filled
  }
  const readWith =
    (name: (typeof READS)[number]) =>
    async (...args: readonly unknown[]) => {
      calls.push(name)
      if (callsLeft === 0) throw new Error('the store is down')
      if (callsLeft !== null) callsLeft -= 1
      return ((await fill())[name] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
    }

  return {
    ...(Object.fromEntries(READS.map((name) => [name, readWith(name)])) as unknown as LogStoreReader),
    health: async () => ({ name: 'log-store', ready: callsLeft === null }),
    calls,
    add: (...records) => {
      filled = fill().then(async (store) => {
        const { signal } = new AbortController()
        await store.write(records.map(documentOf), signal)
        await store.mergeFlows(foldFlows(records.map(flowFact).filter((fact) => fact !== null)), signal)
        return store
      })
    },
    failAfter: (count) => {
      callsLeft = count
    },
    close: async () => {
      await (await filled)?.close()
      folder?.remove()
    },
  }
}

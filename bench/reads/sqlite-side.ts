import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { LogStore } from '../../shared/log-store/log-store.ts'
import { heldBy, projectionOf, readStore, type Side } from './side.ts'

/** The embedded log store of a checkout, filled by the projections of the checkout. */
export async function openSqliteSide(name: string, root: string, directory: string): Promise<Side> {
  const load = (path: string) => import(pathToFileURL(join(root, path)).href)
  const { createSqliteLogStore } = await load('shared/log-store/sqlite/sqlite-log-store.ts')
  const project = projectionOf({
    ...(await load('consumers/projections/entries.ts')),
    ...(await load('consumers/projections/flows.ts')),
  })
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'logs.db')
  const store: LogStore = await createSqliteLogStore({ file, thread: 'same', logger: console })
  const { signal } = new AbortController()
  return {
    name,
    held: () => heldBy(store),
    async fill(batch) {
      const { documents, flows } = project(batch)
      const start = process.cpuUsage()
      await store.write(documents, signal)
      await store.mergeFlows(flows, signal)
      const { user, system } = process.cpuUsage(start)
      return (user + system) / 1_000_000
    },
    settle: async () => undefined,
    read: (read) => readStore(store, read),
    bytes: async () => statSync(file).size,
    close: () => store.close(),
  }
}

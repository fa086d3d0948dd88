import { describe } from 'vitest'
import { parseTimestamp } from '../../shared/contract/timestamp.ts'
import type { EntryFilter, LogStore } from '../../shared/log-store/log-store.ts'
import { createRandom } from '../fuzz/random.ts'
import { createNetwork } from '../simulation/network.ts'
import { createSimulatedStore } from '../simulation/store.ts'
import { createMemoryStoreWriter } from '../support/consumers-store.ts'
import { recordOf } from '../support/documents.ts'
import { matches } from '../support/query.ts'
import { createRig, inOrder } from './log-store-rig.ts'
import { writingContract } from './log-store-writing.ts'

/** The writer of the simulation, with as much of a reader as tests of writing ask for. */
function createStore(): LogStore {
  const memory = createMemoryStoreWriter()
  memory.refuse = ({ timestamp }) => (parseTimestamp(timestamp) === timestamp ? undefined : 'timestamp: no date')
  const network = createNetwork(createRandom(1, 0), () => undefined, false)
  const found = ({ team, query }: EntryFilter) =>
    [...memory.documents.values()].filter((document) => document.team === team && matches(query, document))
  const read: Pick<LogStore, 'get' | 'count' | 'search' | 'health'> = {
    get: async (team, _kind, id) => {
      const document = memory.documents.get(id)
      return document?.team === team ? recordOf(document) : undefined
    },
    count: async (filter) => found(filter).length,
    search: async (filter, { after, limit }) => {
      const all = inOrder(found(filter))
      const start = after === null ? 0 : all.findIndex(({ id }) => id === after.id) + 1
      const entries = all.slice(start, start + limit)
      return { entries, next: start + limit < all.length ? (entries.at(-1) ?? null) : null }
    },
    health: async () => ({ name: 'log store', ready: true }),
  }
  return { ...createSimulatedStore(network, network.createProcess('client'), memory), ...read } as LogStore
}

describe('the writer of a log store over a network', () => {
  const store = createStore()
  writingContract(createRig(() => store))
})

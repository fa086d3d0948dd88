import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLogStore, type SqliteLogStoreOptions } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import { type LogStoreFixture, logStoreContract } from './log-store-suite.ts'

type Variant = Pick<SqliteLogStoreOptions, 'thread' | 'limits'>

const makeStore = (variant: Variant) => async (): Promise<LogStoreFixture> => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-logs-'))
  const logger = { warn: () => {} }
  const store = await createSqliteLogStore({ file: join(folder, 'logs.db'), logger, ...variant })
  return {
    store,
    cleanUp: async () => {
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}

logStoreContract('SQLite in the same thread', makeStore({ thread: 'same' }))
logStoreContract('SQLite in its own thread', makeStore({ thread: 'own' }))
// The ways that are otherwise taken with very many documents only.
const limits = { textTableArrivals: 20, tailArrivals: 3, nearEntries: 5 }
logStoreContract('SQLite with low limits', makeStore({ thread: 'same', limits }))

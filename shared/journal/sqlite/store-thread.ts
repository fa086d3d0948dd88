import { serveThread } from '../../runtime/threads/serve-thread.ts'
import type { DatabaseOptions } from './database.ts'
import { openStore, type Store } from './store.ts'

await serveThread<Store>((options: DatabaseOptions) => openStore(options))

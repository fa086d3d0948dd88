import { serveThread } from '../../runtime/threads/serve-thread.ts'
import type { DatabaseFileOptions } from '../../sqlite/database-file.ts'
import { openStore, type Store } from './store.ts'

await serveThread<Store>((options: DatabaseFileOptions) => openStore(options))

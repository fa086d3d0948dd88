import { serveThread } from '../../threads/serve-thread.ts'
import { openStore, type Store, type StoreOptions } from './store.ts'

await serveThread<Store>((options: StoreOptions) => openStore(options))

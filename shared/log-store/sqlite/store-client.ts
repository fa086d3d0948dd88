import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Health } from '../../lifecycle.ts'
import { startThread } from '../../threads/thread.ts'
import { StoreHaltError } from '../log-store.ts'
import { StoreUnavailableError } from './failures.ts'
import { openStore, type Store, type StoreOptions } from './store.ts'

/** A store wherever it runs. */
export interface StoreClient {
  call<Name extends keyof Store>(name: Name, ...args: Parameters<Store[Name]>): Promise<ReturnType<Store[Name]>>
  /** Whether the store can be called at all. */
  health(): Health
  /** Lets the calls already made finish. Safe to call twice. */
  close(): Promise<void>
}

const NAME = 'log-store'

/** Opens the store in a thread of its own. */
export async function openStoreThread(options: StoreOptions): Promise<StoreClient> {
  const thread = await startThread<Store>({
    name: NAME,
    module: new URL('./store-thread.ts', import.meta.url),
    data: options,
    errors: [StoreHaltError, StoreUnavailableError, RangeError],
  })
  return {
    call: <Name extends keyof Store>(name: Name, ...args: Parameters<Store[Name]>) =>
      thread.call(name, args) as Promise<ReturnType<Store[Name]>>,
    health: thread.health,
    close: thread.close,
  }
}

/** Opens the store in this thread. */
export function openStoreHere(options: StoreOptions): StoreClient {
  const { calls, close } = openStore(options)
  let closed = false
  return {
    call: async <Name extends keyof Store>(name: Name, ...args: Parameters<Store[Name]>) => {
      // Steps of a removal would otherwise follow each other without letting anything else run.
      if (isStep(name)) await nextTurn()
      if (closed) throw new Error('the log store is closed')
      return (calls[name] as (...given: Parameters<Store[Name]>) => ReturnType<Store[Name]>)(...args)
    },
    health: () => (closed ? { name: NAME, ready: false, reason: 'it is closed' } : { name: NAME, ready: true }),
    close: async () => {
      closed = true
      close()
    },
  }
}

const isStep = (name: keyof Store): boolean => name.startsWith('remove') || name.startsWith('drop')

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Health } from '../../runtime/lifecycle.ts'
import { openStore, type Store, type StoreOptions } from './store.ts'

/** Whose read it is, and what ends it. */
export interface Reading {
  /** The Team; several share the threads of a store. */
  readonly owner: string
  readonly signal?: AbortSignal | undefined
}

/** A store wherever it runs. */
export interface StoreClient {
  call<Name extends keyof Store>(name: Name, ...args: Parameters<Store[Name]>): Promise<ReturnType<Store[Name]>>
  /** The same for somebody who may give up: then it rejects with the signal's reason. */
  read<Name extends keyof Store>(
    reading: Reading,
    name: Name,
    ...args: Parameters<Store[Name]>
  ): Promise<ReturnType<Store[Name]>>
  /** Whether the store can be called at all. */
  health(): Health
  /** Lets the calls already made finish. Safe to call twice. */
  close(): Promise<void>
}

const NAME = 'log-store'

/** Opens the store in this thread, where nothing else runs during a call: it cannot be called off. */
export function openStoreHere(options: StoreOptions): StoreClient {
  const { calls, close } = openStore(options)
  let closed = false
  const call = async <Name extends keyof Store>(name: Name, ...args: Parameters<Store[Name]>) => {
    // Steps of a removal would otherwise follow each other without letting anything else run.
    if (isStep(name)) await nextTurn()
    if (closed) throw new Error('the log store is closed')
    return (calls[name] as (...given: Parameters<Store[Name]>) => ReturnType<Store[Name]>)(...args)
  }
  return {
    call,
    read: async ({ signal }, name, ...args) => {
      signal?.throwIfAborted()
      return call(name, ...args)
    },
    health: () => (closed ? { name: NAME, ready: false, reason: 'it is closed' } : { name: NAME, ready: true }),
    close: async () => {
      closed = true
      close()
    },
  }
}

const isStep = (name: keyof Store): boolean => name.startsWith('remove') || name.startsWith('drop')

/** The inside of a reader thread (reader.ts). */
import { readlinkSync } from 'node:fs'
import { serveThread } from '../../runtime/threads/serve-thread.ts'
import { openStore, type Store, type StoreOptions } from './store.ts'

export interface ReaderThreadData extends StoreOptions {
  /** One 32-bit integer: 1 if the running call is called off. */
  readonly calledOff: SharedArrayBuffer
}

export interface ReaderCalls extends Store {
  /** The id by which the operating system knows this thread; null if it does not tell. */
  systemThreadId(): number | null
}

await serveThread<ReaderCalls>(({ calledOff, ...options }: ReaderThreadData) => {
  const word = new Int32Array(calledOff)
  const { calls, close } = openStore({ ...options, isCalledOff: () => Atomics.load(word, 0) === 1 })
  return { calls: { ...calls, systemThreadId }, close }
})

function systemThreadId(): number | null {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1)) || null
  } catch {
    return null
  }
}

/** The inside of a reader thread (reader.ts). */
import { readlinkSync } from 'node:fs'
import { serveThread } from '../../runtime/threads/serve-thread.ts'
import { openStore, type Store, type StoreOptions } from './store.ts'

export interface ReaderThreadData extends StoreOptions {
  /** One 32-bit integer: the number of the call to call off. */
  readonly calledOff: SharedArrayBuffer
}

export interface ReaderCalls {
  /** Runs a call of the store under this number. */
  run<Name extends keyof Store>(number: number, name: Name, args: Parameters<Store[Name]>): ReturnType<Store[Name]>
  /** The id by which the operating system knows this thread; null if it does not tell. */
  systemThreadId(): number | null
}

await serveThread<ReaderCalls>(({ calledOff, ...options }: ReaderThreadData) => {
  const word = new Int32Array(calledOff)
  let present = 0
  const { calls, close } = openStore({ ...options, isCalledOff: () => Atomics.load(word, 0) === present })
  return {
    calls: {
      run: (number, name, args) => {
        present = number
        return (calls[name] as (...given: typeof args) => ReturnType<Store[typeof name]>)(...args)
      },
      systemThreadId,
    },
    close,
  }
})

function systemThreadId(): number | null {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1)) || null
  } catch {
    return null
  }
}

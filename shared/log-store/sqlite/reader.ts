import { setPriority } from 'node:os'
import { startThread, ThreadGoneError } from '../../runtime/threads/thread.ts'
import { ReadTooLargeError, StoreHaltError, TailCursorError } from '../log-store.ts'
import { CalledOffError, StoreUnavailableError } from './failures.ts'
import type { ReaderCalls, ReaderThreadData } from './reader-thread.ts'
import type { Store, StoreOptions } from './store.ts'

/** A thread with a connection to the store, which does one thing at a time. */
export interface Reader {
  /** Rejects with a `ReadTooLargeError` where the thread would need too much memory; it is gone then. */
  run<Name extends keyof Store>(name: Name, args: Parameters<Store[Name]>): Promise<ReturnType<Store[Name]>>
  /** Has the call that runs end at the next row that it comes to. */
  callOff(): void
  /** Whether it can be called at all. */
  isGone(): boolean
  /** Ends the thread, if need be in the middle of a call: as soon as its native code lets it, and with the lowest priority until then. */
  kill(): Promise<void>
  /** Lets the call that runs finish. */
  close(): Promise<void>
}

/** Objects of a read, in MiB: pages are bounded in bytes, and counts by their values; a read that needs more is given up. */
const OLD_GENERATION_MIB = 160

/** The least that Linux gives: such a thread only runs where no other wants to. */
const LOWEST_PRIORITY = 19

/** Calls are numbered in 31 bits; 0 is none. */
const CALL_NUMBERS = 2 ** 31

export async function startReader(store: StoreOptions): Promise<Reader> {
  const calledOff = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const word = new Int32Array(calledOff)
  const data: ReaderThreadData = { ...store, calledOff }
  const thread = await startThread<ReaderCalls>({
    name: 'log-store',
    module: new URL('./reader-thread.ts', import.meta.url),
    data,
    oldGenerationMiB: OLD_GENERATION_MIB,
    errors: [StoreHaltError, StoreUnavailableError, CalledOffError, ReadTooLargeError, TailCursorError],
  })
  const systemThreadId = await thread.call('systemThreadId', [])
  let number = 0

  return {
    run: async <Name extends keyof Store>(name: Name, args: Parameters<Store[Name]>) => {
      number = (number + 1) % CALL_NUMBERS || 1
      try {
        return (await thread.call('run', [number, name, args as never])) as ReturnType<Store[Name]>
      } catch (error) {
        throw isOutOfMemory(error) ? new ReadTooLargeError('the read takes too much memory') : error
      }
    },
    callOff: () => void Atomics.store(word, 0, number),
    isGone: () => !thread.health().ready,
    kill: () => {
      if (systemThreadId !== null) lowerPriority(systemThreadId)
      return thread.kill()
    },
    close: () => thread.close(),
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof ThreadGoneError &&
  (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'

function lowerPriority(systemThreadId: number): void {
  try {
    setPriority(systemThreadId, LOWEST_PRIORITY)
  } catch {
    // It has ended meanwhile.
  }
}

import { setPriority } from 'node:os'
import { startThread, ThreadGoneError } from '../../runtime/threads/thread.ts'
import { ReadTooLargeError, StoreHaltError, TailCursorError } from '../log-store.ts'
import { CalledOffError, StoreUnavailableError } from './database.ts'
import type { ReaderCalls, ReaderThreadData } from './reader-thread.ts'
import type { Store, StoreOptions } from './store.ts'

/**
 * A thread with a connection to the store that runs one call at a time; reader-thread.ts is its other side. SQLite cannot be interrupted, so a
 * call is called off in shared memory: `callOff` sets a word there, at which the SQL function `go_on` throws, which every scan calls once in
 * 256 rows (database.ts); the next call clears it.
 */
export interface Reader {
  /** Rejects with a `ReadTooLargeError` if the thread would need too much memory; the thread is then gone. */
  run<Name extends keyof Store>(name: Name, args: Parameters<Store[Name]>): Promise<ReturnType<Store[Name]>>
  /** Makes the running call end at the next row that it reaches. */
  callOff(): void
  /** Whether it can be called at all. */
  isGone(): boolean
  /** Ends the thread, even during a call: as soon as its native code allows it, and with the lowest priority until then. */
  kill(): Promise<void>
  /** Lets the running call finish. */
  close(): Promise<void>
}

/** Memory for the objects of a read, in MiB: pages are limited in bytes, counts in values; a read that needs more is given up. */
const OLD_GENERATION_MIB = 160

/**
 * Memory for young objects, in MiB: the bytes of read blocks are freed only when these are collected. With the threads' usual 12 MiB, each
 * reader kept up to 130 MiB of such bytes, and reads took as long.
 */
const YOUNG_GENERATION_MIB = 3

/** The lowest priority on Linux: such a thread runs only when no other wants to. */
const LOWEST_PRIORITY = 19

export async function startReader(store: StoreOptions): Promise<Reader> {
  const calledOff = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const word = new Int32Array(calledOff)
  const data: ReaderThreadData = { ...store, calledOff }
  const thread = await startThread<ReaderCalls>({
    name: 'log-store',
    module: new URL('./reader-thread.ts', import.meta.url),
    data,
    oldGenerationMiB: OLD_GENERATION_MIB,
    youngGenerationMiB: YOUNG_GENERATION_MIB,
    errors: [StoreHaltError, StoreUnavailableError, CalledOffError, ReadTooLargeError, TailCursorError],
  })
  const systemThreadId = await thread.call('systemThreadId', [])

  return {
    run: async <Name extends keyof Store>(name: Name, args: Parameters<Store[Name]>) => {
      Atomics.store(word, 0, 0)
      try {
        return (await thread.call(name, args as never)) as ReturnType<Store[Name]>
      } catch (error) {
        throw isOutOfMemory(error) ? new ReadTooLargeError('the read takes too much memory') : error
      }
    },
    callOff: () => void Atomics.store(word, 0, 1),
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
    // The thread has ended meanwhile.
  }
}

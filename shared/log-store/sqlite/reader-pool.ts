import type { Health } from '../../runtime/lifecycle.ts'
import { isTimeout } from '../../runtime/waiting.ts'
import { ReadNotBegunError } from '../log-store.ts'
import type { Reader } from './reader.ts'
import type { Store } from './store.ts'

/** The owner of a read, and the signal that ends it. */
interface Reading {
  /** The Team; several share the threads of a store. */
  readonly owner: string
  readonly signal?: AbortSignal | undefined
}

/** A store, in the threads of a pool or in the caller's thread. */
export interface StoreClient {
  call<Name extends keyof Store>(name: Name, ...args: Parameters<Store[Name]>): Promise<ReturnType<Store[Name]>>
  /** `call` for an owner that may give up: it then rejects with the signal's reason. */
  read<Name extends keyof Store>(
    reading: Reading,
    name: Name,
    ...args: Parameters<Store[Name]>
  ): Promise<ReturnType<Store[Name]>>
  /** Whether the store can be called at all. */
  health(): Health
  /** Lets calls in progress finish. Safe to call twice. */
  close(): Promise<void>
}

interface ReaderPoolOptions {
  /** Maximum threads that take calls. */
  readonly threadsMax: number
  /** Maximum additional threads that are being ended: a step of the full-text search cannot be interrupted. */
  readonly endingMax: number
  /** How long a thread may take to notice that its call was called off before another replaces it. */
  readonly graceMs: number
}

const READER_POOL: ReaderPoolOptions = { threadsMax: 3, endingMax: 2, graceMs: 250 }

/**
 * An owner may have twice as many threads as it leaves to others: two of three. Its third call waits, as it has two running, which is not less
 * than 2 times the one thread left; the first call of another owner begins at once.
 */
const OWNER_WEIGHT = 2

const NAME = 'log-store'

/** The process itself, which does not read for any Team. */
const NOBODY: Reading = { owner: '' }

interface Job {
  readonly owner: string
  readonly begin: (reader: Reader) => Promise<void>
  readonly reject: (reason: unknown) => void
}

/**
 * Opens the store in several threads, which `start` starts; all but the first are started when there is work for them. No owner takes the
 * last one. Of the waiting calls, the next is the first of the owner with the fewest running calls; among several such owners, of the one
 * served longest ago. A call that is called off is answered at once, with a `ReadNotBegunError` if it was still waiting; its thread ends
 * the call at the next row, and is replaced if it does not.
 */
export async function openReaderPool(
  start: () => Promise<Reader>,
  options: ReaderPoolOptions = READER_POOL,
): Promise<StoreClient> {
  let isClosed = false
  const waiting = new Set<Job>()
  const rejectWaiting = (reason: Error): void => {
    for (const job of waiting) job.reject(reason)
    waiting.clear()
  }
  const threads = createThreads(await start(), start, { ...options, onFree: dispatch, onFailure: rejectWaiting })

  /** The sequence number of each owner's last started call. */
  const lastBegun = new Map<string, number>()
  let begun = 0
  const turnOf = ({ owner }: Job): number => lastBegun.get(owner) ?? 0
  const mayRun = ({ owner }: Job): boolean => threads.heldBy(owner) < OWNER_WEIGHT * threads.leftBy(owner)

  const nextJob = (): Job | undefined =>
    [...waiting]
      .filter(mayRun)
      .sort((a, b) => threads.heldBy(a.owner) - threads.heldBy(b.owner) || turnOf(a) - turnOf(b))[0]

  function dispatch(): void {
    for (let job = nextJob(); job !== undefined; job = nextJob()) {
      const reader = threads.take(job.owner)
      if (reader === undefined) return
      waiting.delete(job)
      begun += 1
      lastBegun.set(job.owner, begun)
      void job.begin(reader).then(() => {
        threads.give(reader)
        dispatch()
      })
    }
  }

  async function read<Name extends keyof Store>(
    { owner, signal }: Reading,
    name: Name,
    ...args: Parameters<Store[Name]>
  ): Promise<ReturnType<Store[Name]>> {
    signal?.throwIfAborted()
    if (isClosed) throw closed()
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<Store[Name]>>()
    /** While it runs the call. */
    let reader: Reader | undefined
    const job: Job = {
      owner,
      begin: async (taken) => {
        reader = taken
        await taken.run(name, args).then(resolve, reject)
        reader = undefined
      },
      reject,
    }
    const replaceIfStuck = (): void => {
      if (reader !== undefined) threads.replace(reader)
    }
    const giveUp = (): void => {
      waiting.delete(job)
      reject(reader === undefined && isTimeout(signal?.reason) ? new ReadNotBegunError() : signal?.reason)
      reader?.callOff()
      if (reader !== undefined) setTimeout(replaceIfStuck, options.graceMs).unref()
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    waiting.add(job)
    dispatch()
    return promise.finally(() => signal?.removeEventListener('abort', giveUp))
  }

  return {
    read,
    call: (name, ...args) => read(NOBODY, name, ...args),
    health: () => {
      const reason = threads.failure()
      return reason === undefined ? { name: NAME, ready: true } : { name: NAME, ready: false, reason }
    },
    close: async () => {
      isClosed = true
      rejectWaiting(closed())
      await threads.close()
    },
  }
}

const closed = (): Error => new Error('the log store is closed')

interface ThreadsOptions extends ReaderPoolOptions {
  /** Called when a thread may have become available. */
  readonly onFree: () => void
  /** Called when there is no thread, and none could be started. */
  readonly onFailure: (error: Error) => void
}

function createThreads(first: Reader, start: () => Promise<Reader>, options: ThreadsOptions) {
  const { threadsMax, endingMax, onFree, onFailure } = options
  const idle = new Set([first])
  /** The owners of the calls that threads run. */
  const busy = new Map<Reader, string>()
  /** The owners of the calls that hold threads which are being ended. */
  const ending = new Map<Reader, string>()
  let isStarting = false
  let isClosed = false
  let failure: string | undefined

  async function add(): Promise<void> {
    isStarting = true
    try {
      const reader = await start()
      failure = undefined
      if (isClosed) await reader.close()
      else idle.add(reader)
    } catch (error) {
      failure = (error as Error).message
      if (busy.size === 0) onFailure(error as Error)
    } finally {
      isStarting = false
    }
    // A failure is not tried again at once, but when a call begins or ends: it would only come again.
    if (failure === undefined) onFree()
  }

  function addIfAllowed(): void {
    if (!isStarting && !isClosed && busy.size < threadsMax && ending.size <= endingMax) void add()
  }

  const countOf = (threads: ReadonlyMap<Reader, string>, owner: string): number =>
    [...threads.values()].filter((each) => each === owner).length

  return {
    /** The number of threads that an owner's calls hold. */
    heldBy: (owner: string): number => countOf(busy, owner) + countOf(ending, owner),
    /** The number of threads that are left: one that is being ended takes none from others, but counts for the owner whose call holds it. */
    leftBy: (owner: string): number => threadsMax - busy.size - countOf(ending, owner),
    /** Gives an idle thread to an owner; if there is none, starts one if that is allowed. */
    take(owner: string): Reader | undefined {
      const [reader] = idle
      if (reader === undefined) addIfAllowed()
      else {
        idle.delete(reader)
        busy.set(reader, owner)
      }
      return reader
    },
    /** Takes back a thread that has ended its call; does nothing if it was replaced. */
    give(reader: Reader): void {
      if (busy.delete(reader) && !reader.isGone()) idle.add(reader)
    },
    /** Ends a stuck thread: it continues until its step ends, and counts until then, so that there are never many. */
    replace(reader: Reader): void {
      ending.set(reader, busy.get(reader) ?? '')
      busy.delete(reader)
      void reader.kill().then(() => {
        ending.delete(reader)
        onFree()
      })
      onFree()
    },
    /** The reason why there is no thread. Starts one if that is allowed, as a process that is not ready gets no read that does. */
    failure(): string | undefined {
      if (isClosed) return 'it is closed'
      if (idle.size + busy.size > 0) return undefined
      addIfAllowed()
      return failure ?? (isStarting ? undefined : 'its threads are being ended')
    },
    async close(): Promise<void> {
      isClosed = true
      await Promise.all([...idle, ...busy.keys()].map((reader) => reader.close()))
    },
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Transferable, Worker } from 'node:worker_threads'
import { FILES_EXHAUSTED, NO_FILES } from '../file-limit.ts'
import type { Health } from '../lifecycle.ts'
import type { ThreadService } from './serve-thread.ts'
import {
  type AnswerMessage,
  type CallMessage,
  type CallsOf,
  createOutbox,
  decodeError,
  type ErrorClass,
  type FromThread,
  type ToThread,
} from './wire.ts'

interface ThreadOptions {
  /** Names the thread in errors, health and tools. */
  readonly name: string
  /** The module that the thread runs; it has to call `serveThread`. */
  readonly module: URL
  /** Passed to the set-up of the thread; structured-cloned. */
  readonly data: unknown
  /** Memory for young objects, in MiB, if V8's default would collect too often; about a third of it can be live at once. */
  readonly youngGenerationMiB?: number
  /** Memory for all other objects, in MiB; a thread that needs more is ended. Omitted: as much as the process may have. */
  readonly oldGenerationMiB?: number
  /** Errors thrown in the thread become instances of these classes here, found by name. */
  readonly errors: readonly ErrorClass[]
}

/** A worker thread that answers calls. */
export interface Thread<Calls extends CallsOf<Calls>> {
  /**
   * Runs one of the thread's calls there. Rejects with the error it throws, or with a `ThreadGoneError`. Calls begin in the order in which
   * they were made. `transfer` lists buffers in the arguments that are transferred rather than copied.
   */
  call<Name extends keyof Calls & string>(
    name: Name,
    args: Parameters<Calls[Name]>,
    transfer?: readonly Transferable[],
  ): Promise<Awaited<ReturnType<Calls[Name]>>>
  /** Not ready once the thread is gone. */
  health(): Health
  /** Rejects with a `ThreadGoneError` when the thread has failed; never settles otherwise. */
  readonly lost: Promise<never>
  /** Lets the calls already made finish, closes the thread's service and ends it. Safe to call twice. */
  close(): Promise<void>
  /** Ends the thread as soon as its native code allows it, whatever it is doing. */
  kill(): Promise<void>
}

/** The thread no longer answers: it failed or was closed. */
export class ThreadGoneError extends Error {
  override readonly name = 'ThreadGoneError'
  /** Whether the call may have taken effect: it was in progress when the thread ended. */
  readonly mayHaveRun: boolean

  constructor(message: string, mayHaveRun: boolean, options?: ErrorOptions) {
    super(message, options)
    this.mayHaveRun = mayHaveRun
  }
}

/** V8 would let each thread keep 48 MiB for young objects. */
const YOUNG_GENERATION_MIB = 12

/** Starts a thread and waits until it is set up; rejects with the error of its set-up, once the thread is gone. */
export async function startThread<Calls extends CallsOf<Calls>>(options: ThreadOptions): Promise<Thread<Calls>> {
  const { name, module, data, errors, oldGenerationMiB, youngGenerationMiB = YOUNG_GENERATION_MIB } = options
  const resourceLimits = {
    maxYoungGenerationSizeMb: youngGenerationMiB,
    ...(oldGenerationMiB !== undefined && { maxOldGenerationSizeMb: oldGenerationMiB }),
  }
  const worker = new Worker(module, { name, workerData: data, resourceLimits })
  const pending = createPendingCalls(errors)
  const outbox = createOutbox<CallMessage>((calls, transfer) => post({ kind: 'calls', calls }, transfer))
  const started = Promise.withResolvers<void>()
  const exited = Promise.withResolvers<void>()
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => {})
  let goneBecause: { readonly reason: string; readonly cause?: unknown } | undefined
  let closing = false

  const post = (message: ToThread, transfer: readonly Transferable[] = []): void =>
    worker.postMessage(message, transfer)
  const goneError = (mayHaveRun: boolean): ThreadGoneError =>
    new ThreadGoneError(`the thread ${name} ${goneBecause?.reason ?? 'is closed'}`, mayHaveRun, {
      cause: goneBecause?.cause,
    })

  const lose = (reason: string, cause?: unknown): void => {
    goneBecause ??= { reason, cause }
    started.reject(goneError(false))
    if (!closing) lost.reject(goneError(false))
    pending.rejectAll(goneError(true))
  }

  worker.on('message', (message: FromThread) => {
    if (message.kind === 'answers') message.answers.forEach(pending.settle)
    else if (message.kind === 'ready') started.resolve()
    else started.reject(decodeError(message.error, errors))
  })
  worker.on('error', (error) => {
    const message = messageOf(error)
    lose(`failed: ${message}${FILES_EXHAUSTED.test(message) ? ` (${NO_FILES})` : ''}`, error)
  })
  worker.on('messageerror', (error) => {
    lose(`sent an unreadable message: ${error.message}`, error)
    void worker.terminate()
  })
  worker.on('exit', (code) => {
    lose(closing ? 'is closed' : `ended with code ${code}`)
    exited.resolve()
  })
  try {
    await started.promise
  } catch (error) {
    // Handles left open by a failed set-up would keep the thread, and with it the process, alive for good.
    await worker.terminate()
    throw error
  }

  return {
    call: (callName, args, transfer) => {
      if (closing || goneBecause !== undefined) return Promise.reject(goneError(false))
      const { id, promise } = pending.add()
      outbox.send({ id, name: callName, args }, (error) => pending.reject(id, error), transfer)
      return promise
    },
    health: () =>
      goneBecause === undefined ? { name, ready: true } : { name, ready: false, reason: goneError(false).message },
    lost: lost.promise,
    close: () => {
      if (!closing && goneBecause === undefined) {
        outbox.flush()
        post({ kind: 'close' })
      }
      closing = true
      return exited.promise
    },
    kill: async () => {
      closing = true
      lose('was ended')
      await worker.terminate()
    },
  }
}

/** Works for any thrown value; an error of another realm is not an instance of `Error` here. */
const messageOf = (thrown: unknown): string =>
  String((thrown as { readonly message?: unknown } | null | undefined)?.message ?? thrown)

/** Calls that were sent but not answered yet. */
function createPendingCalls(errorClasses: readonly ErrorClass[]) {
  const pending = new Map<number, PromiseWithResolvers<never>>()
  let nextId = 0
  const take = (id: number): PromiseWithResolvers<never> | undefined => {
    const call = pending.get(id)
    pending.delete(id)
    return call
  }
  return {
    /** Registers a call; its id is sent with the message. */
    add: () => {
      const call = Promise.withResolvers<never>()
      const id = nextId++
      pending.set(id, call)
      return { id, promise: call.promise }
    },
    settle: (answer: AnswerMessage): void => {
      const call = take(answer.id)
      if (answer.ok) call?.resolve(answer.value as never)
      else call?.reject(decodeError(answer.error, errorClasses))
    },
    reject: (id: number, reason: Error): void => take(id)?.reject(reason),
    rejectAll: (reason: Error): void => {
      for (const id of [...pending.keys()]) take(id)?.reject(reason)
    },
  }
}

/** A service to call, in a thread of its own (`startThread`) or in the caller's (`callHere`). */
export type Callable<Calls extends CallsOf<Calls>> = Pick<Thread<Calls>, 'call' | 'health' | 'lost' | 'close'>

/**
 * Calls a service in this thread, without copies; nothing else runs during a call. `isStep` selects calls that callers make in loops: each
 * of these waits for a turn of the event loop first, as nothing else in the loop would wait.
 */
export function callHere<Calls extends CallsOf<Calls>>(
  name: string,
  { calls, close }: ThreadService<Calls>,
  isStep: (call: keyof Calls) => boolean,
): Callable<Calls> {
  let closed = false
  return {
    call: async (call, args) => {
      if (isStep(call)) await nextTurn()
      if (closed) throw new Error(`the ${name} is closed`)
      return (await calls[call](...(args as never[]))) as never
    },
    health: () => (closed ? { name, ready: false, reason: 'it is closed' } : { name, ready: true }),
    lost: new Promise(() => {}),
    close: async () => {
      closed = true
      await close()
    },
  }
}

import { Worker } from 'node:worker_threads'
import type { Health } from '../lifecycle.ts'
import { decodeError, type ErrorClass } from './error-wire.ts'
import type { CallMessage, CallsOf, FromThread, ToThread, Transferable } from './messages.ts'
import { createOutbox } from './outbox.ts'
import { createPendingCalls } from './pending-calls.ts'

export interface ThreadOptions {
  /** Names the thread in errors, health and tools. */
  readonly name: string
  /** The module that the thread runs; it has to call `serveThread`. */
  readonly module: URL
  /** Handed to the set-up of the thread; structured-cloned. */
  readonly data: unknown
  /** Room for young objects, in MiB, where V8's own choice makes it collect too often; about a third of it can be live at once. */
  readonly youngGenerationMiB?: number
  /** Room for all other objects, in MiB; a thread that needs more is ended. Left out: as much as the process may have. */
  readonly oldGenerationMiB?: number
  /** Errors thrown there are instances of these classes here, found by name. */
  readonly errors: readonly ErrorClass[]
}

/** A worker thread that answers calls. */
export interface Thread<Calls extends CallsOf<Calls>> {
  /**
   * Runs one of the thread's calls there. Rejects with what it threw, or with a `ThreadGoneError`. Calls begin in the order
   * they were made. `transfer` names buffers in the arguments that are moved rather than copied.
   */
  call<Name extends keyof Calls & string>(
    name: Name,
    args: Parameters<Calls[Name]>,
    transfer?: readonly Transferable[],
  ): Promise<Awaited<ReturnType<Calls[Name]>>>
  /** Not ready once the thread is gone. */
  health(): Health
  /** Lets the calls already made finish, closes what the thread holds and ends it. Safe to call twice. */
  close(): Promise<void>
  /** Ends the thread as soon as its native code lets it, whatever it is doing. */
  kill(): Promise<void>
}

/** The thread does not answer any more: it failed or was closed. */
export class ThreadGoneError extends Error {
  override readonly name = 'ThreadGoneError'
  /** Whether the call may have taken effect: it was under way when the thread ended. */
  readonly mayHaveRun: boolean

  constructor(message: string, mayHaveRun: boolean, options?: ErrorOptions) {
    super(message, options)
    this.mayHaveRun = mayHaveRun
  }
}

/** V8 would let each thread keep 48 MiB for young objects. */
const YOUNG_GENERATION_MIB = 12

/** Starts a thread and waits until it is set up; rejects with what its set-up threw, once the thread is gone. */
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
    pending.rejectAll(goneError(true))
  }

  worker.on('message', (message: FromThread) => {
    if (message.kind === 'answers') message.answers.forEach(pending.settle)
    else if (message.kind === 'ready') started.resolve()
    else started.reject(decodeError(message.error, errors))
  })
  worker.on('error', (error) => lose(`failed: ${messageOf(error)}`, error))
  worker.on('messageerror', (error) => {
    lose(`sent what cannot be read: ${error.message}`, error)
    void worker.terminate()
  })
  worker.on('exit', (code) => {
    lose(closing ? 'is closed' : `ended with code ${code}`)
    exited.resolve()
  })
  try {
    await started.promise
  } catch (error) {
    // Handles that a failed set-up has left open would keep the thread, and with it the process, for good.
    await worker.terminate()
    throw error
  }

  return {
    call: (callName, args, transfer) => {
      if (closing || goneBecause !== undefined) return Promise.reject(goneError(false))
      const { id, promise } = pending.add()
      outbox.send({ id, name: callName, args }, transfer, (error) => pending.reject(id, error))
      return promise
    },
    health: () =>
      goneBecause === undefined ? { name, ready: true } : { name, ready: false, reason: goneError(false).message },
    close: () => {
      if (!closing && goneBecause === undefined) {
        outbox.flush()
        post({ kind: 'close' })
      }
      closing = true
      return exited.promise
    },
    kill: async () => {
      lose('was ended')
      await worker.terminate()
    },
  }
}

/** A value that a thread may throw; an error of another realm is no instance of `Error` here. */
const messageOf = (thrown: unknown): string =>
  String((thrown as { readonly message?: unknown } | null | undefined)?.message ?? thrown)

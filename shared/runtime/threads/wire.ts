import type { Transferable } from 'node:worker_threads'

/**
 * The calls of a thread: each takes arguments and returns a value or a promise of one, and all of these support structured cloning.
 * (Bounded by itself, so that an interface without an index signature fits.)
 */
export type CallsOf<Calls> = { readonly [Name in keyof Calls]: (...args: never[]) => unknown }

export interface CallMessage {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

export type AnswerMessage =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: WireError }

/** Messages travel in arrays: those of one event loop turn are posted together. */
export type ToThread = { readonly kind: 'calls'; readonly calls: readonly CallMessage[] } | { readonly kind: 'close' }

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: WireError }
  | { readonly kind: 'answers'; readonly answers: readonly AnswerMessage[] }

/** An error in transit between threads, with the class and fields that structured cloning would lose. */
interface WireError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  /** Own fields with plain values, such as an error code. */
  readonly fields: Readonly<Record<string, string | number | boolean | null>>
  readonly cause: WireError | undefined
}

/** A class whose instances keep their class between threads; found by its instances' name. */
export type ErrorClass = { readonly prototype: Error; readonly name: string }

const CAUSES_MAX = 5
const STANDARD_FIELDS: readonly string[] = ['name', 'message', 'stack', 'cause']

export function encodeError(thrown: unknown, causesLeft = CAUSES_MAX): WireError {
  if (!(thrown instanceof Error)) {
    return { name: 'Error', message: String(thrown), stack: undefined, fields: {}, cause: undefined }
  }
  return {
    name: thrown.name,
    message: thrown.message,
    stack: thrown.stack,
    fields: Object.fromEntries(Object.entries(thrown).filter(([name, value]) => isPlain(name, value))),
    cause: thrown.cause === undefined || causesLeft === 0 ? undefined : encodeError(thrown.cause, causesLeft - 1),
  }
}

const isPlain = (name: string, value: unknown): boolean =>
  !STANDARD_FIELDS.includes(name) && (value === null || ['string', 'number', 'boolean'].includes(typeof value))

/** Restores the error, as an instance of the class with its name if that is among `classes`, else as an `Error`. */
export function decodeError(wire: WireError, classes: readonly ErrorClass[]): Error {
  const cause = wire.cause && { cause: decodeError(wire.cause, classes) }
  const error = new Error(wire.message, cause)
  const known = classes.find(({ name }) => name === wire.name)
  // The constructors have different parameters, so the class is set from outside.
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype)
  const fields = { ...wire.fields, name: wire.name }
  for (const [name, value] of Object.entries(fields)) Object.defineProperty(error, name, { value, enumerable: true })
  if (wire.stack !== undefined) error.stack = wire.stack
  return error
}

/** Gathers the messages of one event loop turn and posts them together: a post costs more than most messages. */
interface Outbox<Message> {
  /** `onUnsent` is called if the message contains something that cannot be cloned. */
  send(message: Message, onUnsent: (error: Error) => void, transfer?: readonly Transferable[]): void
  /** Posts the gathered messages at once. */
  flush(): void
}

interface Waiting<Message> {
  readonly message: Message
  readonly transfer: readonly Transferable[]
  readonly onUnsent: (error: Error) => void
}

export function createOutbox<Message>(
  post: (messages: readonly Message[], transfer: readonly Transferable[]) => void,
): Outbox<Message> {
  let waiting: Waiting<Message>[] = []

  const postAll = (batch: readonly Waiting<Message>[]): void =>
    post(
      batch.map(({ message }) => message),
      batch.flatMap(({ transfer }) => transfer),
    )

  const postEach = (batch: readonly Waiting<Message>[]): void => {
    for (const one of batch) {
      try {
        postAll([one])
      } catch (error) {
        one.onUnsent(error as Error)
      }
    }
  }

  const flush = (): void => {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      postAll(batch)
    } catch {
      // One message that cannot be cloned must not prevent the others.
      postEach(batch)
    }
  }

  return {
    send: (message, onUnsent, transfer = []) => {
      waiting.push({ message, onUnsent, transfer })
      if (waiting.length === 1) process.nextTick(flush)
    },
    flush,
  }
}

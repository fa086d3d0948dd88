import { decodeError, type ErrorClass } from './error-wire.ts'
import type { AnswerMessage } from './messages.ts'

interface Pending {
  readonly resolve: (value: never) => void
  readonly reject: (reason: Error) => void
}

/** Calls that were sent but not answered yet. */
export interface PendingCalls {
  /** Registers a call; its id is sent with the message. */
  add(): { readonly id: number; readonly promise: Promise<never> }
  settle(answer: AnswerMessage): void
  reject(id: number, reason: Error): void
  rejectAll(reason: Error): void
}

export function createPendingCalls(errorClasses: readonly ErrorClass[]): PendingCalls {
  const pending = new Map<number, Pending>()
  let nextId = 0

  const take = (id: number): Pending | undefined => {
    const call = pending.get(id)
    pending.delete(id)
    return call
  }

  return {
    add: () => {
      const { promise, resolve, reject } = Promise.withResolvers<never>()
      const id = nextId++
      pending.set(id, { resolve, reject })
      return { id, promise }
    },
    settle: (answer) => {
      const call = take(answer.id)
      if (answer.ok) call?.resolve(answer.value as never)
      else call?.reject(decodeError(answer.error, errorClasses))
    },
    reject: (id, reason) => take(id)?.reject(reason),
    rejectAll: (reason) => {
      for (const id of [...pending.keys()]) take(id)?.reject(reason)
    },
  }
}

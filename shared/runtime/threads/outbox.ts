import type { Transferable } from 'node:worker_threads'

/** Gathers the messages of one event loop turn and posts them together: a post costs more than most messages. */
export interface Outbox<Message> {
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

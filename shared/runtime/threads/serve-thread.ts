import { parentPort, workerData } from 'node:worker_threads'
import {
  type AnswerMessage,
  type CallMessage,
  type CallsOf,
  createOutbox,
  encodeError,
  type FromThread,
  type ToThread,
} from './wire.ts'

/** The work of a thread for its callers. */
export interface ThreadService<Calls> {
  readonly calls: Calls
  /** Runs after the last call has been answered. */
  close(): void | Promise<void>
}

/**
 * Makes this thread answer calls from the thread that started it (`startThread`). `setUp` gets the latter's `data`; an error it throws
 * rejects the start.
 */
export async function serveThread<Calls extends CallsOf<Calls>>(
  setUp: (data: never) => ThreadService<Calls> | Promise<ThreadService<Calls>>,
): Promise<void> {
  const port = parentPort
  if (port === null) throw new Error('serveThread has to run in a worker thread')
  const post = (message: FromThread): void => port.postMessage(message)
  const outbox = createOutbox<AnswerMessage>((answers) => post({ kind: 'answers', answers }))
  const running = new Set<Promise<void>>()

  const fail = (id: number, error: unknown): void => outbox.send({ id, ok: false, error: encodeError(error) }, () => {})
  const succeed = (id: number, value: unknown): void => outbox.send({ id, ok: true, value }, (error) => fail(id, error))

  let service: ThreadService<Calls>
  try {
    service = await setUp(workerData as never)
  } catch (error) {
    post({ kind: 'failed', error: encodeError(error) })
    port.close()
    return
  }

  const answer = async ({ id, name, args }: CallMessage): Promise<void> => {
    try {
      succeed(id, await service.calls[name as keyof Calls](...(args as never[])))
    } catch (error) {
      fail(id, error)
    }
  }

  const begin = (call: CallMessage): void => {
    const answered = answer(call).then(() => void running.delete(answered))
    running.add(answered)
  }

  const close = async (): Promise<void> => {
    await Promise.all(running)
    await service.close()
    outbox.flush()
    port.close()
  }

  port.on('message', (message: ToThread) => {
    if (message.kind === 'calls') return message.calls.forEach(begin)
    void close()
  })
  post({ kind: 'ready' })
}

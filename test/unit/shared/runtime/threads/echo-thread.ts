import { serveThread } from '../../../../../shared/runtime/threads/serve-thread.ts'
import { EchoError } from './echo-error.ts'

/** The calls of the thread that the tests talk to. */
export interface EchoCalls {
  add(left: number, right: number): number
  greet(): string
  fail(message: string): never
  throwText(): never
  unfit(): unknown
  /** Answers when `letGo` was called. */
  wait(): Promise<string>
  letGo(): void
  byteLength(buffer: ArrayBuffer): number
  crash(): void
  exit(): void
}

export interface EchoData {
  readonly greeting: string
  /** Shared memory in which the thread notes its close. */
  readonly closed: Int32Array<SharedArrayBuffer>
}

await serveThread<EchoCalls>(({ greeting, closed }: EchoData) => {
  if (greeting === '') throw new EchoError('there is nothing to greet with', 'quiet', { cause: new RangeError('why') })
  const gate = Promise.withResolvers<string>()
  return {
    calls: {
      add: (left, right) => left + right,
      greet: () => greeting,
      fail: (message) => {
        throw new EchoError(message, 'loud', { cause: new TypeError('the cause') })
      },
      throwText: () => {
        throw 'no error'
      },
      unfit: () => () => 'a function cannot be cloned',
      wait: () => gate.promise,
      letGo: () => gate.resolve('at last'),
      byteLength: (buffer) => buffer.byteLength,
      crash: () => {
        setImmediate(() => {
          throw new Error('the thread fell over')
        })
      },
      exit: () => process.exit(7),
    },
    close: () => {
      Atomics.add(closed, 0, 1)
    },
  }
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallsOf } from './messages.ts'
import type { ThreadService } from './serve-thread.ts'
import type { Thread } from './thread.ts'

/** A service to call, in a thread of its own (`startThread`) or in the caller's (`callHere`). */
export type Callable<Calls extends CallsOf<Calls>> = Pick<Thread<Calls>, 'call' | 'health' | 'close'>

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
    close: async () => {
      closed = true
      await close()
    },
  }
}

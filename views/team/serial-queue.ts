import { ProblemError, problem } from '../../shared/contract/errors.ts'
import { unavailable } from '../api/problems.ts'

export interface SerialQueueOptions {
  /** The most calls that may wait for their turn, the running one included. */
  readonly waitingMax: number
  /** The longest time from the call to the answer. */
  readonly timeoutMs: number
}

/** Does the work in its turn; throws `server_error` where that takes too long, or too many wait. */
export type SerialQueue = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Does one thing after the other. Work that is given up before its turn is never begun; what has begun goes on, and whether it was
 * done stays open.
 */
export function createSerialQueue({ waitingMax, timeoutMs }: SerialQueueOptions): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= waitingMax) throw unavailable('Too many changes are under way.')
    waiting += 1
    let state: 'waiting' | 'begun' | 'given up' = 'waiting'
    const { promise: expired, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      const outcome = state === 'begun' ? 'unknown' : 'not_written'
      state = 'given up'
      reject(new ProblemError(problem('server_error', { outcome }, 'The change was not confirmed in time.')))
    }, timeoutMs)
    const turn = last.then(() => {
      if (state === 'given up') return expired
      state = 'begun'
      return work()
    })
    last = turn
      .catch(() => undefined)
      .finally(() => {
        waiting -= 1
      })
    try {
      return await Promise.race([turn, expired])
    } finally {
      clearTimeout(timer)
    }
  }
}

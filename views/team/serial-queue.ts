import { ProblemError, problem } from '../../shared/contract/errors.ts'
import { unavailable } from '../api/problems.ts'

export interface SerialQueueOptions {
  /** Maximum number of waiting calls, including the running one. */
  readonly waitingMax: number
  /** The same of one Team, so that no Team takes all places. */
  readonly teamWaitingMax: number
  /** The longest time from the call to its result, in milliseconds. */
  readonly timeoutMs: number
}

/** Runs the work of a Team in turn; throws `server_error` on timeout, or if too many calls are waiting. */
export type SerialQueue = <T>(team: string, work: () => Promise<T>) => Promise<T>

/** Runs one call at a time. Work that times out before its turn is never started; running work continues, and its outcome stays unknown. */
export function createSerialQueue({ waitingMax, teamWaitingMax, timeoutMs }: SerialQueueOptions): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  /** The Team of each waiting call. */
  const waiting: string[] = []

  return async <T>(team: string, work: () => Promise<T>): Promise<T> => {
    if (waiting.length >= waitingMax) throw unavailable('Too many changes are under way.')
    if (waiting.filter((one) => one === team).length >= teamWaitingMax)
      throw unavailable('The Team has too many changes under way.')
    waiting.push(team)
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
        // In turn, so the first call is the one that ended.
        waiting.shift()
      })
    try {
      return await Promise.race([turn, expired])
    } finally {
      clearTimeout(timer)
    }
  }
}

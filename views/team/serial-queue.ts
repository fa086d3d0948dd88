import { ProblemError, problem } from '../../shared/contract/errors.ts'
import { createSemaphore } from '../../shared/runtime/semaphore.ts'
import { unlessAborted } from '../../shared/runtime/waiting.ts'
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
  const { run } = createSemaphore(1)
  /** The Team of each waiting call. */
  const waiting: string[] = []

  return async (team, work) => {
    if (waiting.length >= waitingMax) throw unavailable('Too many changes are under way.')
    if (waiting.filter((one) => one === team).length >= teamWaitingMax)
      throw unavailable('The Team has too many changes under way.')
    waiting.push(team)
    const over = new AbortController()
    let outcome: 'not_written' | 'unknown' = 'not_written'
    const giveUp = (): void =>
      over.abort(new ProblemError(problem('server_error', { outcome }, 'The change was not confirmed in time.')))
    const timer = setTimeout(giveUp, timeoutMs)
    const turn = run(() => {
      outcome = 'unknown'
      return work()
    }, over.signal)
    const leave = (): void => void waiting.splice(waiting.indexOf(team), 1)
    turn.then(leave, leave)
    try {
      return await unlessAborted(turn, over.signal)
    } finally {
      clearTimeout(timer)
    }
  }
}

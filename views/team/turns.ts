import { unavailable } from '../api/problems.ts'

/** Does one thing after the other, and takes no more than so many that wait. Throws `server_error` for those. */
export function createTurns(waitingMax: number): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  return async (work) => {
    if (waiting >= waitingMax) throw unavailable('Too many changes are under way.')
    waiting += 1
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      waiting -= 1
    }
  }
}

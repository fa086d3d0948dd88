import { createDeadlines, type Due } from '../../shared/deadlines.ts'
import type { Send } from './publication.ts'

/** The next step took too long. Its records may still be written. */
export class UnsettledError extends Error {
  override readonly name = 'UnsettledError'
}

interface Waiting extends Due {
  readonly giveUp: () => void
}

/**
 * Stops waiting for the next step after a time. Without it, one send that never settles would keep its partition, and a breaker
 * that is half open, for ever.
 */
export function limitTime(timeoutMs: number, next: Send): Send {
  const deadlines = createDeadlines<Waiting>(({ giveUp }) => giveUp())
  return (batch) =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new UnsettledError(`not settled within ${timeoutMs} ms`))
      const waiting = { deadline: performance.now() + timeoutMs, giveUp }
      deadlines.add(waiting)
      next(batch)
        .then(resolve, reject)
        .finally(() => deadlines.delete(waiting))
    })
}

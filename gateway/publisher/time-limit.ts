import { createDeadlines, type Deadlines } from '../../shared/runtime/deadlines.ts'
import type { Send } from './publication.ts'

/** The next step took too long. Its records may still be written. */
export class UnsettledError extends Error {
  override readonly name = 'UnsettledError'
}

/**
 * Stops waiting for the next step after a time. Without it, one send that never settles would keep its partition, and a breaker
 * that is half open, for ever.
 */
export function limitTime(timeoutMs: number, next: Send): Send {
  const deadlines = createDeadlines()
  return (batch) => settledWithin(timeoutMs, next(batch), deadlines)
}

function settledWithin(timeoutMs: number, settling: Promise<void>, deadlines: Deadlines): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new UnsettledError(`not settled within ${timeoutMs} ms`))
    const deadline = deadlines.add(performance.now() + timeoutMs, giveUp)
    settling.then(resolve, reject).finally(() => deadlines.cancel(deadline))
  })
}

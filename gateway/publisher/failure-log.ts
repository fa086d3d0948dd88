import type { Logger } from '../../shared/runtime/logger.ts'
import type { MicroBatch } from './publication.ts'

/** Tells of failed sends: the first at once, then at most one line per interval with the number of those between. */
export function createFailureLog(logger: Logger, intervalMs = 1_000): (error: unknown, batch: MicroBatch) => void {
  let quietUntil = Number.NEGATIVE_INFINITY
  let unsaid = 0
  return (error, { topic, partition, count }) => {
    const now = performance.now()
    if (now < quietUntil) {
      unsaid += 1
      return
    }
    logger.warn({ err: error, topic, partition, records: count, unsaid }, 'the journal did not confirm a send')
    quietUntil = now + intervalMs
    unsaid = 0
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { PartitionBatch } from '../shared/journal/journal.ts'
import type { Logger } from '../shared/runtime/logger.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/**
 * Commits a position, again and again until the journal takes it or the partition is taken away. What stands before the position is
 * stored already, so a journal that cannot write for a while (a full disk, say) is no reason to halt. Rejects with the signal's reason.
 */
export async function commitPatiently(
  batch: PartitionBatch,
  position: number,
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    batch.signal.throwIfAborted()
    try {
      return await batch.commit(position)
    } catch (err) {
      // A position that the journal will never take is a fault of ours.
      if (err instanceof RangeError) throw err
      if (pauseMs === FIRST_PAUSE_MS)
        logger.warn({ err, topic: batch.topic }, 'a position cannot be committed; retrying')
    }
    // An abort ends the pause; the loop then throws the signal's reason.
    await delay(pauseMs, undefined, { signal: batch.signal }).catch(() => {})
  }
}

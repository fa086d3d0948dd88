import type { Logger } from '../../runtime/logger.ts'
import { describeFault } from './faults.ts'
import type { Source } from './source.ts'

/** How long a partition may go unread until that is told; a member of a group is made anew before. */
const UNREAD_MS = 30_000

export type FetchReport = ReturnType<typeof createFetchReport>

/**
 * Logs which partitions have unreadable records, and which have not been read for long, and why: nobody else does for those that are read
 * outside of a group, as the registry is. Failures that pass are for the debug log.
 */
export function createFetchReport(logger: Logger) {
  /** The last failure of a request. */
  let lastReason: string | undefined
  const unread = new WeakSet<Source>()
  /** The position of the records that were last logged as unreadable: the same ones are fetched again and again. */
  const toldAt = new WeakMap<Source, number>()
  return {
    failed: (what: object, error: unknown, message: string): void => {
      lastReason = describeFault(error)
      logger.debug({ ...what, reason: lastReason }, message)
    },
    unreadable: (failures: ReadonlyMap<Source, unknown>): void => {
      for (const [source, error] of failures) {
        const { topic, partition, position, obstacle } = source
        if (obstacle === null || toldAt.get(source) === position) continue
        toldAt.set(source, position)
        logger.warn({ topic, partition, position, reason: describeFault(error) }, 'records cannot be read')
      }
    },
    look: (sources: readonly Source[]): void => {
      for (const source of sources) {
        const { topic, partition, answeredAt, refusal } = source
        const reason = refusal !== null && refusal.at > answeredAt ? refusal.reason : lastReason
        const isUnread = performance.now() - answeredAt > UNREAD_MS && reason !== undefined
        if (isUnread === unread.has(source)) continue
        if (isUnread) {
          unread.add(source)
          logger.warn({ topic, partition, reason }, 'a partition is not read')
        } else {
          unread.delete(source)
          logger.info({ topic, partition }, 'the partition is read again')
        }
      }
    },
  }
}

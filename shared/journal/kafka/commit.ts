import type { offsetCommitV9 } from '@platformatic/kafka'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/waiting.ts'
import { describeFault, hasCode } from './faults.ts'

/** Commits a position of a partition. Rejects where the brokers refuse for good. */
export type Commit = (
  topic: string,
  partition: number,
  position: number,
  signal: AbortSignal,
) => Promise<'committed' | 'fenced'>

/** Sends an OffsetCommit to the coordinator in the name of a membership. */
export type SendCommit = (topics: offsetCommitV9.OffsetCommitRequestTopic[]) => Promise<unknown>

const RETRY_DELAY_MS = 200

/** The group has gone on without this member, or without this generation. */
const FENCED = ['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID', 'REBALANCE_IN_PROGRESS']
/** Refusals that another attempt does not change. */
const REFUSED = [
  'GROUP_AUTHORIZATION_FAILED',
  'TOPIC_AUTHORIZATION_FAILED',
  'INVALID_GROUP_ID',
  'INVALID_COMMIT_OFFSET_SIZE',
  'OFFSET_METADATA_TOO_LARGE',
]

/**
 * Commits by `send`. Tries until the signal aborts: a member whose
 * coordinator stays away is ended by its watch, and one whose epoch is stale (STALE_MEMBER_EPOCH) gets the newer one by its next heartbeat.
 */
export const commitPosition =
  (send: SendCommit, logger: Logger): Commit =>
  async (topic, partition, position, signal) => {
    const place = {
      partitionIndex: partition,
      committedOffset: BigInt(position),
      committedLeaderEpoch: -1,
      committedMetadata: null,
    }
    while (!signal.aborted) {
      try {
        await send([{ name: topic, partitions: [place] }])
        return 'committed'
      } catch (error) {
        if (hasCode(error, ...FENCED)) return 'fenced'
        const reason = describeFault(error)
        if (hasCode(error, ...REFUSED)) {
          throw new Error(`the position ${position} of ${topic}/${partition} cannot be committed: ${reason}`, {
            cause: error,
          })
        }
        logger.debug({ topic, partition, reason }, 'a commit failed and is repeated')
        await pause(RETRY_DELAY_MS, signal)
      }
    }
    return 'fenced'
  }

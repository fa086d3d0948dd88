import type { offsetCommitV9 } from '@platformatic/kafka'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/waiting.ts'
import { describeFault, hasCode, isUnknownTopic } from './faults.ts'
import type { LogPlace } from './offsets.ts'

/**
 * Commits a place in a partition. Rejects if the brokers refuse for good. Resolves with `replaced` if `isStillThere` says that another topic
 * has the name: it is asked before each attempt, and told whether an earlier one found no topic; null says that there is none yet.
 */
export type Commit = (
  topic: string,
  partition: number,
  place: LogPlace,
  signal: AbortSignal,
  isStillThere?: (isDoubtful: boolean) => Promise<boolean | null>,
) => Promise<'committed' | 'fenced' | 'replaced'>

/** Sends an OffsetCommit to the coordinator on behalf of a member. */
export type SendCommit = (topics: offsetCommitV9.OffsetCommitRequestTopic[]) => Promise<unknown>

const RETRY_DELAY_MS = 200
/** A coordinator that moves refuses fewer attempts than this. */
const TELLING_ATTEMPT = 25

/** Refusals of a commit for which the group has moved on without this member, or without this generation. */
const FENCED_COMMIT = ['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID', 'REBALANCE_IN_PROGRESS']
/** Refusals that a retry does not change. */
const REFUSED = [
  'GROUP_AUTHORIZATION_FAILED',
  'TOPIC_AUTHORIZATION_FAILED',
  'INVALID_GROUP_ID',
  'INVALID_COMMIT_OFFSET_SIZE',
  'OFFSET_METADATA_TOO_LARGE',
]

/**
 * Commits with `send`, and retries until the signal aborts: if the coordinator stays away, the member's watch ends the member; if the epoch
 * is stale (STALE_MEMBER_EPOCH), the next heartbeat brings the newer one. A topic that is gone is told of once for all its partitions.
 */
export function commitPosition(
  send: SendCommit,
  logger: Logger,
  note: () => string | null = () => null,
  retryMs = RETRY_DELAY_MS,
): Commit {
  /** The topics that are gone and were told of. */
  const gone = new Set<string>()
  return async (topic, partition, { position, leaderEpoch }, signal, isStillThere = async () => true) => {
    const place = {
      partitionIndex: partition,
      committedOffset: BigInt(position),
      committedLeaderEpoch: leaderEpoch,
      committedMetadata: note(),
    }
    let unknown: unknown
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        // Brokers know a topic by its name here: they would take the position for one of a topic that was made anew.
        const found = await isStillThere(unknown !== undefined)
        if (found === false) return 'replaced'
        if (found === null && unknown !== undefined) throw unknown
        await send([{ name: topic, partitions: [place] }])
        gone.delete(topic)
        return 'committed'
      } catch (error) {
        if (hasCode(error, ...FENCED_COMMIT)) return 'fenced'
        // Brokers may allow no note, or only a shorter one (offset.metadata.max.bytes).
        if (place.committedMetadata !== null && hasCode(error, 'OFFSET_METADATA_TOO_LARGE')) {
          place.committedMetadata = null
          continue
        }
        const reason = describeFault(error)
        if (hasCode(error, ...REFUSED)) {
          throw new Error(`the position ${position} of ${topic}/${partition} cannot be committed: ${reason}`, {
            cause: error,
          })
        }
        const isGone = isUnknownTopic(error)
        if (isGone) unknown = error
        const level = attempt === TELLING_ATTEMPT && !(isGone && gone.has(topic)) ? 'warn' : 'debug'
        if (isGone && level === 'warn') gone.add(topic)
        logger[level]({ topic, partition, position, reason }, 'a commit failed and is repeated')
        await pause(retryMs, signal)
      }
    }
    return 'fenced'
  }
}

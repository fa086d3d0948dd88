import { type Consumer, offsetCommitV8 } from '@platformatic/kafka'
import { pause } from '../../runtime/waiting.ts'
import { describeFault, hasCode } from './faults.ts'

/** The membership in which a batch was read. */
export interface Membership {
  readonly group: string
  readonly generationId: number
  readonly memberId: string
}

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
 * Commits a position in the name of the membership that read the batch. The library's own commit is not used: where the group has gone
 * on, it joins anew and repeats the commit in the new generation, for a partition that another member may own by then. Tries until the
 * signal aborts: a member whose coordinator stays away is ended by its watch. Rejects where the brokers refuse for good.
 */
export async function commitPosition(
  client: Consumer,
  { group, generationId, memberId }: Membership,
  { topic, partition, position }: { readonly topic: string; readonly partition: number; readonly position: number },
  signal: AbortSignal,
  onFailure: (reason: string) => void,
): Promise<'committed' | 'fenced'> {
  const place = {
    partitionIndex: partition,
    committedOffset: BigInt(position),
    committedLeaderEpoch: -1,
    committedMetadata: null,
  }
  const topics = [{ name: topic, partitions: [place] }]
  while (!signal.aborted) {
    try {
      const coordinator = await client.findGroupCoordinator()
      const connection = (await client.connectToBrokers([coordinator])).get(coordinator)
      if (connection === undefined) throw new Error('the coordinator is not among the brokers')
      await offsetCommitV8.api.async(connection, group, generationId, memberId, null, topics)
      return 'committed'
    } catch (error) {
      if (hasCode(error, ...FENCED)) return 'fenced'
      const reason = describeFault(error)
      if (hasCode(error, ...REFUSED)) {
        throw new Error(`the position ${position} of ${topic}/${partition} cannot be committed: ${reason}`, {
          cause: error,
        })
      }
      onFailure(reason)
      await pause(RETRY_DELAY_MS, signal)
    }
  }
  return 'fenced'
}

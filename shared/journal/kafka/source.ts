import { type LogPlace, NO_EPOCH } from './offsets.ts'
import type { PartitionState } from './stall.ts'

/** One partition that is being read. Its place is that of the next record to fetch. */
export interface Source extends LogPlace, PartitionState {
  /** The id of the topic that the position belongs to, from the first answer on. A topic made anew under its name has another one. */
  topicId: string | undefined
  position: number
  leaderEpoch: number
  answeredAt: number
  /** The time of day at which its broker was last asked and had nothing more (milliseconds since 1970); 0: not yet. */
  readAt: number
  refusal: PartitionState['refusal']
  /** The reason why the records at its position cannot be read, as they are damaged or kept from this reader; null if they can. */
  obstacle: string | null
  /** Whether its topic was not found when it was last fetched, so that it may be made anew by now. */
  isTopicMissed: boolean
  /** The number of its last turn: a broker fills its answer in request order, so those that waited longest are asked for first. */
  turn: number
}

/** A partition that is to be read from a place on; its epoch need not be known. */
export const sourceAt = (
  place: Pick<Source, 'topic' | 'partition' | 'position'> & Partial<Pick<Source, 'leaderEpoch'>>,
): Source => ({
  leaderEpoch: NO_EPOCH,
  ...place,
  topicId: undefined,
  answeredAt: performance.now(),
  readAt: 0,
  refusal: null,
  obstacle: null,
  isTopicMissed: false,
  turn: 0,
})

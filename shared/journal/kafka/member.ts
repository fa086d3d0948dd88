import { within } from '../../runtime/waiting.ts'
import type { AssignmentCause } from '../journal.ts'
import type { Assignment, AssignmentOptions } from './assignment.ts'
import { describeFault } from './faults.ts'
import type { ReadContext } from './read.ts'

export interface GroupContext extends ReadContext {
  /** `auto`: the consumer protocol (KIP-848) if the group's coordinator supports it. */
  readonly groupProtocol: 'auto' | 'classic'
  /** A member whose heartbeats the group has missed for this long loses its partitions. */
  readonly sessionTimeoutMs: number
  /** How long a rebalance waits for members that finish their work. */
  readonly rebalanceTimeoutMs: number
  readonly heartbeatIntervalMs: number
}

/** The cause of the end of a membership, other than `close` or an error of the subscription. */
export interface Ended {
  readonly reason: string
  /** How long its handlers may take to end before it leaves the group; absent: as long as a rebalance waits. */
  readonly graceMs?: number
  /** The coordinator does not support the protocol for this group: a new member has to join by the classic one. */
  readonly isUnsupported?: boolean
}

/** One membership, from its join on. */
export interface Member {
  /** Undefined if the group has not been joined, or is being rejoined. */
  assignment(): Assignment | undefined
  /** When the group last answered (`performance.now()`). */
  heartbeatAt(): number
  /** Called once nothing new may begin; heartbeats continue until `leave`. */
  stop(): void
  /** Tells the coordinator, if it answers; otherwise the group notices after the session timeout. Does not reject. */
  leave(): Promise<void>
}

export interface MemberOptions {
  readonly context: GroupContext
  /** The options of its assignment, except for those of commits. */
  readonly reading: Omit<AssignmentOptions, 'commit' | 'onFenced'>
  onAssigned(partitions: number, cause: AssignmentCause): void
  end(ended: Ended): void
}

export type StartMember = (options: MemberOptions) => Member

/** Maximum time of each step of leaving. */
const LEAVE_WITHIN_MS = 5_000

/** Waits for a step of leaving, with a time limit, so that an unresponsive broker does not hold it up. */
export async function takeLeave(
  { context: { logger }, reading: { group } }: MemberOptions,
  step: string,
  work: Promise<unknown>,
): Promise<void> {
  await within(LEAVE_WITHIN_MS, work).catch((error) =>
    logger.debug({ group, step, reason: describeFault(error) }, 'a step of leaving a group failed'),
  )
}

import { pause, unlessAborted } from '../../runtime/waiting.ts'
import { PositionLostError, TO_GO_ON } from '../journal.ts'
import type { Cluster, GroupPosition } from './cluster.ts'
import { describeFault } from './faults.ts'
import { type LogPlace, NO_EPOCH } from './offsets.ts'
import type { ReadContext } from './read.ts'
import type { PartitionState } from './stall.ts'

/** A partition and the place from which to read it. */
export interface StartingPoint extends LogPlace {
  readonly topic: string
  readonly partition: number
}

/** A partition whose position in the group is asked for. */
export interface Waiting extends PartitionState {
  obstacle: string
}

interface StartingPointsOptions {
  readonly context: ReadContext
  readonly group: string
  readonly partitions: readonly Waiting[]
  readonly signal: AbortSignal
  /** False once a partition was found or is not to be read any more. */
  isSought(partition: Waiting): boolean
  onFound(partition: Waiting, point: StartingPoint): void
}

const RETRY_DELAY_MS = 500
/**
 * Kafka removes the positions of a group without members after a week by default, and a topic keeps its records for a week as well: once the
 * position is gone, the first records that it did not read are gone, too.
 */
const NO_POSITION = 'the group has no position and begins at the first record kept; it may never have read those before'
/** Kafka removes a group's positions in a deleted topic a moment later, so that they may seem to be those of a topic made anew. */
const OLD_POSITION_MS = 10_000

/**
 * Asks for the group's position in each partition until its leader and the coordinator answer. Partitions without an answer do not delay
 * the reading of others. Resolves when none is sought any more or the signal aborts; rejects with a `PositionLostError` if records are lost.
 */
export async function findStartingPoints(options: StartingPointsOptions): Promise<void> {
  const { context, group, partitions, signal, isSought, onFound } = options
  const oldUntil = performance.now() + OLD_POSITION_MS
  const isOld = ({ committed, end }: GroupPosition): boolean =>
    committed !== null && committed.position > end && performance.now() < oldUntil

  const askTopic = async (topic: string, asked: readonly Waiting[]): Promise<void> => {
    const answers = await askPositions(context.cluster, group, topic, asked)
    if (signal.aborted) return
    for (const each of asked.filter(isSought)) {
      const { partition } = each
      const answer = answers.get(partition)
      if (answer !== undefined && !(answer instanceof Error) && !isOld(answer)) {
        onFound(each, pointOf(topic, partition, answer))
        if (answer.committed === null && answer.first > 0)
          context.logger.warn({ group, topic, partition, first: answer.first }, NO_POSITION)
      } else {
        each.obstacle = reasonOf(answer)
        context.logger.debug({ group, topic, partition, reason: each.obstacle }, 'a position could not be read')
      }
    }
  }
  for (;;) {
    const byTopic = Map.groupBy(partitions.filter(isSought), ({ topic }) => topic)
    const asking = Promise.all([...byTopic].map(([topic, asked]) => askTopic(topic, asked)))
    // A member that ends must not wait for brokers that do not answer.
    await unlessAborted(asking, signal).catch((error) => {
      if (!signal.aborted) throw error
    })
    if (signal.aborted || !partitions.some(isSought)) return
    await pause(RETRY_DELAY_MS, signal)
  }
}

function reasonOf(answer: GroupPosition | Error | undefined): string {
  if (answer === undefined) return 'no broker gave its position'
  return answer instanceof Error ? describeFault(answer) : 'its position is after its end'
}

/** Like `Cluster.positionsOf`, but its rejection becomes the error of each partition. */
async function askPositions(
  cluster: Cluster,
  group: string,
  topic: string,
  asked: readonly Waiting[],
): Promise<ReadonlyMap<number, GroupPosition | Error>> {
  const partitions = asked.map(({ partition }) => partition)
  try {
    return await cluster.positionsOf(topic, group, partitions)
  } catch (error) {
    return new Map(partitions.map((partition) => [partition, error as Error]))
  }
}

function pointOf(topic: string, partition: number, { first, end, committed }: GroupPosition): StartingPoint {
  const point = { topic, partition, ...(committed ?? { position: first, leaderEpoch: NO_EPOCH }) }
  // If the epoch is known, the leader itself reports that it lacks records before the position.
  refuseLost(point, first, point.leaderEpoch === NO_EPOCH ? end : point.position)
  return point
}

/** Clients usually continue at the first or the last record if a position is out of range, which hides a loss; this one stops. */
export function refuseLost(
  { topic, partition, position }: StartingPoint,
  firstOffset: number,
  endPosition: number,
): void {
  if (position < firstOffset) throw new PositionLostError(topic, partition, position, firstOffset)
  if (position > endPosition) {
    throw new Error(
      `${topic}/${partition}: the group stands at ${position}, but the topic ends at ${endPosition}; it was made anew or lost records ${TO_GO_ON}`,
    )
  }
}

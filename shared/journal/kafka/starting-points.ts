import { pause, unlessAborted } from '../../runtime/waiting.ts'
import { PositionLostError } from '../journal.ts'
import type { Cluster, GroupPosition } from './cluster.ts'
import { describeFault } from './faults.ts'
import { type LogPlace, NO_EPOCH } from './offsets.ts'
import type { ReadContext } from './read.ts'

/** A partition and the place from which to read it. */
export interface StartingPoint extends LogPlace {
  readonly topic: string
  readonly partition: number
}

/** Partitions of one topic. */
export interface TopicPartitions {
  readonly topic: string
  readonly partitions: readonly number[]
}

export interface StartingPointsOptions {
  readonly context: ReadContext
  readonly group: string
  readonly partitions: readonly TopicPartitions[]
  readonly signal: AbortSignal
  onFound(point: StartingPoint): void
  onAllFound(): void
}

/** A partition whose position is not known yet. */
export interface Pending {
  readonly topic: string
  readonly partition: number
  /** The obstacle. */
  readonly reason: string
}

export interface StartingPoints {
  /** Resolves when all are found or the signal aborts; rejects with a `PositionLostError` if records are lost. */
  readonly done: Promise<void>
  pending(): readonly Pending[]
  /** Stops looking up this partition. */
  forget(topic: string, partition: number): void
}

const RETRY_DELAY_MS = 500
/** Kafka removes the positions of a group without members, after a week by default: as soon as it removes what they did not read. */
const NO_POSITION = 'the group has no position and begins at the first record kept; it may never have read those before'
/** Kafka removes a group's positions in a deleted topic a moment later, so that they may seem to be those of a topic made anew. */
const OLD_POSITION_MS = 10_000

/**
 * Asks for the group's position in each partition until its leader and the coordinator answer. Partitions without an answer do not delay
 * the reading of others.
 */
export function findStartingPoints({
  context,
  group,
  partitions,
  signal,
  onFound,
  onAllFound,
}: StartingPointsOptions): StartingPoints {
  const pending = new Map<string, Pending>()
  for (const { topic, partitions: numbers } of partitions) {
    for (const partition of numbers) {
      pending.set(`${topic}/${partition}`, { topic, partition, reason: 'its position is being asked for' })
    }
  }

  const oldUntil = performance.now() + OLD_POSITION_MS
  const isOld = ({ committed, end }: GroupPosition): boolean =>
    committed !== null && committed.position > end && performance.now() < oldUntil

  const askTopic = async (topic: string, asked: readonly Pending[]): Promise<void> => {
    const answers = await askPositions(context.cluster, group, topic, asked)
    if (signal.aborted) return
    for (const { partition } of asked) {
      const key = `${topic}/${partition}`
      if (!pending.has(key)) continue
      const answer = answers.get(partition)
      if (answer !== undefined && !(answer instanceof Error) && !isOld(answer)) {
        onFound(pointOf(topic, partition, answer))
        if (answer.committed === null && answer.first > 0)
          context.logger.warn({ group, topic, partition, first: answer.first }, NO_POSITION)
        pending.delete(key)
        continue
      }
      const reason = reasonOf(answer)
      context.logger.debug({ group, topic, partition, reason }, 'a position could not be read')
      pending.set(key, { topic, partition, reason })
    }
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const byTopic = Map.groupBy(pending.values(), ({ topic }) => topic)
      const asking = Promise.all([...byTopic].map(([topic, asked]) => askTopic(topic, asked)))
      // A member that ends must not wait for brokers that do not answer.
      await unlessAborted(asking, signal).catch((error) => {
        if (!signal.aborted) throw error
      })
      if (signal.aborted) return
      if (pending.size === 0) return onAllFound()
      await pause(RETRY_DELAY_MS, signal)
    }
  }
  return {
    done: run(),
    pending: () => [...pending.values()],
    forget: (topic, partition) => void pending.delete(`${topic}/${partition}`),
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
  asked: readonly Pending[],
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
  // Of a position with its epoch, the leader itself says whether it lacks records before it.
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
      `${topic}/${partition}: the group stands at ${position}, but the topic ends at ${endPosition}; it was made anew or lost records`,
    )
  }
}

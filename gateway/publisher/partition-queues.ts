import type { WaitingRecord } from '../../shared/journal/journal.ts'
import type { ByteShare } from '../../shared/runtime/byte-budget.ts'
import type { Deadline } from '../../shared/runtime/deadlines.ts'
import type { BatchPart, MicroBatch, PublishOutcome } from './publication.ts'

/** The limits of a micro-batch. A part that alone exceeds `batchBytesMax` is sent by itself. */
export interface BatchLimits {
  readonly batchRecordsMax: number
  readonly batchBytesMax: number
}

/** Records of one request that wait in one queue and share one outcome. */
export interface Part extends BatchPart {
  readonly queue: PartitionQueue
  /** Emptied when the micro-batch takes them, so that a part that is kept a little longer does not keep them in memory. */
  records: readonly WaitingRecord[]
  readonly count: number
  /** When it was queued, on the clock of `performance.now()`. */
  readonly queuedAt: number
  readonly deadline: Deadline
  /** Reports the outcome; only the first call counts. */
  readonly settle: (outcome: PublishOutcome) => void
}

/** A micro-batch whose records can be taken out. */
type Writable<Batch> = { -readonly [Name in keyof Batch]: Batch[Name] }

/** The queue of one partition. */
export interface PartitionQueue {
  readonly topic: string
  readonly partition: number
  /** In the order of arrival. */
  readonly parts: Set<Part>
  /** The same by Team, each known by its share, in the order of their turns. */
  readonly teams: Map<ByteShare, Set<Part>>
  records: number
  bytes: number
  /**
   * Whether a micro-batch is in flight. There is at most one, so that later records cannot overtake a retry in the journal, and a partition
   * that hangs does not hold up others.
   */
  sending: boolean
  /** The number of records in the last micro-batch, and when it ended, on the clock of `performance.now()`. */
  recordsSent: number
  endedAt: number
}

/** The queues of one topic. */
export interface TopicQueues {
  /** The queue of each partition, at its number. */
  readonly queues: PartitionQueue[]
  /** The queue for records that may go anywhere: queues fill one after another, which makes fewer and larger micro-batches. */
  open: PartitionQueue
}

export function createTopicQueues(topic: string, partitions: number): TopicQueues {
  if (partitions < 1) throw new RangeError(`the topic ${topic} has no partition`)
  const open = createQueue(topic, 0)
  const created: TopicQueues = { queues: [open], open }
  resizeQueues(created, partitions)
  return created
}

/** Makes queues for this many partitions. The records of those that are gone are still sent, and refused. */
export function resizeQueues(topic: TopicQueues, partitions: number): void {
  const { queues, open } = topic
  while (queues.length < partitions) queues.push(createQueue(open.topic, queues.length))
  queues.length = partitions
  if (open.partition >= partitions) topic.open = following(topic, 1)
}

const createQueue = (topic: string, partition: number): PartitionQueue => {
  const empty = { parts: new Set<Part>(), teams: new Map<ByteShare, Set<Part>>(), records: 0, bytes: 0 }
  return { topic, partition, ...empty, sending: false, recordsSent: 0, endedAt: 0 }
}

export function enqueue(part: Part): void {
  const { queue } = part
  queue.parts.add(part)
  const ofTeam = queue.teams.get(part.share)
  if (ofTeam === undefined) queue.teams.set(part.share, new Set([part]))
  else ofTeam.add(part)
  queue.records += part.count
  queue.bytes += part.bytes
}

/** Removes a part from its queue; false if it is no longer there. */
export function dequeue(part: Part): boolean {
  const { queue } = part
  if (!queue.parts.delete(part)) return false
  const ofTeam = queue.teams.get(part.share)
  ofTeam?.delete(part)
  if (ofTeam?.size === 0) queue.teams.delete(part.share)
  queue.records -= part.count
  queue.bytes -= part.bytes
  return true
}

export const isFull = (queue: PartitionQueue, limits: BatchLimits): boolean =>
  queue.records >= limits.batchRecordsMax || queue.bytes >= limits.batchBytesMax

/** The part that has waited longest. */
export const headOf = (parts: ReadonlySet<Part>): Part | undefined => parts.values().next().value

/**
 * Cuts a micro-batch from the queue: as many whole parts as fit, at least one. Teams take turns, so that what one has sent at once does not
 * hold up the others; the parts of each stay in their order.
 */
export function cutBatch(
  queue: PartitionQueue,
  limits: BatchLimits,
): { batch: Writable<MicroBatch>; parts: readonly Part[] } {
  const parts: Part[] = []
  const records: WaitingRecord[] = []
  let count = 0
  let bytes = 0
  for (const [team, ofTeam] of queue.teams) {
    const part = headOf(ofTeam)
    if (part === undefined) break
    const fits = count + part.count <= limits.batchRecordsMax && bytes + part.bytes <= limits.batchBytesMax
    if (!fits && parts.length > 0) continue
    dequeue(part)
    // The Team goes to the end of the line; one that was passed over begins the next micro-batch.
    if (queue.teams.delete(team)) queue.teams.set(team, ofTeam)
    parts.push(part)
    for (const record of part.records) records.push(record)
    part.records = []
    count += part.count
    bytes += part.bytes
  }
  return { batch: { topic: queue.topic, partition: queue.partition, records, count, parts }, parts }
}

/** Opens the next queue that is not sending, or simply the next one if all are. */
export function openNext(topic: TopicQueues): void {
  topic.open = nextFree(topic) ?? following(topic, 1)
}

/** The open queue, after leaving one that is sending, perhaps for long, if another is not. */
export function openQueue(topic: TopicQueues): PartitionQueue {
  if (topic.open.sending) topic.open = nextFree(topic) ?? topic.open
  return topic.open
}

/** The next queue after the open one that is not sending. */
function nextFree(topic: TopicQueues): PartitionQueue | undefined {
  for (let step = 1; step < topic.queues.length; step += 1) {
    const queue = following(topic, step)
    if (!queue.sending) return queue
  }
  return undefined
}

const following = ({ queues, open }: TopicQueues, step: number): PartitionQueue =>
  queues[(open.partition + step) % queues.length] ?? open

import type { NewRecord } from '../../shared/journal/journal.ts'
import type { Deadline } from '../../shared/runtime/deadlines.ts'
import type { MicroBatch, PublishOutcome } from './publication.ts'

/** The limits of a micro-batch. A part beyond `batchBytesMax` by itself goes alone. */
export interface BatchLimits {
  readonly batchRecordsMax: number
  readonly batchBytesMax: number
}

/** Records of one request that wait in one queue and have one outcome. */
export interface Part {
  readonly queue: PartitionQueue
  /** Handed on with the micro-batch: empty from then on, so that a part that is kept a little longer does not keep them too. */
  records: readonly NewRecord[]
  readonly bytes: number
  /** When it was queued, on the clock of `performance.now()`. */
  readonly queuedAt: number
  readonly deadline: Deadline
  /** The first call counts. */
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
  records: number
  bytes: number
  /**
   * Whether a micro-batch is on its way. There is one at a time, so that a retry below cannot be overtaken by later records,
   * and a partition that hangs holds up no other.
   */
  sending: boolean
  /** How many records the last micro-batch had, and when it ended, on the clock of `performance.now()`. */
  recordsSent: number
  endedAt: number
}

/** The queues of one topic. */
export interface TopicQueues {
  /** The queue of each partition, at its number. */
  readonly queues: PartitionQueue[]
  /** Takes the records that may go anywhere: queues fill one after another, which makes fewer and larger micro-batches. */
  open: PartitionQueue
}

export function createTopicQueues(topic: string, partitions: number): TopicQueues {
  if (partitions < 1) throw new RangeError(`the topic ${topic} has no partition`)
  const open = createQueue(topic, 0)
  const created: TopicQueues = { queues: [open], open }
  addQueues(created, partitions)
  return created
}

/** Adds queues up to so many partitions. */
export function addQueues({ queues, open: { topic } }: TopicQueues, partitions: number): void {
  while (queues.length < partitions) queues.push(createQueue(topic, queues.length))
}

const createQueue = (topic: string, partition: number): PartitionQueue => {
  return { topic, partition, parts: new Set(), records: 0, bytes: 0, sending: false, recordsSent: 0, endedAt: 0 }
}

export function enqueue(part: Part): void {
  const { queue } = part
  queue.parts.add(part)
  queue.records += part.records.length
  queue.bytes += part.bytes
}

/** Takes a part out of its queue; false where it is not there any more. */
export function dequeue(part: Part): boolean {
  const { queue } = part
  if (!queue.parts.delete(part)) return false
  queue.records -= part.records.length
  queue.bytes -= part.bytes
  return true
}

export const isFull = (queue: PartitionQueue, limits: BatchLimits): boolean =>
  queue.records >= limits.batchRecordsMax || queue.bytes >= limits.batchBytesMax

/** The part that has waited longest. */
export function headOf(queue: PartitionQueue): Part | undefined {
  for (const part of queue.parts) return part
  return undefined
}

/** Cuts a micro-batch from the head of the queue: as many parts as fit, at least one, and none in pieces. */
export function cutBatch(
  queue: PartitionQueue,
  limits: BatchLimits,
): { batch: Writable<MicroBatch>; parts: readonly Part[] } {
  const parts: Part[] = []
  const records: NewRecord[] = []
  let bytes = 0
  for (const part of queue.parts) {
    const fits =
      records.length + part.records.length <= limits.batchRecordsMax && bytes + part.bytes <= limits.batchBytesMax
    if (!fits && parts.length > 0) break
    dequeue(part)
    parts.push(part)
    for (const record of part.records) records.push(record)
    part.records = []
    bytes += part.bytes
  }
  return { batch: { topic: queue.topic, partition: queue.partition, records, count: records.length, bytes }, parts }
}

/** Opens the next queue that is not sending, or just the next one where all are. */
export function openNext(topic: TopicQueues): void {
  const { queues, open } = topic
  const following = (step: number): PartitionQueue => queues[(open.partition + step) % queues.length] ?? open
  let step = 1
  while (step < queues.length && following(step).sending) step += 1
  topic.open = step < queues.length ? following(step) : following(1)
}

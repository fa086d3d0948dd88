import type { NewRecord } from '../../shared/journal/journal.ts'
import type { Deadline } from '../../shared/runtime/deadlines.ts'
import type { MicroBatch, PublishOutcome } from './publication.ts'

/** What a micro-batch may hold. A part beyond `batchBytesMax` by itself goes alone. */
export interface BatchLimits {
  readonly batchRecordsMax: number
  readonly batchBytesMax: number
}

/** Records of one request that wait in one lane and have one outcome. */
export interface Part {
  readonly lane: Lane
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
export interface Lane {
  readonly topic: string
  readonly partition: number
  /** In the order of arrival. */
  readonly queue: Set<Part>
  records: number
  bytes: number
  /**
   * Whether a micro-batch is on its way. There is one at a time, so that a retry below cannot be overtaken by what came after,
   * and a partition that hangs holds up no other.
   */
  sending: boolean
  /** How many records the last micro-batch had, and when it ended, on the clock of `performance.now()`. */
  recordsSent: number
  endedAt: number
}

/** The lanes of one topic. */
export interface TopicLanes {
  /** The lane of each partition, at its number. */
  readonly lanes: Lane[]
  /** Takes the records that may go anywhere: lanes fill one after another, which makes fewer and larger micro-batches. */
  open: Lane
}

export function createTopicLanes(topic: string, partitions: number): TopicLanes {
  if (partitions < 1) throw new RangeError(`the topic ${topic} has no partition`)
  const open = createLane(topic, 0)
  const created: TopicLanes = { lanes: [open], open }
  addLanes(created, partitions)
  return created
}

/** Adds what is missing up to so many partitions. */
export function addLanes({ lanes, open: { topic } }: TopicLanes, partitions: number): void {
  while (lanes.length < partitions) lanes.push(createLane(topic, lanes.length))
}

const createLane = (topic: string, partition: number): Lane => {
  return { topic, partition, queue: new Set(), records: 0, bytes: 0, sending: false, recordsSent: 0, endedAt: 0 }
}

export function enqueue(part: Part): void {
  const { lane } = part
  lane.queue.add(part)
  lane.records += part.records.length
  lane.bytes += part.bytes
}

/** Takes a part out of its queue; false where it is not there any more. */
export function dequeue(part: Part): boolean {
  const { lane } = part
  if (!lane.queue.delete(part)) return false
  lane.records -= part.records.length
  lane.bytes -= part.bytes
  return true
}

export const isFull = (lane: Lane, limits: BatchLimits): boolean =>
  lane.records >= limits.batchRecordsMax || lane.bytes >= limits.batchBytesMax

/** The part that has waited longest. */
export function headOf(lane: Lane): Part | undefined {
  for (const part of lane.queue) return part
  return undefined
}

/** Takes from the head of the queue what fits into one micro-batch: at least one part, and none in pieces. */
export function cutBatch(lane: Lane, limits: BatchLimits): { batch: Writable<MicroBatch>; parts: readonly Part[] } {
  const parts: Part[] = []
  const records: NewRecord[] = []
  let bytes = 0
  for (const part of lane.queue) {
    const fits =
      records.length + part.records.length <= limits.batchRecordsMax && bytes + part.bytes <= limits.batchBytesMax
    if (!fits && parts.length > 0) break
    dequeue(part)
    parts.push(part)
    for (const record of part.records) records.push(record)
    part.records = []
    bytes += part.bytes
  }
  return { batch: { topic: lane.topic, partition: lane.partition, records, count: records.length, bytes }, parts }
}

/** Opens the next lane that is not sending, or just the next one where all are. */
export function openNext(topic: TopicLanes): void {
  const { lanes, open } = topic
  const following = (step: number): Lane => lanes[(open.partition + step) % lanes.length] ?? open
  let step = 1
  while (step < lanes.length && following(step).sending) step += 1
  topic.open = step < lanes.length ? following(step) : following(1)
}

import type { WaitingRecord } from '../../shared/journal/journal.ts'
import type { ByteShare } from '../../shared/runtime/byte-budget.ts'
import { createDeadlines } from '../../shared/runtime/deadlines.ts'
import {
  createTopicQueues,
  cutBatch,
  dequeue,
  enqueue,
  openNext,
  openQueue,
  type Part,
  type PartitionQueue,
  resizeQueues,
  type TopicQueues,
} from './partition-queues.ts'
import type { BatchPart, MicroBatch, PublishOutcome } from './publication.ts'
import { createSchedule, type ScheduleOptions } from './schedule.ts'

interface BatcherDeps {
  readonly options: ScheduleOptions
  /** The partitions of each topic at the start. */
  readonly topics: ReadonlyMap<string, number>
  /** Never rejects: its outcome is that of the records. */
  readonly send: (batch: MicroBatch) => Promise<PublishOutcome>
}

/** Records for one partition, or for any if `partition` is null. */
export interface Slice extends Omit<BatchPart, 'share'> {
  readonly topic: string
  readonly partition: number | null
  readonly records: readonly WaitingRecord[]
  readonly count: number
}

export interface Batcher {
  /**
   * Resolves by the deadline (on the clock of `performance.now()`). Deadlines must not decrease between calls. `share` counts the bytes that
   * wait here; those of a micro-batch are counted by the sender.
   */
  push(slice: Slice, share: ByteShare, deadline: number): Promise<PublishOutcome>
  /** Sets a topic's new number of partitions; waiting records stay in their queues. */
  resize(topic: string, partitions: number): void
  /** Sends all waiting records without gathering; resolves when each has its outcome, at the deadline at the latest. */
  drain(deadline: number): Promise<void>
}

/**
 * The adaptive micro-batcher. Under light load it sends records as they come; while sends are in flight it gathers, so that micro-batches
 * grow with the load and with the journal's latency. A slice whose deadline passes is `expired` if it still waits, and `unsettled` if it
 * was sent.
 */
export function createBatcher({ options, topics, send }: BatcherDeps): Batcher {
  const queues = new Map<string, TopicQueues>()
  for (const [topic, partitions] of topics) queues.set(topic, createTopicQueues(topic, partitions))
  const deadlines = createDeadlines()
  const schedule = createSchedule(options, begin)
  let onIdle = (): void => undefined

  function queueFor({ topic, partition }: Slice): PartitionQueue {
    const found = queues.get(topic)
    const queue = partition === null ? found && openQueue(found) : found?.queues[partition]
    if (queue === undefined) throw new RangeError(`the publisher knows no partition ${partition} of ${topic}`)
    return queue
  }

  function begin(queue: PartitionQueue): void {
    const { batch, parts } = cutBatch(queue, options)
    const topic = queues.get(queue.topic)
    if (topic?.open === queue) openNext(topic)
    // `send` counts these bytes before anything else can run.
    for (const { share, bytes } of parts) share.give(bytes)
    const sending = send(batch)
    // From here on only the journal keeps the records: objects that die young cost the garbage collector little.
    batch.records = []
    void sending.then((outcome) => {
      for (const part of parts) {
        deadlines.cancel(part.deadline)
        part.settle(outcome)
      }
      schedule.ended(queue)
      if (schedule.isIdle()) onIdle()
    })
  }

  function expire(part: Part): void {
    if (!dequeue(part)) {
      part.settle('unsettled')
      return
    }
    if (part.queue.parts.size === 0) schedule.forget(part.queue)
    part.share.give(part.bytes)
    part.settle('expired')
    if (schedule.isIdle()) onIdle()
  }

  return {
    push: (slice, share, deadline) => {
      const queue = queueFor(slice)
      const { records, count, bytes, traceparent } = slice
      const now = performance.now()
      const { promise, resolve: settle } = Promise.withResolvers<PublishOutcome>()
      const part: Part = {
        queue,
        records,
        count,
        share,
        bytes,
        traceparent,
        queuedAt: now,
        deadline: deadlines.add(deadline, () => expire(part)),
        settle,
      }
      share.take(bytes)
      enqueue(part)
      schedule.waits(queue, now)
      return promise
    },
    resize: (topic, partitions) => {
      const found = queues.get(topic)
      if (found !== undefined) resizeQueues(found, partitions)
    },
    drain: async (deadline) => {
      const idle = Promise.withResolvers<void>()
      onIdle = idle.resolve
      schedule.hurry()
      if (schedule.isIdle()) idle.resolve()
      const timer = setTimeout(idle.resolve, Math.max(0, deadline - performance.now()))
      await idle.promise
      clearTimeout(timer)
      schedule.close()
      deadlines.close()
    },
  }
}

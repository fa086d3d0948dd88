import type { NewRecord } from '../../shared/journal/journal.ts'
import type { ByteBudget } from '../../shared/runtime/byte-budget.ts'
import { createDeadlines } from '../../shared/runtime/deadlines.ts'
import {
  addLanes,
  createTopicLanes,
  cutBatch,
  dequeue,
  enqueue,
  type Lane,
  openNext,
  type Part,
  type TopicLanes,
} from './partition-queues.ts'
import type { MicroBatch, PublishOutcome } from './publication.ts'
import { createSchedule, type ScheduleOptions } from './schedule.ts'

export type BatcherOptions = ScheduleOptions

export interface BatcherDeps {
  readonly options: BatcherOptions
  /** The partitions of each topic at the start. */
  readonly topics: ReadonlyMap<string, number>
  /** Counts the bytes that wait here; those of a micro-batch are counted by whoever sends it. */
  readonly budget: ByteBudget
  /** Never rejects: how it ends is what became of the records. */
  readonly send: (batch: MicroBatch) => Promise<PublishOutcome>
}

/** Records for one partition, or for any where it is null. */
export interface Slice {
  readonly topic: string
  readonly partition: number | null
  readonly records: readonly NewRecord[]
  readonly bytes: number
}

export interface Batcher {
  /** Resolves by the deadline (on the clock of `performance.now()`). Deadlines must not go back between calls. */
  push(slice: Slice, deadline: number): Promise<PublishOutcome>
  /** The topic has so many partitions now; what waits stays in the lane that it was put into. */
  grow(topic: string, partitions: number): void
  /** Sends what waits without gathering; resolves when everything has its outcome, at the deadline at the latest. */
  drain(deadline: number): Promise<void>
}

/**
 * The adaptive micro-batcher. With little to do it sends what comes at once; while sends are in flight it gathers, so that
 * micro-batches grow with the load and with the journal's latency. A slice whose deadline passes is `expired` where it still
 * waits, and `unsettled` where it was sent.
 */
export function createBatcher({ options, topics, budget, send }: BatcherDeps): Batcher {
  const lanes = new Map<string, TopicLanes>()
  for (const [topic, partitions] of topics) lanes.set(topic, createTopicLanes(topic, partitions))
  const deadlines = createDeadlines()
  const schedule = createSchedule(options, begin)
  let onIdle = (): void => undefined

  function laneFor({ topic, partition }: Slice): Lane {
    const found = lanes.get(topic)
    const lane = partition === null ? found?.open : found?.lanes[partition]
    if (lane === undefined) throw new RangeError(`the publisher knows no partition ${partition} of ${topic}`)
    return lane
  }

  function begin(lane: Lane): void {
    const { batch, parts } = cutBatch(lane, options)
    const topic = lanes.get(lane.topic)
    if (topic?.open === lane) openNext(topic)
    // The next step counts these bytes before anything else can run.
    budget.give(batch.bytes)
    const sending = send(batch)
    // For as long as the journal takes, only it keeps them: what is collected early costs little.
    batch.records = []
    void sending.then((outcome) => {
      for (const part of parts) {
        deadlines.cancel(part.deadline)
        part.settle(outcome)
      }
      schedule.ended(lane)
      if (schedule.isIdle()) onIdle()
    })
  }

  function expire(part: Part): void {
    if (!dequeue(part)) {
      part.settle('unsettled')
      return
    }
    if (part.lane.queue.size === 0) schedule.forget(part.lane)
    budget.give(part.bytes)
    part.settle('expired')
    if (schedule.isIdle()) onIdle()
  }

  return {
    push: (slice, deadline) => {
      const lane = laneFor(slice)
      const { records, bytes } = slice
      const now = performance.now()
      const { promise, resolve: settle } = Promise.withResolvers<PublishOutcome>()
      const part: Part = {
        lane,
        records,
        bytes,
        queuedAt: now,
        deadline: deadlines.add(deadline, () => expire(part)),
        settle,
      }
      budget.take(bytes)
      enqueue(part)
      schedule.waits(lane, now)
      return promise
    },
    grow: (topic, partitions) => {
      const found = lanes.get(topic)
      if (found !== undefined) addLanes(found, partitions)
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

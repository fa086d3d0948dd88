import { type BatchLimits, headOf, isFull, type PartitionQueue } from './partition-queues.ts'

/** When sends may follow each other; this depends on the journal. */
export interface BatchingPolicy {
  /** While fewer sends than this are in flight, records are sent in the event loop turn in which they arrive; otherwise they gather. */
  readonly eagerSends: number
  /**
   * Milliseconds that a queue waits after a send for the senders that were just answered: they tend to send again at once, and would
   * narrowly miss the next micro-batch. It goes on sooner with as many records as it had sent, and at once if those were few. Zero disables
   * the wait.
   */
  readonly regatherMs: number
}

export interface ScheduleOptions extends BatchLimits, BatchingPolicy {
  /** Maximum milliseconds for which records gather, unless `sendsInFlightMax` holds them back. */
  readonly lingerMs: number
  /** Maximum sends in flight. */
  readonly sendsInFlightMax: number
}

/** Decides when a queue sends. */
interface Schedule {
  /** Records were put into the queue; `now` is `performance.now()`. */
  waits(queue: PartitionQueue, now: number): void
  /** The queue was emptied without a send. */
  forget(queue: PartitionQueue): void
  /** The queue's send has ended. */
  ended(queue: PartitionQueue): void
  /** Sends without gathering from now on. */
  hurry(): void
  /** Whether nothing waits and nothing is in flight. */
  isIdle(): boolean
  /** Ends its timers. */
  close(): void
}

/** Below this many records in a send, waiting for as many again would cost more time than it saves work. */
const REGATHER_RECORDS_MIN = 8

/** `begin` sends as many records of the queue as fit, and calls `ended` when the send has ended. */
export function createSchedule(options: ScheduleOptions, begin: (queue: PartitionQueue) => void): Schedule {
  /** Queues that hold records. */
  const waiting = new Set<PartitionQueue>()
  let inFlight = 0
  let hurried = false
  let timer: NodeJS.Timeout | undefined
  let looking: NodeJS.Immediate | undefined

  const dueAt = (queue: PartitionQueue): number =>
    (headOf(queue.parts)?.queuedAt ?? Number.POSITIVE_INFINITY) + options.lingerMs

  const regatheredAt = (queue: PartitionQueue): number =>
    queue.endedAt + (queue.recordsSent < REGATHER_RECORDS_MIN ? 0 : options.regatherMs)

  function isDue(queue: PartitionQueue, now: number): boolean {
    if (queue.sending || inFlight >= options.sendsInFlightMax) return false
    if (hurried || isFull(queue, options) || now >= dueAt(queue)) return true
    return inFlight < options.eagerSends && (queue.records >= queue.recordsSent || now >= regatheredAt(queue))
  }

  function send(queue: PartitionQueue): void {
    queue.sending = true
    inFlight += 1
    const { records } = queue
    begin(queue)
    queue.recordsSent = records - queue.records
    // The rest waits behind the other queues.
    waiting.delete(queue)
    if (queue.parts.size > 0) waiting.add(queue)
  }

  /** Deferred until this turn of the event loop has read all available input, so that requests that arrive together are sent together. */
  function lookSoon(): void {
    looking ??= setImmediate(sendWhatIsDue)
  }

  function sendWhatIsDue(): void {
    clearImmediate(looking)
    looking = undefined
    const now = performance.now()
    for (const queue of waiting) if (isDue(queue, now)) send(queue)
    clearTimeout(timer)
    timer = undefined
    linger(now)
  }

  /** Sets the timer for the first queue that will have gathered long enough. */
  function linger(now: number): void {
    if (inFlight >= options.sendsInFlightMax) return
    let next = Number.POSITIVE_INFINITY
    const isEager = inFlight < options.eagerSends
    for (const queue of waiting) {
      if (!queue.sending) next = Math.min(next, dueAt(queue), isEager ? regatheredAt(queue) : next)
    }
    if (next < Number.POSITIVE_INFINITY) timer = setTimeout(sendWhatIsDue, next - now)
  }

  return {
    waits: (queue, now) => {
      waiting.add(queue)
      if (isDue(queue, now)) lookSoon()
      // A pending `sendWhatIsDue` sets the timer itself, after sending the records that are due.
      else if (timer === undefined && looking === undefined) linger(now)
    },
    forget: (queue) => {
      waiting.delete(queue)
    },
    ended: (queue) => {
      queue.sending = false
      queue.endedAt = performance.now()
      inFlight -= 1
      if (waiting.size > 0) lookSoon()
    },
    hurry: () => {
      hurried = true
      sendWhatIsDue()
    },
    isIdle: () => inFlight === 0 && waiting.size === 0,
    close: () => {
      clearTimeout(timer)
      clearImmediate(looking)
    },
  }
}

import { type BatchLimits, headOf, isFull, type PartitionQueue } from './partition-queues.ts'

/** How sends follow each other; the journals differ in this. */
export interface BatchingPolicy {
  /** While fewer sends than this are in flight, records are sent in the turn of the event loop in which they come; else they gather. */
  readonly eagerSends: number
  /**
   * How long a queue whose send has ended waits for the senders that were answered: they tend to send again at once, and would just
   * miss the next micro-batch. It goes on sooner with as many records as it had sent, and at once after a few. Zero for no such
   * wait.
   */
  readonly regatherMs: number
}

export interface ScheduleOptions extends BatchLimits, BatchingPolicy {
  /** Milliseconds for which records gather at most, unless `sendsInFlightMax` holds them. */
  readonly lingerMs: number
  /** Most sends in flight, whatever waits. */
  readonly sendsInFlightMax: number
}

/** Decides when a queue sends. */
export interface Schedule {
  /** Records were put into the queue; `now` is `performance.now()`. */
  waits(queue: PartitionQueue, now: number): void
  /** The queue was emptied without a send. */
  forget(queue: PartitionQueue): void
  /** The queue's send has ended. */
  ended(queue: PartitionQueue): void
  /** From now on nothing gathers. */
  hurry(): void
  /** Whether nothing waits and nothing is in flight. */
  isIdle(): boolean
  /** Ends its timers. */
  close(): void
}

/** Below this many records in a send, waiting for as many again would cost more time than it saves work. */
const REGATHER_RECORDS_MIN = 8

/** `begin` sends as many records of the queue as fit, and has `ended` called later. */
export function createSchedule(options: ScheduleOptions, begin: (queue: PartitionQueue) => void): Schedule {
  /** Queues that hold records. */
  const waiting = new Set<PartitionQueue>()
  let inFlight = 0
  let hurried = false
  let timer: NodeJS.Timeout | undefined
  let looking: NodeJS.Immediate | undefined

  const dueAt = (queue: PartitionQueue): number =>
    (headOf(queue)?.queuedAt ?? Number.POSITIVE_INFINITY) + options.lingerMs

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

  /** Not at once but when this turn of the event loop has read what lies ready: requests that came together travel together. */
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

  /** Looks again when the first of the queues that may send has gathered long enough. */
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
      // A look that is about to come sets the timer itself, once it has sent the records that are due.
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

import { type BatchLimits, headOf, isFull, type Lane } from './partition-queues.ts'

/** How sends follow each other, which depends on what the journal is. */
export interface Pace {
  /** While fewer sends than this are in flight, what comes is sent in the same turn of the event loop; beyond, it gathers. */
  readonly eagerSends: number
  /**
   * How long a lane whose send has ended waits for the senders that were answered: they tend to send again at once, and would just
   * miss the next micro-batch. It goes on sooner with as many records as it had sent, and at once after a few. Zero for no such
   * wait.
   */
  readonly regatherMs: number
}

export interface ScheduleOptions extends BatchLimits, Pace {
  /** The longest time for which records gather, unless `sendsInFlightMax` holds them. */
  readonly lingerMs: number
  /** Most sends in flight, whatever waits. */
  readonly sendsInFlightMax: number
}

/** Decides when a lane sends. */
export interface Schedule {
  /** Something was put into the lane's queue; `now` is `performance.now()`. */
  waits(lane: Lane, now: number): void
  /** Everything was taken out of the lane's queue, and not to be sent. */
  forget(lane: Lane): void
  /** The lane's send has ended. */
  ended(lane: Lane): void
  /** From now on nothing gathers. */
  hurry(): void
  /** Whether nothing waits and nothing is in flight. */
  isIdle(): boolean
  /** Ends its timers. */
  close(): void
}

/** Below this many records in a send, waiting for as many again would cost more time than it saves work. */
const REGATHER_RECORDS_MIN = 8

/** `begin` sends what the lane has, as much as fits, and has `ended` called later. */
export function createSchedule(options: ScheduleOptions, begin: (lane: Lane) => void): Schedule {
  /** Lanes with something in their queue. */
  const waiting = new Set<Lane>()
  let inFlight = 0
  let hurried = false
  let timer: NodeJS.Timeout | undefined
  let looking: NodeJS.Immediate | undefined

  const dueAt = (lane: Lane): number => (headOf(lane)?.queuedAt ?? Number.POSITIVE_INFINITY) + options.lingerMs

  const regatheredAt = (lane: Lane): number =>
    lane.endedAt + (lane.recordsSent < REGATHER_RECORDS_MIN ? 0 : options.regatherMs)

  function isDue(lane: Lane, now: number): boolean {
    if (lane.sending || inFlight >= options.sendsInFlightMax) return false
    if (hurried || isFull(lane, options) || now >= dueAt(lane)) return true
    return inFlight < options.eagerSends && (lane.records >= lane.recordsSent || now >= regatheredAt(lane))
  }

  function send(lane: Lane): void {
    lane.sending = true
    inFlight += 1
    const { records } = lane
    begin(lane)
    lane.recordsSent = records - lane.records
    // What is left waits behind the other lanes.
    waiting.delete(lane)
    if (lane.queue.size > 0) waiting.add(lane)
  }

  /** Not at once but when this turn of the event loop has read what lies ready: requests that came together travel together. */
  function lookSoon(): void {
    looking ??= setImmediate(sendWhatIsDue)
  }

  function sendWhatIsDue(): void {
    clearImmediate(looking)
    looking = undefined
    const now = performance.now()
    for (const lane of waiting) if (isDue(lane, now)) send(lane)
    clearTimeout(timer)
    timer = undefined
    linger(now)
  }

  /** Looks again when the first of the lanes that may send has gathered long enough. */
  function linger(now: number): void {
    if (inFlight >= options.sendsInFlightMax) return
    let next = Number.POSITIVE_INFINITY
    const isEager = inFlight < options.eagerSends
    for (const lane of waiting) {
      if (!lane.sending) next = Math.min(next, dueAt(lane), isEager ? regatheredAt(lane) : next)
    }
    if (next < Number.POSITIVE_INFINITY) timer = setTimeout(sendWhatIsDue, next - now)
  }

  return {
    waits: (lane, now) => {
      waiting.add(lane)
      if (isDue(lane, now)) lookSoon()
      // A look that is about to come sets the timer itself, once it has sent what has waited too long.
      else if (timer === undefined && looking === undefined) linger(now)
    },
    forget: (lane) => {
      waiting.delete(lane)
    },
    ended: (lane) => {
      lane.sending = false
      lane.endedAt = performance.now()
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

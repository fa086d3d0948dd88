import type { Clock } from '../runtime/clock.ts'
import type { Service } from '../runtime/lifecycle.ts'
import type { Logger } from '../runtime/logger.ts'
import { byDeadline, pause } from '../runtime/waiting.ts'
import type { Follower, Journal, JournalRecord } from './journal.ts'

export interface TopicFollowerDeps<State> {
  /** The name of the service, and of the records in log messages. */
  readonly name: string
  readonly journal: Pick<Journal, 'follow'>
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
  /** Time from a failure to the next attempt, in milliseconds. */
  readonly retryMs?: number
  /** The state before the first record. */
  readonly begin: () => State
  readonly fold: (state: State, records: readonly JournalRecord[]) => void
}

/** The records of a topic, folded in memory. */
export interface TopicFollower<State> extends Service {
  state(): State
  /** Whether the topic was read up to the records that were in it at the start. */
  caughtUp(): boolean
}

const RETRY_MS = 10_000

/**
 * Follows a topic that nothing else depends on: a process starts without waiting for it. If the topic cannot be read, it retries until it
 * is stopped.
 */
export function createTopicFollower<State>(deps: TopicFollowerDeps<State>): TopicFollower<State> {
  const { name, journal, topic, clock, logger, retryMs = RETRY_MS, begin, fold } = deps
  const stopping = new AbortController()
  let state = begin()
  let caughtUp = false
  let follower: Follower | undefined

  async function follow(): Promise<void> {
    for (let hasWarned = false; !stopping.signal.aborted; hasWarned = true) {
      // A failed attempt leaves nothing behind: everything is read again.
      const fresh = begin()
      state = fresh
      try {
        follower = await journal.follow(topic, (records) => fold(fresh, records))
        caughtUp = true
        if (stopping.signal.aborted) await follower.close()
        return
      } catch (err) {
        if (!hasWarned && !stopping.signal.aborted)
          logger.warn({ err, topic }, `the ${name} cannot be read; trying again`)
        await pause(retryMs, stopping.signal)
      }
    }
  }

  return {
    name,
    state: () => state,
    caughtUp: () => caughtUp,
    start: async () => {
      void follow()
    },
    stop: async (deadline) => {
      stopping.abort()
      // A reading that has not caught up may not do so for long; it is closed then, or ends with the journal.
      await byDeadline(Promise.resolve(follower?.close()), deadline, clock)
    },
  }
}

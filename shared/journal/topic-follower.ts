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
  /** Whether the process cannot work without the topic: `start` then waits for the first reading, and rejects if it fails. */
  readonly isRequired?: boolean
  /** Time from a failure to the next attempt, in milliseconds. */
  readonly retryMs?: number
  /** The state before the first record. */
  readonly begin: () => State
  readonly fold: (state: State, records: readonly JournalRecord[]) => void
  /** Called after each change of the state, when it may also be another object. */
  readonly onChange?: (state: State) => void
}

/** The records of a topic, folded in memory. */
interface TopicFollower<State> extends Service {
  /** The state before the first record until the topic is read to its end. */
  state(): State
  /** Whether the topic was read up to the records that were in it at the start. */
  caughtUp(): boolean
}

const RETRY_MS = 10_000

/**
 * Follows a topic. If it cannot be read, it retries until it is stopped. If what was read is outdated, the topic is read again, and the new
 * state takes the place of the old one when it is complete.
 */
export function createTopicFollower<State>(deps: TopicFollowerDeps<State>): TopicFollower<State> {
  const { name, journal, topic, clock, logger, isRequired = false, retryMs = RETRY_MS, begin, fold } = deps
  const { onChange = () => undefined } = deps
  const stopping = new AbortController()
  let state = begin()
  let caughtUp = false
  let follower: Follower | undefined

  async function read(): Promise<void> {
    const fresh = begin()
    const opened = await journal.follow(topic, (records) => {
      fold(fresh, records)
      if (state === fresh) onChange(fresh)
    })
    follower = opened
    if (stopping.signal.aborted) return await opened.close()
    state = fresh
    caughtUp = true
    onChange(fresh)
    void opened.outdated.then(() => opened.close()).then(readPatiently)
  }

  async function readPatiently(): Promise<void> {
    for (let hasWarned = false; !stopping.signal.aborted; hasWarned = true) {
      try {
        return await read()
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
      if (isRequired) await read()
      else void readPatiently()
    },
    stop: async (deadline) => {
      stopping.abort()
      // A reading that has not caught up may not do so for long; it is closed then, or ends with the journal.
      await byDeadline(Promise.resolve(follower?.close()), deadline, clock)
    },
  }
}

import type { Follower, Journal } from '../../shared/journal/journal.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import { byDeadline, pause } from '../../shared/runtime/waiting.ts'
import { createRefusalRing, type RefusalsReader } from './ring.ts'

export interface RefusalsFollowerDeps {
  readonly journal: Pick<Journal, 'follow'>
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
  /** Time from a failure to the next attempt. */
  readonly retryMs?: number
}

export type RefusalsFollower = Service & RefusalsReader

/**
 * Keeps the last refusals of every Team in memory. Nothing else depends on them, so a process starts without waiting for it and is
 * ready without it; where the topic cannot be read, it tries again until it is stopped.
 */
export function createRefusalsFollower(deps: RefusalsFollowerDeps): RefusalsFollower {
  const { journal, topic, clock, logger, retryMs = 10_000 } = deps
  const stopping = new AbortController()
  let ring = createRefusalRing(clock.now)
  let caughtUp = false
  let following: Promise<Follower | undefined> | undefined

  async function follow(): Promise<Follower | undefined> {
    for (let hasWarned = false; !stopping.signal.aborted; hasWarned = true) {
      // A failed attempt leaves nothing behind: all is read again.
      const fresh = createRefusalRing(clock.now)
      ring = fresh
      try {
        const follower = await journal.follow(topic, fresh.fold)
        caughtUp = true
        return follower
      } catch (err) {
        if (!hasWarned && !stopping.signal.aborted)
          logger.warn({ err, topic }, 'the refusals cannot be read; trying again')
        await pause(retryMs, stopping.signal)
      }
    }
    return undefined
  }

  const close = async (): Promise<void> => (await following)?.close()

  return {
    name: 'refusals',
    of: (team) => (caughtUp ? ring.of(team) : undefined),
    start: async () => {
      following = follow()
    },
    stop: async (deadline) => {
      stopping.abort()
      await byDeadline(close(), deadline, clock)
    },
  }
}

import type { Clock } from '../../shared/clock.ts'
import type { Follower, Journal } from '../../shared/journal/journal.ts'
import type { Service } from '../../shared/lifecycle.ts'
import type { Logger } from '../../shared/logger.ts'
import { unavailable } from '../api/problems.ts'
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
  const stopping = Promise.withResolvers<void>()
  let ring = createRefusalRing(clock.now)
  let caughtUp = false
  let isStopped = false
  let following: Promise<Follower | undefined> | undefined

  async function follow(): Promise<Follower | undefined> {
    for (let hasWarned = false; !isStopped; hasWarned = true) {
      // What a failed attempt has read is read again.
      const fresh = createRefusalRing(clock.now)
      ring = fresh
      try {
        const follower = await journal.follow(topic, fresh.fold)
        caughtUp = true
        return follower
      } catch (err) {
        if (!hasWarned && !isStopped) logger.warn({ err, topic }, 'the refusals cannot be read; trying again')
        await pause()
      }
    }
    return undefined
  }

  async function pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, retryMs)
    await Promise.race([promise, stopping.promise])
    clearTimeout(timer)
  }

  return {
    name: 'refusals',
    of: (team) => {
      if (!caughtUp) throw unavailable('The refusals are still being read.')
      return ring.of(team)
    },
    start: async () => {
      following = follow()
    },
    stop: async (deadline) => {
      isStopped = true
      stopping.resolve()
      const expired = Promise.withResolvers<void>()
      const timer = setTimeout(expired.resolve, Math.max(0, deadline - clock.now()))
      await Promise.race([following?.then((follower) => follower?.close()), expired.promise])
      clearTimeout(timer)
    },
  }
}

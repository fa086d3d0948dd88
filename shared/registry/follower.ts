import type { Follower, Journal } from '../journal/journal.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Health, Service } from '../runtime/lifecycle.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { byDeadline } from '../runtime/waiting.ts'
import type { Unreadable } from './records.ts'
import type { Registry } from './registry.ts'
import { createRegistryFold } from './registry-fold.ts'

export interface RegistryFollower extends Service {
  /** Empty until the follower is ready. */
  readonly registry: Registry
  /** Whether all records that were in the topic at the start are folded: before that, a valid key may look unknown. */
  ready(): boolean
  health(): Health
}

export interface RegistryFollowerDeps {
  readonly journal: Pick<Journal, 'follow'>
  readonly topic: string
  readonly logger: Logger
  readonly metrics: Metrics
  readonly clock: Clock
}

/**
 * Keeps a process's registry in step with the topic. `start` resolves when it has caught up, and rejects when the journal cannot be read;
 * after that, changes appear as the journal delivers them.
 */
export function createRegistryFollower({
  journal,
  topic,
  logger,
  metrics,
  clock,
}: RegistryFollowerDeps): RegistryFollower {
  const warned = new Set<Unreadable>()
  const fold = createRegistryFold((reason, offset) => {
    if (warned.has(reason)) return
    warned.add(reason)
    logger.warn({ topic, offset, reason }, 'registry record cannot be read; others like it are not reported')
  })
  const gauge = metrics.gauge('sluice_registry_ready')
  const held = metrics.gauge('sluice_registry_records')
  const appliedAt = metrics.gauge('sluice_registry_applied_timestamp_seconds')
  let following: Promise<Follower> | undefined
  let stopped = false
  let ready = false
  const setReady = (value: boolean): void => {
    ready = value
    gauge.set(value ? 1 : 0)
  }
  setReady(false)

  return {
    name: 'registry',
    registry: fold.registry,
    ready: () => ready,
    health: () =>
      ready ? { name: 'registry', ready } : { name: 'registry', ready, reason: 'the registry is being read' },
    start: async () => {
      following = journal.follow(topic, (records) => {
        fold.fold(records)
        held.set(fold.size())
        appliedAt.set((records.at(-1)?.appendedAt ?? 0) / 1_000)
      })
      await following
      if (stopped) return
      setReady(true)
      logger.info({ topic, teams: fold.registry.teams().length }, 'registry read')
    },
    stop: async (deadline) => {
      stopped = true
      setReady(false)
      // If `start` failed, it has reported that, and there is nothing to close.
      const closing = following?.then((follower) => follower.close()).catch(() => undefined)
      await byDeadline(Promise.resolve(closing), deadline, clock)
    },
  }
}

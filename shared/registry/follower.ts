import { createTopicFollower, type TopicFollowerDeps } from '../journal/topic-follower.ts'
import type { Health, Service } from '../runtime/lifecycle.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { KnownRegistry } from './journal-access.ts'
import { emptyState, sizeOf, type Unreadable } from './records.ts'
import type { Registry } from './registry.ts'
import { createRegistry, createRegistryFold } from './registry-fold.ts'

export interface RegistryFollower extends Service {
  /** Empty until the follower is ready. */
  readonly registry: Registry
  /** The state that it has read so far. */
  readonly known: () => KnownRegistry
  /** Whether all records that were in the topic at the start are folded: before that, a valid key may look unknown. */
  ready(): boolean
  health(): Health
}

interface RegistryFollowerDeps extends Pick<TopicFollowerDeps<unknown>, 'journal' | 'topic' | 'logger' | 'clock'> {
  readonly metrics: Metrics
}

/**
 * Keeps a process's registry in step with the topic. `start` resolves when it has caught up, and rejects when the journal cannot be read;
 * after that, changes appear as the journal delivers them.
 */
export function createRegistryFollower(deps: RegistryFollowerDeps): RegistryFollower {
  const { topic, logger, metrics } = deps
  const warned = new Set<Unreadable>()
  const onUnreadable = (reason: Unreadable, offset: number): void => {
    if (warned.has(reason)) return
    warned.add(reason)
    logger.warn({ topic, offset, reason }, 'registry record cannot be read; others like it are not reported')
  }
  const gauge = metrics.gauge('sluice_registry_ready')
  const held = metrics.gauge('sluice_registry_records')
  const appliedTime = metrics.gauge('sluice_registry_applied_timestamp_seconds')
  const follower = createTopicFollower({
    ...deps,
    name: 'registry',
    isRequired: true,
    begin: () => Object.assign(createRegistryFold(emptyState(), onUnreadable), { end: 0, appliedAt: 0 }),
    fold: (present, records) => {
      present.fold(records)
      for (const { offset, appendedAt } of records.slice(-1))
        Object.assign(present, { end: offset + 1, appliedAt: appendedAt })
    },
    onChange: ({ state, appliedAt }) => {
      held.set(sizeOf(state))
      appliedTime.set(appliedAt / 1_000)
    },
  })
  const registry = createRegistry(follower.state)
  let stopped = false
  const ready = (): boolean => follower.caughtUp() && !stopped
  gauge.set(0)

  return {
    name: follower.name,
    registry,
    known: follower.state,
    ready,
    health: () =>
      ready()
        ? { name: 'registry', ready: true }
        : { name: 'registry', ready: false, reason: 'the registry is being read' },
    start: async () => {
      await follower.start()
      if (!ready()) return
      gauge.set(1)
      logger.info({ topic, teams: registry.teams().length }, 'registry read')
    },
    stop: async (deadline) => {
      stopped = true
      gauge.set(0)
      await follower.stop(deadline)
    },
  }
}

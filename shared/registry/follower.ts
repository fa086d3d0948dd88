import type { Journal } from '../journal/journal.ts'
import { createTopicFollower } from '../journal/topic-follower.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Health, Service } from '../runtime/lifecycle.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { emptyState, foldRecords, sizeOf, type Unreadable } from './records.ts'
import type { Registry } from './registry.ts'
import { createRegistryView } from './registry-view.ts'

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
  const appliedAt = metrics.gauge('sluice_registry_applied_timestamp_seconds')
  const view = createRegistryView()
  const follower = createTopicFollower({
    ...deps,
    name: 'registry',
    isRequired: true,
    begin: () => ({ records: emptyState(), appliedAt: 0 }),
    fold: (state, records) => {
      foldRecords(state.records, records, onUnreadable)
      state.appliedAt = records.at(-1)?.appendedAt ?? 0
    },
    onChange: (state) => {
      view.show(state.records)
      held.set(sizeOf(state.records))
      appliedAt.set(state.appliedAt / 1_000)
    },
  })
  let stopped = false
  const ready = (): boolean => follower.caughtUp() && !stopped
  gauge.set(0)

  return {
    name: follower.name,
    registry: view.registry,
    ready,
    health: () =>
      ready()
        ? { name: 'registry', ready: true }
        : { name: 'registry', ready: false, reason: 'the registry is being read' },
    start: async () => {
      await follower.start()
      if (!ready()) return
      gauge.set(1)
      logger.info({ topic, teams: view.registry.teams().length }, 'registry read')
    },
    stop: async (deadline) => {
      stopped = true
      gauge.set(0)
      await follower.stop(deadline)
    },
  }
}

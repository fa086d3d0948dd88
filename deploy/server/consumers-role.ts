import { PROJECTION_NAMES } from '../../consumers/projection.ts'
import { createRetentionJob } from '../../consumers/retention.ts'
import { type Consumer, createConsumer } from '../../consumers/runner.ts'
import type { Journal } from '../../shared/journal/journal.ts'
import type { LogStoreWriter } from '../../shared/log-store/log-store.ts'
import { type Health, type Service, startAll, stopAll } from '../../shared/runtime/lifecycle.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import type { BackendDeps } from './backends.ts'

export interface ConsumersRoleDeps extends BackendDeps {
  readonly journal: Journal
  readonly store: LogStoreWriter
  readonly metrics: Metrics
}

/** One consumer for each of the projections in VIEWS, and the retention job. */
export interface ConsumersRole extends Service {
  health(): readonly Health[]
  /** Rejects when a projection halts, with what halted it; resolves when all were stopped. */
  readonly done: Promise<void>
}

const RETENTION_INTERVAL_MS = 3_600_000

export function createConsumersRole({
  journal,
  store,
  config,
  clock,
  logger,
  metrics,
}: ConsumersRoleDeps): ConsumersRole {
  const options = {
    deadLetterRunMax: config.DEAD_LETTER_RUN_MAX,
    deadLetterRatioMax: config.DEAD_LETTER_PERCENT_MAX / 100,
  }
  const projections = PROJECTION_NAMES.filter((projection) => config.VIEWS.includes(projection))
  const consumers: readonly Consumer[] = projections.map((projection) =>
    createConsumer({ projection, journal, store, clock, logger, metrics, topicPrefix: config.TOPIC_PREFIX, options }),
  )
  const retention = createRetentionJob({
    store,
    clock,
    logger,
    days: config.RETENTION_DAYS,
    intervalMs: RETENTION_INTERVAL_MS,
  })
  const services: readonly Service[] = [retention, ...consumers]
  const done = Promise.all(consumers.map((consumer) => consumer.done)).then(() => {})
  // Whoever waits for `done` learns of a failure; before anyone does it must not end the process.
  done.catch(() => {})
  return {
    name: 'consumers',
    start: () => startAll(services),
    stop: (deadline) => stopAll(services, deadline),
    health: () => consumers.map((consumer) => consumer.health()),
    done,
  }
}

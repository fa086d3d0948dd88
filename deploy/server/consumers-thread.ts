/**
 * The consumers, in a thread of their own: they read the journal, index and fold flows on their own connections, so that the thread that
 * answers HTTP does none of it, whatever the backends, and no record is copied between threads.
 */
import { type Consumer, createConsumer, endOfAll } from '../../consumers/consumer.ts'
import { PROJECTION_NAMES, type ProjectionName } from '../../consumers/projection.ts'
import { lacksLastEntry, rewindProjection } from '../../consumers/restore.ts'
import { createRetentionJob } from '../../consumers/retention.ts'
import { DAY_MS, timestampOf } from '../../shared/contract/timestamp.ts'
import type { Journal } from '../../shared/journal/journal.ts'
import type { LogStoreReader, LogStoreWriter } from '../../shared/log-store/log-store.ts'
import type { BaseServices } from '../../shared/role.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import type { Config } from '../../shared/runtime/config.ts'
import { type Health, type Service, startAll, stopAll, stoppedTogether } from '../../shared/runtime/lifecycle.ts'
import { createLogger, type Logger } from '../../shared/runtime/logger.ts'
import { createMetrics } from '../../shared/runtime/metrics.ts'
import { createRepeater } from '../../shared/runtime/repeat.ts'
import { makeThreadNicer } from '../../shared/runtime/threads/niceness.ts'
import { serveThread } from '../../shared/runtime/threads/serve-thread.ts'
import { openJournal, openLogStore, openTracer } from './backends.ts'

export interface ConsumersCalls {
  health(): readonly Health[]
  /** Whether the log store can be written, which only the store that writes knows. */
  storeHealth(): Promise<Health>
  /** The instruments, in the form that prom-client's aggregation takes. */
  metrics(): Promise<object>
  /** Resolves when all consumers have been stopped; rejects when all of them have halted, with the error of the first in the list. */
  done(): Promise<void>
  stop(deadline: number): Promise<void>
}

/** Indexing can wait, but senders should not: with fewer cores than threads, the other threads go first. */
const NICENESS = 10
/** Longer than the session of a member of a group on Kafka, 45 s by default. */
const REWIND_WITHIN_MS = 60_000
const RETENTION_INTERVAL_MS = 3_600_000
const MAINTENANCE_INTERVAL_MS = 60_000

makeThreadNicer(NICENESS)

await serveThread<ConsumersCalls>(async ({ config }: { config: Config }) => {
  const logger = createLogger(config.LOG_LEVEL, 'consumers')
  const metrics = createMetrics()
  const tracer = await openTracer({ config, clock: systemClock, logger, metrics })
  const deps = { config, clock: systemClock, logger, metrics, tracer }
  const opened: { close(): Promise<void> }[] = []
  const close = async (): Promise<void> => {
    for (const each of opened) await each.close()
  }
  try {
    const { journal, maintain: maintainJournal } = await openJournal(deps, 'same')
    opened.push(journal)
    const { store, isNew, maintain: maintainStore } = await openLogStore(deps, 'same')
    opened.push(store)
    const projections = PROJECTION_NAMES.filter((projection) => config.VIEWS.includes(projection))
    const reason = (await isNew()) ? 'the log store is new' : await lackOf(deps, journal, store)
    if (reason !== null) {
      const options = {
        journal,
        topicPrefix: config.TOPIC_PREFIX,
        logger,
        reason,
        signal: AbortSignal.timeout(REWIND_WITHIN_MS),
      }
      await Promise.all(projections.map((projection) => rewindProjection(projection, options)))
    }
    const consumers = createConsumers(projections, { ...deps, journal, store })
    const retention = { ...deps, store, days: config.RETENTION_DAYS }
    const services: readonly Service[] = [
      createMaintenance(maintainJournal, logger),
      createMaintenance(maintainStore, logger),
      createRetentionJob({ ...retention, intervalMs: RETENTION_INTERVAL_MS }),
      stoppedTogether('projections', consumers),
    ]
    const done = endOfAll(consumers)
    // Callers of `done` get the failure; before there is one, it must not end the process as an unhandled rejection.
    done.catch(() => {})
    await startAll(services)
    return {
      calls: {
        health: () => consumers.map((consumer) => consumer.health()),
        storeHealth: async () => ({ ...(await store.health()), name: 'log-store writes' }),
        metrics: () => metrics.registry.getMetricsAsJSON(),
        done: () => done,
        stop: async (deadline) => {
          try {
            await stopAll(services, deadline)
          } finally {
            await tracer?.stop(deadline)
          }
        },
      },
      close,
    }
  } catch (error) {
    await close().catch((err) => logger.warn({ err }, 'a resource of the consumers did not close'))
    throw error
  }
})

/** The fault of an embedded log store that is older than the positions in the journal, in words; null if it has none. */
async function lackOf(
  { config, clock, logger }: BaseServices,
  journal: Journal,
  store: LogStoreReader,
): Promise<string | null> {
  if (config.ELASTICSEARCH_URL !== null) return null
  const since = timestampOf(clock.now() - (config.RETENTION_DAYS - 1) * DAY_MS)
  const options = {
    journal,
    store,
    topicPrefix: config.TOPIC_PREFIX,
    since,
    signal: AbortSignal.timeout(REWIND_WITHIN_MS),
  }
  try {
    const lacks = await Promise.all([
      lacksLastEntry('event-logs', options),
      lacksLastEntry('application-logs', options),
    ])
    return lacks.includes(true) ? 'the log store is older than the journal, and lacks entries' : null
  } catch (err) {
    logger.warn({ err }, 'whether the log store lacks entries could not be found out')
    return null
  }
}

function createConsumers(
  projections: readonly ProjectionName[],
  { config, ...deps }: BaseServices & { readonly journal: Journal; readonly store: LogStoreWriter },
): readonly Consumer[] {
  const options = {
    deadLetterRunMax: config.DEAD_LETTER_RUN_MAX,
    deadLetterRatioMax: config.DEAD_LETTER_PERCENT_MAX / 100,
  }
  return projections.map((projection) =>
    createConsumer({ ...deps, projection, topicPrefix: config.TOPIC_PREFIX, options }),
  )
}

/**
 * Maintains the journal or the log store, at start and every minute: retention and compaction of embedded files, the next days of
 * Elasticsearch. A failure is logged and retried; files that grow for a while longer are no reason to stop.
 */
function createMaintenance(maintain: (signal: AbortSignal) => Promise<unknown>, logger: Logger): Service {
  return createRepeater({
    name: 'maintenance',
    intervalMs: MAINTENANCE_INTERVAL_MS,
    run: maintain,
    onError: (err) => logger.error({ err }, 'maintenance of the journal or the log store failed; trying again later'),
  })
}

/**
 * The consumers, in a thread of their own: they read the journal, index and fold flows on connections of their own, so that the thread
 * that answers HTTP does none of it, whatever the backends, and no record is copied between threads.
 */
import { setPriority } from 'node:os'
import { systemClock } from '../../shared/runtime/clock.ts'
import type { Config } from '../../shared/runtime/config.ts'
import { type Health, startAll, stopAll } from '../../shared/runtime/lifecycle.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics } from '../../shared/runtime/metrics.ts'
import { serveThread } from '../../shared/runtime/threads/serve-thread.ts'
import { createConsumersRole } from './consumers-role.ts'
import { openJournal } from './journals.ts'
import { openLogStore } from './log-stores.ts'
import { createMaintenance } from './maintenance.ts'

export interface ConsumersCalls {
  health(): readonly Health[]
  /** What prom-client's aggregation takes. */
  metrics(): Promise<object>
  /** Settles when the consumers end: rejects when a projection halts. */
  done(): Promise<void>
  stop(deadline: number): Promise<void>
}

/** Indexing can wait, the sender of a request should not: where there are fewer cores than threads, the others go first. */
const NICENESS = 10

/** On Linux 0 stands for the calling thread; where it stands for the whole process, nothing is changed. */
if (process.platform === 'linux') setPriority(0, NICENESS)

await serveThread<ConsumersCalls>(async ({ config }: { config: Config }) => {
  const logger = createLogger(config.LOG_LEVEL, 'consumers')
  const metrics = createMetrics()
  const deps = { config, clock: systemClock, logger, metrics }
  const opened: { close(): Promise<void> }[] = []
  const close = async (): Promise<void> => {
    for (const each of opened) await each.close()
  }
  try {
    const { journal, maintain: maintainJournal } = await openJournal(deps, 'same')
    opened.push(journal)
    const { store, maintain: maintainStore } = await openLogStore(deps, 'same')
    opened.push(store)
    const role = createConsumersRole({ ...deps, journal, store })
    const maintenance = createMaintenance([maintainJournal, maintainStore], logger)
    await startAll([maintenance, role])
    return {
      calls: {
        health: () => role.health(),
        metrics: () => metrics.registry.getMetricsAsJSON(),
        done: () => role.done,
        stop: (deadline) => stopAll([maintenance, role], deadline),
      },
      close,
    }
  } catch (error) {
    await close().catch((err) => logger.warn({ err }, 'what the consumers had opened did not close'))
    throw error
  }
})

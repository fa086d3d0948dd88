import { restoreProjection } from '../consumers/restore.ts'
import type { Journal } from '../shared/journal/journal.ts'
import type { LogStore } from '../shared/log-store/log-store.ts'
import { systemClock } from '../shared/runtime/clock.ts'
import { type Config, environment, loadConfig } from '../shared/runtime/config.ts'
import { createLogger } from '../shared/runtime/logger.ts'
import { createMetrics } from '../shared/runtime/metrics.ts'
import { type CliDeps, type CliHandlers, CommandError, type RebuildRequest, type WhereMissing } from './cli/command.ts'
import { mistypedNames } from './mistyped-settings.ts'
import { type OpenLogStore, openJournal, openLogStore } from './server/backends.ts'
import { expectDataFile, lockDataDir } from './server/data-dir-lock.ts'
import { usesKafka } from './server/roles.ts'
import { onSignals } from './server/signals.ts'
import { VERSION } from './server/version.ts'

/** Commands print their results themselves, so only errors of the program's own log are shown. */
const depsOf = (config: Config) => ({
  config,
  clock: systemClock,
  logger: createLogger('error', 'command'),
  metrics: createMetrics(),
})

/** Closes the journal if it cannot be prepared, as its open connections would keep the failed process alive. */
async function openForCommand(config: Config, whereMissing: WhereMissing): Promise<Journal> {
  if (!usesKafka(config) && whereMissing === 'refuse') expectDataFile(config.DATA_DIR, 'journal.db', 'KAFKA_BROKERS')
  const { journal, applyTopics } = await openJournal(depsOf(config), 'same')
  try {
    // Files that exist may only lack the topics of a newer version. Topics that brokers lack may tell of a mistyped TOPIC_PREFIX.
    if (config.AUTO_CREATE && (whereMissing === 'create' || !usesKafka(config))) await applyTopics()
    return journal
  } catch (error) {
    await journal.close()
    throw error
  }
}

async function withStore<Result>(config: Config, work: (opened: OpenLogStore) => Promise<Result>): Promise<Result> {
  const opened = await openLogStore(depsOf(config), 'same')
  try {
    return await work(opened)
  } finally {
    await opened.store.close()
  }
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)

async function rebuildView(config: Config, journal: Journal, request: RebuildRequest): Promise<void> {
  const stop = new AbortController()
  onSignals(() => stop.abort(new CommandError('stopped by a signal')))
  const fromTopics = request.from === 'topics'
  // A second process cannot write to the embedded files beside a server.
  const writesFiles = config.ELASTICSEARCH_URL === null && fromTopics
  if (writesFiles) expectDataFile(config.DATA_DIR, '.', 'ELASTICSEARCH_URL')
  const unlock = writesFiles ? lockDataDir(config.DATA_DIR) : () => undefined
  const { store, rebuildView: fromIndices } = await openLogStore(depsOf(config), 'same')
  try {
    if (fromTopics) await request.audited(() => restoreFromTopics(config, journal, store, request, stop.signal))
    else if (fromIndices === null) {
      throw new CommandError(
        '--from indices needs Elasticsearch: after an upgrade, the embedded log store brings its entries up to date by itself; ' +
          '--from topics restores lost entries',
      )
    } else await request.audited(() => rebuildFromIndices(fromIndices, request, stop.signal))
  } finally {
    await store.close()
    unlock()
  }
}

async function restoreFromTopics(
  { TOPIC_PREFIX: topicPrefix }: Config,
  journal: Journal,
  store: LogStore,
  { view, since, report }: RebuildRequest,
  signal: AbortSignal,
): Promise<void> {
  const { stored, duplicate, refused } = await restoreProjection(view, { journal, store, topicPrefix, since, signal })
  report(`${stored} written, ${duplicate} were there, ${refused} cannot be shown (see \`sluice dead-letters list\`)`)
}

async function rebuildFromIndices(
  rebuild: NonNullable<OpenLogStore['rebuildView']>,
  { view, since, takeOver, report }: RebuildRequest,
  signal: AbortSignal,
): Promise<void> {
  const kinds = { 'event-logs': 'event', 'application-logs': 'application', flows: 'flows' } as const
  await rebuild(kinds[view], {
    since,
    takeOver,
    signal,
    onReplaced: ({ name, index, documents, pausedMs }) =>
      report(`${name}: ${documents} documents in ${index}; writes waited ${(pausedMs / 1_000).toFixed(1)} s`),
  })
}

const handlers: CliHandlers = {
  start: async (role, config) => {
    const { serve } = await import('./server/server.ts')
    const logger = createLogger(config.LOG_LEVEL, role)
    for (const mistyped of mistypedNames(environment()))
      logger.warn(mistyped, 'a variable of the environment is no setting and has no effect; another name may be meant')
    return serve({ role, config, logger, print })
  },
  applyTopics: async (config) => {
    const { journal, applyTopics } = await openJournal(depsOf(config), 'same')
    try {
      return await applyTopics()
    } finally {
      await journal.close()
    }
  },
  applyIndices: async (config) =>
    config.ELASTICSEARCH_URL === null
      ? ['the embedded log store has no indices; for those of Elasticsearch, set ELASTICSEARCH_URL']
      : withStore(config, ({ applyIndices }) => applyIndices()),
  rebuildCounts: async (config) => {
    if (config.ELASTICSEARCH_URL === null) expectDataFile(config.DATA_DIR, 'logs.db', 'ELASTICSEARCH_URL')
    return withStore(config, ({ rebuildCounts }) => rebuildCounts())
  },
  rebuildView,
  canary: async (config) => {
    const { runCanary } = await import('./canary/canary.ts')
    return runCanary({ config, logger: createLogger(config.LOG_LEVEL, 'canary'), print })
  },
}

/** The dependencies of commands in a process of their own. */
export const cliDeps: CliDeps = {
  version: VERSION,
  config: () => loadConfig(),
  openJournal: openForCommand,
  clock: systemClock,
  stdout: process.stdout,
  stderr: process.stderr,
  handlers,
}

import type { Journal } from '../shared/journal/journal.ts'
import { systemClock } from '../shared/runtime/clock.ts'
import { type Config, loadConfig } from '../shared/runtime/config.ts'
import { createLogger } from '../shared/runtime/logger.ts'
import { createMetrics } from '../shared/runtime/metrics.ts'
import { runCanary } from './canary/canary.ts'
import type { CliDeps, CliHandlers } from './cli/command.ts'
import { openJournal } from './server/journals.ts'
import { openLogStore } from './server/log-stores.ts'
import { serve } from './server/server.ts'
import { VERSION } from './server/version.ts'

/** Commands print their results themselves, so only errors of the program's own log are shown. */
const depsOf = (config: Config) => ({
  config,
  clock: systemClock,
  logger: createLogger('error', 'command'),
  metrics: createMetrics(),
})

/** Closes the journal if it cannot be prepared, as its open connections would keep the failed process alive. */
async function openForCommand(config: Config): Promise<Journal> {
  const { journal, applyTopics } = await openJournal(depsOf(config), 'same')
  try {
    if (config.AUTO_CREATE) await applyTopics()
    return journal
  } catch (error) {
    await journal.close()
    throw error
  }
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)

const handlers: CliHandlers = {
  start: (role, config) => serve({ role, config, logger: createLogger(config.LOG_LEVEL, role), print }),
  applyTopics: async (config) => {
    const { journal, applyTopics } = await openJournal(depsOf(config), 'same')
    try {
      return await applyTopics()
    } finally {
      await journal.close()
    }
  },
  applyIndices: async (config) => {
    const { store, applyIndices } = await openLogStore(depsOf(config), 'same')
    try {
      const mended = await applyIndices()
      return mended.length === 0 ? ['the indices are as they should be'] : mended
    } finally {
      await store.close()
    }
  },
  rebuildCounts: async (config) => {
    const { store, rebuildCounts } = await openLogStore(depsOf(config), 'same')
    try {
      return await rebuildCounts()
    } finally {
      await store.close()
    }
  },
  canary: (config) => runCanary({ config, logger: createLogger(config.LOG_LEVEL, 'canary'), print }),
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

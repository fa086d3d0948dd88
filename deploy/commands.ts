import type { Journal } from '../shared/journal/journal.ts'
import { systemClock } from '../shared/runtime/clock.ts'
import { type Config, loadConfig } from '../shared/runtime/config.ts'
import { createLogger } from '../shared/runtime/logger.ts'
import { createMetrics } from '../shared/runtime/metrics.ts'
import { runCli } from './cli/cli.ts'
import type { CliHandlers } from './cli/command.ts'
import { openJournal } from './journals.ts'
import { openLogStore } from './log-stores.ts'
import { serve } from './serve.ts'
import { VERSION } from './version.ts'

/** Runs what the command line asks for, and gives the exit code. */
export const runCommand = (argv: readonly string[]): Promise<number> =>
  runCli(argv, {
    version: VERSION,
    config: () => loadConfig(),
    openJournal: openForCommand,
    clock: systemClock,
    stdout: process.stdout,
    stderr: process.stderr,
    handlers,
  })

/** Commands speak for themselves; of the program's own log only what went wrong is shown. */
const depsOf = (config: Config) => ({
  config,
  clock: systemClock,
  logger: createLogger('error', 'command'),
  metrics: createMetrics(),
})

/** What is not closed keeps its connections, and those keep the process after it has said what failed. */
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

const handlers: CliHandlers = {
  start: (role, config) => {
    const print = (text: string): void => void process.stdout.write(`${text}\n`)
    return serve({ role, config, logger: createLogger(config.LOG_LEVEL, role), print })
  },
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
}

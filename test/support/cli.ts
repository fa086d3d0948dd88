import { runCli } from '../../deploy/cli/cli.ts'
import type { CliDeps, CliHandlers } from '../../deploy/cli/command.ts'
import { cliDeps } from '../../deploy/cli-deps.ts'
import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import type { NamedTopic } from '../../shared/journal/journal.ts'
import { loadConfig } from '../../shared/runtime/config.ts'
import { createMemoryJournal, type MemoryJournal } from './memory-journal.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command, its arguments as split by a shell, and keeps what it prints. */
async function runKept(
  argv: readonly string[],
  deps: Omit<CliDeps, 'stdout' | 'stderr'>,
  more: Partial<CliDeps> = {},
): Promise<Ran> {
  const printed = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    write: (text: string, done?: () => void) => {
      printed[name] += text
      done?.()
    },
  })
  const code = await runCli(argv, { ...deps, stdout: output('stdout'), stderr: output('stderr'), ...more })
  return { code, ...printed }
}

/** An operator's command with these settings as the program runs it, but in this process. */
export const runHere = (argv: readonly string[], env: Record<string, string>): Promise<Ran> =>
  runKept(argv, { ...cliDeps, config: () => loadConfig(env) })

const ALL_TOPICS: readonly NamedTopic[] = Object.values(TOPICS).map((spec) => ({
  ...spec,
  name: topicName('sluice', spec.role),
}))

/** The operator's commands over an in-memory journal; `run` takes the arguments as split by a shell. */
export function cliOnMemory({
  env = {},
  now = '2026-03-04T05:06:07.000Z',
  ...overrides
}: { env?: Record<string, string>; now?: string } & Partial<CliDeps> = {}) {
  const clock = { now: () => Date.parse(now) }
  const journal: MemoryJournal = createMemoryJournal({ clock, topics: ALL_TOPICS })
  const calls: unknown[][] = []
  const handlers: CliHandlers = {
    start: async (role) => {
      calls.push(['start', role])
      return 7
    },
    applyTopics: async () => ['sluice.registry.v1 exists'],
    applyIndices: async () => ['sluice-flows-v1 made'],
    rebuildCounts: async () => ['3 entries were counted'],
    rebuildView: async (_config, _journal, { report, audited, ...request }) => {
      calls.push(['rebuildView', request])
      await audited(async () => report('the view was rebuilt'))
    },
    canary: async () => {
      calls.push(['canary'])
      return 7
    },
  }
  const runWith = (more: Partial<CliDeps>, ...argv: string[]): Promise<Ran> =>
    runKept(
      argv,
      {
        version: '1.2.3',
        config: () => loadConfig(env),
        // A command closes its journal, but this one has to outlive the command.
        openJournal: async () => ({ ...journal, close: async () => void calls.push(['close']) }),
        clock,
        handlers,
        ...overrides,
      },
      more,
    )
  const run = (...argv: string[]): Promise<Ran> => runWith({}, ...argv)
  return { run, runWith, journal, calls, handlers }
}

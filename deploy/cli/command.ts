import { hostname, userInfo } from 'node:os'
import type { ProjectionName } from '../../consumers/projection.ts'
import { topicName } from '../../shared/contract/topics.ts'
import { type Audited, createAudit } from '../../shared/journal/audit.ts'
import type { Journal } from '../../shared/journal/journal.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import type { Config } from '../../shared/runtime/config.ts'
import type { Role } from '../server/roles.ts'

/** Exit codes of every command. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** The dependencies of a command on the process that runs it. */
export interface CliDeps {
  readonly version: string
  /** The configuration; throws a `ConfigError`. Read only by commands that need it, so that help works without. */
  readonly config: () => Config
  /** Opens the configured journal, and creates missing topics if AUTO_CREATE says so. The command closes it. */
  readonly openJournal: (config: Config, whereMissing: WhereMissing) => Promise<Journal>
  readonly clock: Clock
  readonly stdout: Output
  readonly stderr: Output
  readonly handlers: CliHandlers
}

/** Whether a missing journal, in the data folder or at the brokers, is created, as by commands that fill it, or refused. */
export type WhereMissing = 'create' | 'refuse'

/** The receiver of text, such as `process.stdout`. */
interface Output {
  /** `done` is called once the text was handed over, with the error if it was not. */
  write(text: string, done?: (error?: Error | null) => void): unknown
}

/** Tasks that only the composition root can do. */
export interface CliHandlers {
  /** Runs a server to its end; returns the exit code. */
  start(role: Role, config: Config): Promise<number>
  /** Creates missing topics; returns one line per topic. */
  applyTopics(config: Config): Promise<readonly string[]>
  /** Creates missing indices and their templates; returns one line for each. */
  applyIndices(config: Config): Promise<readonly string[]>
  /** Rebuilds the counts of the log store; returns a line that says so. */
  rebuildCounts(config: Config): Promise<readonly string[]>
  /** Makes the documents of a view anew; reports each step in a line. Throws a `CommandError` if the log store cannot. */
  rebuildView(config: Config, journal: Journal, request: RebuildRequest): Promise<void>
  /** Runs the canary to its end; returns the exit code. */
  canary(config: Config): Promise<number>
}

export interface RebuildRequest {
  readonly view: ProjectionName
  readonly from: 'indices' | 'topics'
  /** The first day (yyyy-mm-dd); null for all. */
  readonly since: string | null
  readonly takeOver: boolean
  readonly report: (line: string) => void
  /** Makes the rebuild and records it in the audit; to be called once nothing refuses it. */
  readonly audited: (rebuild: () => Promise<void>) => Promise<void>
}

export interface Command {
  /** The words that call it, such as `registry apply`. */
  readonly name: string
  /** Its purpose, in a line of the overview. */
  readonly summary: string
  /** All that its user has to know beyond the summary, in the lines of the help. */
  readonly description: readonly string[]
  /** Required, in this order. */
  readonly parameters?: readonly { readonly name: string; readonly help: string }[]
  readonly options?: Readonly<Record<string, Option>>
  readonly examples: readonly string[]
  /** Returns the exit code. Throws a `UsageError` for invalid values and a `CommandError` if the command cannot be carried out. */
  run(args: Arguments, deps: CliDeps): Promise<number>
}

export interface Option {
  /** The placeholder of its value in the usage; an option without a value is a flag. */
  readonly value?: string
  readonly help: string
}

/** The parsed arguments of a command. */
export interface Arguments {
  readonly parameters: readonly string[]
  flag(name: string): boolean
  text(name: string): string | undefined
}

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command cannot be carried out; the message says why. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Prints text; rejects if it cannot be written, as on a full disk or to a reader that is gone. */
export const print = ({ stdout }: Pick<CliDeps, 'stdout'>, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })

/** Opens the journal for a command, and closes it. */
export async function withJournal(
  deps: CliDeps,
  work: (journal: Journal, config: Config) => Promise<number>,
  whereMissing: WhereMissing = 'refuse',
): Promise<number> {
  const config = deps.config()
  const journal = await deps.openJournal(config, whereMissing)
  try {
    return await work(journal, config)
  } finally {
    await journal.close()
  }
}

/** Audits what a command changes. */
export function auditOf({ clock, stderr }: CliDeps, journal: Journal, config: Config, command: string): Audited {
  const audit = createAudit({
    journal,
    topic: topicName(config.TOPIC_PREFIX, 'audit'),
    clock,
    onFailure: (error, record) => {
      // A refused change fails the command, which reports it.
      if (record === 'outcome')
        stderr.write(`sluice ${command}: the audit does not tell the outcome: ${(error as Error).message}\n`)
    },
  })
  return audit({ actor: { kind: 'operator', id: userName(), key: null }, via: command, from: hostname() })
}

/** The name of the operating system's user; its number if it has no name, as in many containers. */
function userName(): string | null {
  try {
    return userInfo().username
  } catch {
    return process.getuid === undefined ? null : String(process.getuid())
  }
}

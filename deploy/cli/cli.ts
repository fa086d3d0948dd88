import { AppendError } from '../../shared/journal/journal.ts'
import { nearestOf } from '../../shared/nearest.ts'
import { asksForHelp, parseArguments } from './arguments.ts'
import { auditCommand } from './audit-command.ts'
import { type CliDeps, type Command, EXIT, UsageError } from './command.ts'
import { configCommands } from './config-commands.ts'
import { deadLetterCommands } from './dead-letter-commands.ts'
import { commandHelp, overview } from './help.ts'
import { registryCommands } from './registry-commands.ts'
import { serverCommands } from './server-commands.ts'
import { viewCommands } from './view-commands.ts'

/** Every command of the program, in the order of the overview. */
export const COMMANDS: readonly Command[] = [
  ...serverCommands,
  ...registryCommands,
  ...deadLetterCommands,
  ...viewCommands,
  auditCommand,
  ...configCommands,
]

/**
 * Runs the command that the arguments name (without node and script) and returns the exit code: 0 done, 1 failed, 2 the command line is
 * wrong. Never rejects: failures are reported on standard error.
 */
export async function runCli(argv: readonly string[], deps: CliDeps): Promise<number> {
  const [first] = argv
  if (first === '--version' || first === '-v') return say(deps, `${deps.version}\n`)
  if (first === '--help' || first === '-h') return say(deps, overview(COMMANDS))
  const words = first === 'help' ? argv.slice(1) : argv
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, index) => words[index] === word))
  if (command === undefined) return runWithoutCommand(words, first === 'help' || asksForHelp(argv), deps)
  const args = words.slice(command.name.split(' ').length)
  if (first === 'help' || asksForHelp(args)) return say(deps, commandHelp(command))
  try {
    return await command.run(parseArguments(command, args), deps)
  } catch (error) {
    return fail(command.name, error, deps)
  }
}

/** Handles arguments that name no command: a group of commands, such as `registry`, nothing at all, or a typo. */
function runWithoutCommand(words: readonly string[], wantsHelp: boolean, deps: CliDeps): number {
  const named = words.filter((word) => !word.startsWith('-'))
  const [group = ''] = named
  const isGroup = COMMANDS.some(({ name }) => name.startsWith(`${group} `))
  if (named.length === 0 || (isGroup && named.length === 1)) {
    const page = overview(COMMANDS, group)
    if (wantsHelp) return say(deps, page)
    deps.stderr.write(page)
    return EXIT.usage
  }
  const wanted = named.slice(0, isGroup ? 2 : 1).join(' ')
  const near = (text: string, known: readonly string[]) => nearestOf(text, known, String, { beginnings: true })
  const meant = near(named.slice(0, 2).join(' '), names()) ?? near(wanted, [...names(), ...groups()])
  const advice = meant === undefined ? '' : `; did you mean \`sluice ${meant}\`?`
  deps.stderr.write(`sluice: there is no command \`${wanted}\`${advice}\n\`sluice help\` lists all commands.\n`)
  return EXIT.usage
}

const names = (): string[] => COMMANDS.map(({ name }) => name)
const groups = (): Set<string> => new Set(names().map((name) => name.split(' ')[0] ?? ''))

function say({ stdout }: CliDeps, text: string): number {
  stdout.write(text)
  return EXIT.ok
}

function fail(name: string, error: unknown, { stderr }: CliDeps): number {
  if (error instanceof UsageError) {
    stderr.write(`sluice ${name}: ${error.message}\n\`sluice ${name} --help\` shows how it is used.\n`)
    return EXIT.usage
  }
  stderr.write(`sluice ${name}: ${reasonOf(error)}\n`)
  return EXIT.failed
}

/** The reason why a command failed, in sentences; a stack only for errors that must be faults of this program. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AppendError) {
    const known = error.outcome === 'not_written' ? 'it was not written' : 'it may have been written all the same'
    return `the journal did not confirm the change, and ${known}: ${error.message}`
  }
  const isFault = [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind)
  return isFault ? `unexpected error: ${error.stack}` : error.message
}

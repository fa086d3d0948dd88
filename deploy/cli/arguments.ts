import { parseArgs } from 'node:util'
import { parseTimestamp } from '../../shared/contract/timestamp.ts'
import { nearestOf } from '../../shared/nearest.ts'
import { parseTime } from '../../shared/query/time.ts'
import { type Arguments, type CliDeps, type Command, UsageError } from './command.ts'

/** Whether the command line asks for help rather than for the command. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? undefined : end).some((arg) => arg === '--help' || arg === '-h')
}

/** Reads the arguments that follow a command's name. Throws a `UsageError` that says what to change. */
export function parseArguments({ options = {}, parameters = [] }: Command, args: readonly string[]): Arguments {
  // Not strict, as its messages would describe this parser instead of the command.
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }]),
    ),
  })
  const given = new Map<string, string | true>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(options, name) && rawName === `--${name}` ? options[name] : undefined
    if (option === undefined) throw new UsageError(unknownOption(rawName, Object.keys(options)))
    if (given.has(name)) throw new UsageError(`${rawName} is given twice`)
    if (option.value === undefined && value !== undefined) throw new UsageError(`${rawName} takes no value`)
    if (option.value !== undefined && (!value || (!inlineValue && value.startsWith('-')))) {
      throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}`)
    }
    given.set(name, value ?? true)
  }
  const absent = parameters[positionals.length]
  if (absent !== undefined) throw new UsageError(`${absent.name} is missing: ${absent.help}`)
  const surplus = positionals[parameters.length]
  if (surplus !== undefined) throw new UsageError(`there is one argument too many: ${JSON.stringify(surplus)}`)
  const empty = parameters.find((_, index) => positionals[index] === '')
  if (empty !== undefined) throw new UsageError(`${empty.name} is empty: ${empty.help}`)
  return {
    parameters: positionals,
    flag: (name) => given.get(name) === true,
    text: (name) => {
      const value = given.get(name)
      return typeof value === 'string' ? value : undefined
    },
  }
}

function unknownOption(rawName: string, known: readonly string[]): string {
  const meant = nearestOf(rawName.replace(/^-+/, ''), [...known, 'help'], String, { beginnings: true })
  return `there is no option ${rawName}${meant === undefined ? '' : `; did you mean --${meant}?`}`
}

/** An option's value, one of the choices; undefined if it is not given. */
export function choiceOf<Choice extends string>(
  args: Arguments,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = args.text(name)
  return text === undefined ? undefined : choiceFrom(text, `--${name}`, choices)
}

/** The choice that the text names. Throws a `UsageError` for another text; `name` is that of the option or parameter. */
export function choiceFrom<Choice extends string>(text: string, name: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((each) => each === text)
  if (choice !== undefined) return choice
  const meant = nearestOf(text, choices, String, { beginnings: true })
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`
  throw new UsageError(`${name} is one of ${choices.join(', ')}, not ${JSON.stringify(text)}${advice}`)
}

/** An option's value, a day such as 2026-01-31; undefined if it is not given. */
export function dayOf(args: Arguments, name: string): string | undefined {
  const text = args.text(name)
  if (text === undefined || (/^\d{4}-\d\d-\d\d$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== undefined))
    return text
  throw new UsageError(`--${name} is a day such as 2026-01-31, not ${JSON.stringify(text)}`)
}

/** An option's value, a whole number of at least 1; undefined if it is not given. */
export function countOf(args: Arguments, name: string, most: number): number | undefined {
  const text = args.text(name)
  if (text === undefined) return undefined
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= most) return count
  throw new UsageError(`--${name} is a whole number from 1 to ${most}, not ${JSON.stringify(text)}`)
}

/** An option's value, a canonical timestamp; undefined if it is not given. */
export function timeOf(args: Arguments, name: string, { clock }: Pick<CliDeps, 'clock'>): string | undefined {
  const text = args.text(name)
  const parsed = text === undefined ? undefined : parseTime(text, clock.now())
  if (text === undefined || parsed !== undefined) return parsed
  throw new UsageError(
    `--${name} is a time such as 2026-01-31T09:30:00Z or now-1h (s, m, h, d, w), not ${JSON.stringify(text)}`,
  )
}

import { readFileSync } from 'node:fs'
import { SETTINGS, type Setting, type SettingName } from './config-schema.ts'

type ValueOf<S extends Setting> = S extends { type: 'integer' }
  ? number | (null extends S['default'] ? null : never)
  : S extends { type: 'flag' }
    ? boolean
    : S extends { type: 'choice'; choices: readonly (infer Choice)[] }
      ? Choice
      : S extends { type: 'list' }
        ? readonly string[]
        : string | (null extends S['default'] ? null : never)

/** The configuration of a process: read once, frozen, passed to whoever needs it. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> }

/** Everything that is wrong with the environment, so that it can be mended in one go. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`the configuration has ${problems.length} problem(s):\n${problems.map((text) => `  - ${text}`).join('\n')}`)
    this.problems = problems
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings from the environment; throws a `ConfigError` that lists every problem. */
export function loadConfig(env: Environment = process.env): Config {
  const problems: string[] = []
  const config = Object.fromEntries(
    Object.entries<Setting>(SETTINGS).map(([name, setting]) => [name, readSetting(name, setting, env, problems)]),
  ) as Config
  problems.push(...unknownNames(env), ...crossChecks(config))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

function readSetting(name: string, setting: Setting, env: Environment, problems: string[]): unknown {
  const text = textOf(name, setting, env, problems)
  if (text === undefined || text === '') return setting.type === 'list' ? split(setting.default ?? '') : setting.default
  const parsed = parse(setting, text)
  if (parsed instanceof Error) {
    const shown = setting.secret ? '' : `, got ${JSON.stringify(text)}`
    problems.push(`${name} must be ${parsed.message}${shown}`)
    return setting.default
  }
  return parsed
}

function textOf(name: string, setting: Setting, env: Environment, problems: string[]): string | undefined {
  const file = env[`${name}_FILE`]
  if (!setting.secret || file === undefined || file === '') return env[name]
  if (env[name] !== undefined) problems.push(`${name} and ${name}_FILE are both set; keep one`)
  try {
    return readFileSync(file, 'utf8').trimEnd()
  } catch (error) {
    problems.push(`${name}_FILE cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

/** The value, or an Error whose message completes "must be". */
function parse(setting: Setting, text: string): unknown {
  switch (setting.type) {
    case 'integer': {
      const value = Number(text.replaceAll('_', ''))
      const fits = Number.isSafeInteger(value) && value >= setting.minimum && value <= setting.maximum
      return fits ? value : new Error(`a whole number from ${setting.minimum} to ${setting.maximum}`)
    }
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : new Error('true or false')
    case 'choice':
      return setting.choices.includes(text) ? text : new Error(`one of ${setting.choices.join(', ')}`)
    case 'url':
      return URL.canParse(text) ? text : new Error('a URL')
    case 'list':
      return split(text)
    case 'text':
      return text
  }
}

const split = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function unknownNames(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_'))
    .map((name) => `${name} is not a setting; settings have no SLUICE_ prefix, see \`sluice config print\``)
}

function crossChecks(config: Config): string[] {
  const problems: string[] = []
  if (config.MAX_INFLATED_BYTES < config.MAX_BODY_BYTES) {
    problems.push(
      `MAX_INFLATED_BYTES (${config.MAX_INFLATED_BYTES}) must be at least MAX_BODY_BYTES (${config.MAX_BODY_BYTES})`,
    )
  }
  if (config.PUBLISH_BUFFER_BYTES < config.MAX_INFLATED_BYTES) {
    problems.push(
      `PUBLISH_BUFFER_BYTES (${config.PUBLISH_BUFFER_BYTES}) must be at least MAX_INFLATED_BYTES (${config.MAX_INFLATED_BYTES})`,
    )
  }
  if (config.SESSION_SECRET !== null && config.SESSION_SECRET.length < 32)
    problems.push('SESSION_SECRET must have 32 characters or more')
  if (!config.BASE_PATH.startsWith('/'))
    problems.push(`BASE_PATH must begin with a slash, got ${JSON.stringify(config.BASE_PATH)}`)
  return problems
}

/** Every setting with its value in this process; secrets are masked. */
export function describeConfig(
  config: Config,
): readonly { name: string; value: string; default: string; help: string }[] {
  return Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
    const value = config[name as SettingName]
    return {
      name,
      value: setting.secret && value !== null ? '[redacted]' : String(value ?? ''),
      default: String(setting.default ?? ''),
      help: setting.help,
    }
  })
}

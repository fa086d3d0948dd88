import { SETTINGS, type Setting, type SettingName } from './config-schema.ts'
import { lastGood } from './last-good.ts'
import type { Logger } from './logger.ts'
import { readFile } from './read-file.ts'

type ValueOf<S extends Setting> = S extends { type: 'integer' }
  ? number | (null extends S['default'] ? null : never)
  : S extends { type: 'flag' }
    ? boolean
    : S extends { type: 'choice'; choices: readonly (infer Choice)[] }
      ? Choice
      : S extends { type: 'list' }
        ? readonly string[]
        : string | (null extends S['default'] ? null : never)

/** The configuration of a process: read once, frozen, and passed to its users. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> } & SecretFiles

/** The settings that may be given as files. */
type SecretName = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { secret: true } ? Name : never
}[SettingName]

interface SecretFiles {
  /** Paths of the secrets that were given as `<NAME>_FILE`. */
  readonly secretFiles: Readonly<Partial<Record<SecretName, string>>>
}

/** Everything that is wrong with the environment, so that it can be fixed in one go. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    super(`the configuration has ${count}:\n${problems.map((text) => `  - ${text}`).join('\n')}`)
    this.problems = problems
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process. */
export const environment = (): Environment => process.env

/** The words that run a command where this process runs: npm's in a checkout, else the name that the program has in the image. */
export const programName = (): 'npm run sluice --' | 'sluice' =>
  process.env['npm_command'] === undefined ? 'sluice' : 'npm run sluice --'

/** Reads the settings from the environment; throws a `ConfigError` that lists every problem. */
export function loadConfig(env: Environment = environment()): Config {
  const problems: Problem[] = []
  const settings = Object.entries<Setting>(SETTINGS)
  const config = {
    ...Object.fromEntries(settings.map(([name, setting]) => [name, readSetting(name, setting, env, problems)])),
    secretFiles: Object.fromEntries(
      settings.flatMap(([name, { secret }]) => (secret && env[`${name}_FILE`] ? [[name, env[`${name}_FILE`]]] : [])),
    ),
  } as Config
  const wrong = new Set(problems.map(({ name }) => name))
  const texts = [...problems.map(({ text }) => text), ...unknownNames(env), ...failedChecks(config, wrong)]
  if (texts.length > 0) throw new ConfigError(texts)
  return Object.freeze(withoutSlashes(config))
}

/** Removes trailing slashes, so that paths can be appended; a base path of the root stays `/`. */
function withoutSlashes(config: Config): Config {
  const { BASE_PATH, GATEWAY_URL, GATEWAY_INTERNAL_URL, VIEWS_URL, PAGE_URL } = config
  const trimmed = (text: string): string => text.replace(/\/+$/, '')
  return {
    ...config,
    BASE_PATH: trimmed(BASE_PATH) || '/',
    GATEWAY_URL: GATEWAY_URL && trimmed(GATEWAY_URL),
    GATEWAY_INTERNAL_URL: GATEWAY_INTERNAL_URL && trimmed(GATEWAY_INTERNAL_URL),
    VIEWS_URL: VIEWS_URL && trimmed(VIEWS_URL),
    PAGE_URL: PAGE_URL && trimmed(PAGE_URL),
  }
}

interface Problem {
  readonly name: string
  readonly text: string
}

/** A new secret is in use this long after it was written, at the latest. */
const READ_AGAIN_MS = 10_000

/**
 * The value of a secret now, which is read again if it was given as a file. While the file is unusable, the value before stays, and
 * `onRefused` is called once per reason.
 */
export function newestSecret<Name extends SecretName>(
  config: Pick<Config, Name | 'secretFiles'>,
  name: Name,
  onRefused: (error: Error) => void,
  readAgainMs = READ_AGAIN_MS,
): () => Config[Name] {
  const file = config.secretFiles[name]
  if (file === undefined) return () => config[name]
  const read = (): Config[Name] => {
    const problems: Problem[] = []
    const value = readSetting(name, SETTINGS[name], { [`${name}_FILE`]: file }, problems) as Config[Name]
    const [problem] = problems
    if (problem !== undefined) throw new Error(problem.text)
    return value
  }
  return lastGood(read, onRefused, readAgainMs)
}

/** `newestSecret`, with a warning about a value that is not used. */
export const rereadSecret = <Name extends SecretName>(
  config: Pick<Config, Name | 'secretFiles'>,
  name: Name,
  logger: Logger,
): (() => Config[Name]) =>
  newestSecret(config, name, (err) =>
    logger.warn({ err }, 'the new value of a secret is not used; the previous one stays in use'),
  )

function readSetting(name: string, setting: Setting, env: Environment, problems: Problem[]): unknown {
  const fail = (text: string): void => {
    problems.push({ name, text: `${name}${text}` })
  }
  const text = textOf(name, setting, env, fail)
  if (text === undefined) return setting.type === 'list' ? split(setting.default ?? '') : setting.default
  const parsed = parse(setting, text)
  const refuse = (expected: string, items: readonly string[]): unknown => {
    const quoted = items.map((item) => JSON.stringify(shown(setting, item))).join(', ')
    fail(` must be ${expected}${setting.secret ? '' : `, got ${quoted}`}`)
    return setting.default
  }
  if (parsed instanceof Error) return refuse(parsed.message, [text])
  const { expected, takes } = setting.form ?? ANY
  const wrong = [parsed as string | readonly string[]].flat().filter((item) => !takes(item))
  if (wrong.length === 0) return parsed
  return refuse(setting.type === 'list' ? `${expected}, separated by commas` : expected, wrong)
}

const ANY: NonNullable<Setting['form']> = { expected: '', takes: () => true }

/** The value in the environment; undefined if there is none, and an empty variable counts as unset. */
function textOf(name: string, setting: Setting, env: Environment, fail: (text: string) => void): string | undefined {
  const own = env[name] || undefined
  const file = env[`${name}_FILE`]
  if (!setting.secret || !file) return own
  if (own !== undefined) fail(` and ${name}_FILE are both set; keep one`)
  try {
    const text = readFile(file).toString().trimEnd()
    // An empty file is a secret that was not delivered; continuing would mean running without it.
    if (text === '') fail(`_FILE names an empty file: ${file}`)
    return text || undefined
  } catch (error) {
    fail(`_FILE cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

/** The value, or an Error whose message completes "must be". */
function parse(setting: Setting, text: string): unknown {
  switch (setting.type) {
    case 'integer': {
      const value = /^-?\d(_?\d)*$/.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN
      const fits = Number.isSafeInteger(value) && value >= setting.minimum && value <= setting.maximum
      return fits ? value : new Error(`a whole number from ${setting.minimum} to ${setting.maximum}`)
    }
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : new Error('true or false')
    case 'choice':
      return setting.choices.includes(text) ? text : new Error(`one of ${setting.choices.join(', ')}`)
    case 'url':
      // White space around it, which URLs may have, would be in the middle once a path is appended.
      return /^https?:\/\//i.test(text.trim()) && URL.canParse(text) ? text.trim() : new Error('an http or https URL')
    case 'list': {
      const items = split(text)
      return items.length > 0 ? items : new Error('one or more values, separated by commas')
    }
    case 'text':
      return text
  }
}

const split = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Kubernetes names every Service of a namespace to its pods: one called `sluice-gateway` by `SLUICE_GATEWAY_SERVICE_HOST` and others. */
const namesService = (name: string, value = ''): boolean =>
  /_SERVICE_(?:HOST|PORT)|_PORT_\d+_(?:TCP|UDP|SCTP)/.test(name) || /^(?:tcp|udp|sctp):\/\//.test(value)

function unknownNames(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_') && !namesService(name, env[name]))
    .map((name) => {
      const meant = name.slice('SLUICE_'.length)
      const advice = Object.hasOwn(SETTINGS, meant) ? `use ${meant}` : 'see `sluice config print`'
      return `${name} is not a setting, as settings have no SLUICE_ prefix; ${advice}`
    })
}

/** A check of settings against each other. */
interface Check {
  readonly names: readonly SettingName[]
  /** The problem with these settings, each of which has the right type; false if there is none. */
  readonly problem: (config: Config) => string | false
}

const CHECKS: readonly Check[] = [
  {
    names: ['MAX_INFLATED_BYTES', 'MAX_BODY_BYTES'],
    problem: ({ MAX_INFLATED_BYTES: inflated, MAX_BODY_BYTES: body }) =>
      inflated < body && `MAX_INFLATED_BYTES (${inflated}) must be at least MAX_BODY_BYTES (${body})`,
  },
  {
    // A batch whose records come to more than three quarters of the buffer is refused all the same.
    names: ['PUBLISH_BUFFER_BYTES', 'MAX_INFLATED_BYTES'],
    problem: ({ PUBLISH_BUFFER_BYTES: buffer, MAX_INFLATED_BYTES: inflated }) =>
      buffer < inflated && `PUBLISH_BUFFER_BYTES (${buffer}) must be at least MAX_INFLATED_BYTES (${inflated})`,
  },
  {
    // When a body is almost inflated, it is held in both forms.
    names: ['BODY_BUFFER_BYTES', 'MAX_BODY_BYTES', 'MAX_INFLATED_BYTES'],
    problem: ({ BODY_BUFFER_BYTES: buffer, MAX_BODY_BYTES: body, MAX_INFLATED_BYTES: inflated }) =>
      buffer < body + inflated &&
      `BODY_BUFFER_BYTES (${buffer}) must be at least MAX_BODY_BYTES and MAX_INFLATED_BYTES together (${body + inflated})`,
  },
  {
    // The rest of the time is for the headers.
    names: ['REQUEST_TIMEOUT_MS', 'BODY_TIMEOUT_MS'],
    problem: ({ REQUEST_TIMEOUT_MS: request, BODY_TIMEOUT_MS: body }) =>
      request < body + 1_000 &&
      `REQUEST_TIMEOUT_MS (${request}) must be at least 1,000 more than BODY_TIMEOUT_MS (${body})`,
  },
  {
    names: ['METRICS_PORT', 'PORT'],
    problem: ({ METRICS_PORT: metrics, PORT: port }) =>
      metrics !== null &&
      metrics !== 0 &&
      metrics === port &&
      `METRICS_PORT (${metrics}) must differ from PORT; unset it to have /metrics on the main port`,
  },
  {
    names: ['OTLP_GRPC_PORT', 'PORT', 'METRICS_PORT'],
    problem: ({ OTLP_GRPC_PORT: grpc, PORT: port, METRICS_PORT: metrics }) =>
      grpc !== null &&
      grpc !== 0 &&
      (grpc === port || grpc === metrics) &&
      `OTLP_GRPC_PORT (${grpc}) must differ from PORT and METRICS_PORT`,
  },
  {
    names: ['ELASTICSEARCH_API_KEY', 'ELASTICSEARCH_USERNAME'],
    problem: ({ ELASTICSEARCH_API_KEY: key, ELASTICSEARCH_USERNAME: user }) =>
      key !== null && user !== null && 'ELASTICSEARCH_API_KEY and ELASTICSEARCH_USERNAME are both set; keep one',
  },
  {
    names: ['ELASTICSEARCH_USERNAME', 'ELASTICSEARCH_PASSWORD'],
    problem: ({ ELASTICSEARCH_USERNAME: user, ELASTICSEARCH_PASSWORD: password }) =>
      (user === null) !== (password === null) &&
      'ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD must be set together',
  },
  {
    names: ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'],
    problem: ({ KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: user, KAFKA_SASL_PASSWORD: password }) =>
      [user, password].some((value) => (value === null) !== (mechanism === 'none')) &&
      'KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD must be set together',
  },
  {
    names: ['KAFKA_SSL_CERT_FILE', 'KAFKA_SSL_KEY_FILE'],
    problem: ({ KAFKA_SSL_CERT_FILE: certificate, KAFKA_SSL_KEY_FILE: key }) =>
      (certificate === null) !== (key === null) && 'KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE must be set together',
  },
  {
    names: ['KAFKA_SSL', 'KAFKA_SSL_CA_FILE', 'KAFKA_SSL_CERT_FILE'],
    problem: ({ KAFKA_SSL: encrypted, KAFKA_SSL_CA_FILE: ca, KAFKA_SSL_CERT_FILE: certificate }) =>
      !encrypted &&
      (ca ?? certificate) !== null &&
      'KAFKA_SSL must be true where KAFKA_SSL_CA_FILE or _CERT_FILE is set',
  },
]

/** Skips checks of settings that are already invalid: they would check the default. */
const failedChecks = (config: Config, wrong: ReadonlySet<string>): string[] =>
  CHECKS.filter(({ names }) => !names.some((name) => wrong.has(name))).flatMap(({ problem }) => problem(config) || [])

/** Every setting with its value in this process, as text; secrets, and credentials in a URL, are masked. */
export function describeConfig(
  config: Config,
): readonly { name: string; value: string; default: string; help: string }[] {
  return Object.entries<Setting>(SETTINGS).map(([name, setting]) => ({
    name,
    value: shown(setting, String(config[name as SettingName] ?? '')),
    default: String(setting.default ?? ''),
    help: setting.help,
  }))
}

function shown(setting: Setting, value: string): string {
  if (setting.secret && value !== '') return '[redacted]'
  return setting.type === 'url' ? value.replace(/^(\w+:\/\/)?.*@/, '$1[redacted]@') : value
}

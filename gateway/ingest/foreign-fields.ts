import { numberText } from '../../shared/contract/exact-json.ts'
import { type Level, parseLevel } from '../../shared/contract/levels.ts'
import { type Fields, isObject } from './fields.ts'

/** Properties of an entry in another format, of which some become fields of ours; the rest is its scope data. */
export interface FieldExtractor {
  readonly rest: Fields
  /** Takes a property out where it can be read as its field; else it stays where it is. */
  take<Value>(name: string, read: (value: unknown) => Value | undefined): Value | undefined
  /** Puts back what was not read of a property. */
  put(name: string, value: unknown): void
}

/** Takes the properties for its own: they must be an object that nobody else has. */
export function createFieldExtractor(properties: Record<string, unknown>): FieldExtractor {
  return {
    rest: properties,
    take: (name, read) => {
      if (!Object.hasOwn(properties, name)) return undefined
      const value = read(properties[name])
      if (value !== undefined) delete properties[name]
      return value
    },
    put: (name, value) => {
      properties[name] = value
    },
  }
}

/** A text, or the text of a number; nothing where it is empty. */
export const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' ? value : numberText(value)) || undefined

/** Characters at both ends of a text in which a part of it is looked for, and of a part that is. */
const EDGE_CHARACTERS = 8_192
const PART_CHARACTERS_MAX = 512

/**
 * Whether a text says what a part says, near its beginning or its end. Looking for any text in any other would take time in proportion
 * to the product of their lengths, which are the sender's to choose.
 */
export function tells(text: string, part: string): boolean {
  if (part.length > PART_CHARACTERS_MAX) return text.startsWith(part) || text.trimEnd().endsWith(part)
  const edges =
    text.length > 2 * EDGE_CHARACTERS ? `${text.slice(0, EDGE_CHARACTERS)}\0${text.slice(-EDGE_CHARACTERS)}` : text
  return edges.includes(part)
}

/** An exception as many loggers send it. */
export interface ExceptionParts {
  readonly type: string | undefined
  readonly message: string | undefined
  readonly trace: string | undefined
}

/** The parts of an exception as one text: most stack traces begin with type and message, some end with them. */
export function titledTrace({ type, message, trace }: ExceptionParts): string | undefined {
  const title = [type, message].filter((part) => part !== undefined).join(': ')
  if (trace === undefined) return title || undefined
  return tells(trace, title) ? trace : `${title}\n${trace}`
}

/** A text that is not empty. */
export const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Names under which a logger's name is sent: by Serilog, by seqlog, by many, by OpenTelemetry's and by Elastic's conventions. */
const LOGGER_NAMES = ['SourceContext', 'LoggerName', 'logger', 'logger.name', 'log.logger'] as const

/** The name of the logger that an entry comes from; `names` are further properties that may hold it. */
export function takeLogger(extractor: FieldExtractor, ...names: readonly string[]): string | undefined {
  for (const name of [...LOGGER_NAMES, ...names]) {
    const logger = extractor.take(name, stringOf)
    if (logger !== undefined) return logger
  }
  return undefined
}

/** Names under which loggers of JavaScript send an error. */
const ERROR_NAMES = ['err', 'error'] as const

/** An error as a text, with the members that the text does not tell. */
interface ErrorText {
  readonly text: string
  readonly rest: Fields
}

/** The exception in an error that is an object, as pino sends it; what the exception does not tell stays where it was. */
export function takeError(extractor: FieldExtractor): string | undefined {
  for (const name of ERROR_NAMES) {
    const error = extractor.take(name, errorTextOf)
    if (error === undefined) continue
    if (Object.keys(error.rest).length > 0) extractor.put(name, error.rest)
    return error.text
  }
  return undefined
}

/** An error with a `stack`, or with `type` and `message`. */
function errorTextOf(error: unknown): ErrorText | undefined {
  if (!isObject(error)) return undefined
  const [type, message, stack] = [stringOf(error['type']), stringOf(error['message']), stringOf(error['stack'])]
  if (stack === undefined && (type === undefined || message === undefined)) return undefined
  const title = [type, message].filter((part) => part !== undefined)
  // The stack of V8 begins with the type and the message, that of other engines has neither.
  const isTitled = stack !== undefined && title.some((part) => tells(stack, part))
  const lines = isTitled ? [stack] : [title.join(': '), stack]
  const text = lines.filter((line) => line !== undefined && line !== '').join('\n')
  const isTold = (name: string, value: unknown): boolean =>
    ['type', 'message', 'stack'].includes(name) && typeof value === 'string' && (!isTitled || tells(text, value))
  return { text, rest: Object.fromEntries(Object.entries(error).filter(([name, value]) => !isTold(name, value))) }
}

const INT32_MIN = -2_147_483_648
const INT32_MAX = 2_147_483_647

/** A number that can be an eventId. A text is none, whatever it looks like: some hashes have no letters. */
export function eventIdOf(value: unknown): number | undefined {
  const number = Number(numberText(value))
  return Number.isInteger(number) && number >= INT32_MIN && number <= INT32_MAX ? number : undefined
}

/** The id of a trace or a span in hexadecimal digits (W3C Trace Context); all zeros are none. */
export const hexId = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[0-9a-f]+$/i.test(value) && /[^0]/.test(value) ? value.toLowerCase() : undefined

/**
 * The scope data of an entry that belongs to a trace: its own properties win over its ids, and these over what it shares with others.
 * Null where there is nothing.
 */
export function scopeDataOf(
  traceId: string | undefined,
  spanId: string | undefined,
  rest: Fields,
  shared: Fields = {},
): Fields | null {
  const ids = { ...(traceId !== undefined && { traceId }), ...(spanId !== undefined && { spanId }) }
  const scopeData = { ...shared, ...ids, ...rest }
  return Object.keys(scopeData).length === 0 ? null : scopeData
}

/** Names of our levels in other logging libraries, in lower case: Serilog, syslog, log4j, Python, npm and their short forms. */
const LEVEL_BY_NAME: ReadonlyMap<string, Level> = new Map(
  Object.entries({
    Trace: ['verbose', 'vrb', 'finest', 'silly', 't', 'trc'],
    Debug: ['dbg', 'fine', 'finer', 'config', 'http', 'd'],
    Information: ['info', 'inf', 'informational', 'notice', 'success', 'i'],
    Warning: ['warn', 'wrn', 'w'],
    Error: ['err', 'severe', 'e'],
    Critical: ['fatal', 'ftl', 'crit', 'alert', 'emergency', 'emerg', 'panic', 'dpanic', 'f', 'c'],
  } satisfies Record<Level, readonly string[]>).flatMap(([level, names]) =>
    names.map((name): [string, Level] => [name, level as Level]),
  ),
)

/** The level that a name of another library stands for, in any case; undefined where it stands for none. */
export const foreignLevel = (name: string): Level | undefined =>
  parseLevel(name) ?? LEVEL_BY_NAME.get(name.toLowerCase())

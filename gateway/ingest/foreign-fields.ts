import { numberText, setOwn } from '../../shared/contract/exact-json.ts'
import { type Level, parseLevel } from '../../shared/contract/levels.ts'
import { type Fields, isObject } from './fields.ts'

/** The properties of an entry in another format: some become fields of ours, the rest is its scope data. */
export interface FieldExtractor {
  readonly rest: Fields
  /** Removes and returns a property if `read` accepts it; otherwise leaves it where it is. */
  take<Value>(name: string, read: (value: unknown) => Value | undefined): Value | undefined
  /** Puts back the part of a property that was not read. */
  put(name: string, value: unknown): void
}

/** Takes ownership of the properties, which it changes: nobody else may use the object. */
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

/** A text, or a number as text; undefined if it is empty. */
export const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' ? value : numberText(value)) || undefined

/** Characters at each end of a text that are searched for a part, and the longest part searched for there. */
const EDGE_CHARACTERS = 8_192
const PART_CHARACTERS_MAX = 512

/**
 * Whether a text contains a part near its beginning or its end. Searching all of it could take time proportional to the product of both
 * lengths, which the sender chooses.
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

/** The parts of an exception as one text; type and message are prepended unless the stack trace begins or ends with them, as most do. */
export function titledTrace({ type, message, trace }: ExceptionParts): string | undefined {
  const title = [type, message].filter((part) => part !== undefined).join(': ')
  if (trace === undefined) return title || undefined
  return tells(trace, title) ? trace : `${title}\n${trace}`
}

/** A text that is not empty; otherwise undefined. */
export const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Properties with a logger's name: of Serilog, of seqlog, of many loggers, and of OpenTelemetry's and Elastic's conventions. */
const LOGGER_NAMES = ['SourceContext', 'LoggerName', 'logger', 'logger.name', 'log.logger'] as const

/** The name of the logger that wrote an entry; `names` are further properties that may hold it. */
export function takeLogger(extractor: FieldExtractor, ...names: readonly string[]): string | undefined {
  for (const name of [...LOGGER_NAMES, ...names]) {
    const logger = extractor.take(name, stringOf)
    if (logger !== undefined) return logger
  }
  return undefined
}

/** Properties in which JavaScript loggers send an error. */
const ERROR_NAMES = ['err', 'error'] as const

/** An error as text, and the members that are not in the text. */
interface ErrorText {
  readonly text: string
  readonly rest: Fields
}

/** Takes the exception out of an error object such as pino sends; members that are not in its text stay where they were. */
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
  // V8's stacks begin with type and message; those of other engines have neither.
  const isTitled = stack !== undefined && title.some((part) => tells(stack, part))
  const lines = isTitled ? [stack] : [title.join(': '), stack]
  const text = lines.filter((line) => line !== undefined && line !== '').join('\n')
  const isTold = (name: string, value: unknown): boolean =>
    ['type', 'message', 'stack'].includes(name) && typeof value === 'string' && (!isTitled || tells(text, value))
  return { text, rest: Object.fromEntries(Object.entries(error).filter(([name, value]) => !isTold(name, value))) }
}

const INT32_MIN = -2_147_483_648
const INT32_MAX = 2_147_483_647

/** A number that can be an eventId (int32). A text of digits cannot: some hashes have no letters. */
export function eventIdOf(value: unknown): number | undefined {
  const number = Number(numberText(value))
  return Number.isInteger(number) && number >= INT32_MIN && number <= INT32_MAX ? number : undefined
}

/** The hexadecimal id of a trace or a span, in lower case (W3C Trace Context); all zeros are invalid. */
export const hexId = (value: unknown): string | undefined =>
  typeof value === 'string' && /^(?!0+$)[0-9a-f]+$/i.test(value) ? value.toLowerCase() : undefined

/** A trace or span id for scope data: one that is not hexadecimal stays as it was sent. Undefined for none, and for all zeros. */
export const sentIdOf = (value: unknown): unknown =>
  hexId(value) ?? (/^0*$/.test(textOf(value) ?? '') ? undefined : value)

/**
 * Merges the scope data of an entry: its own properties take precedence over its trace ids, and those over `shared`, which other entries
 * have too. Null if there is nothing.
 */
export function scopeDataOf(traceId: unknown, spanId: unknown, rest: Fields, shared: Fields = {}): Fields | null {
  const scopeData: Record<string, unknown> = { ...shared }
  if (traceId !== undefined) scopeData['traceId'] = traceId
  if (spanId !== undefined) scopeData['spanId'] = spanId
  // Objects that are filled name by name share their layout with those of other entries; spread together, each has one of its own.
  for (const name in rest) setOwn(scopeData, name, rest[name])
  for (const _name in scopeData) return scopeData
  return null
}

/** Maximum characters of a message made from an entry's other fields; all of these are in its scope data. */
const SUMMARY_CHARACTERS_MAX = 1_024

/** The message of an entry that has none: the beginning of its other fields as JSON; undefined if it has nothing else. */
export function summaryOf(rest: Fields): string | undefined {
  if (Object.keys(rest).length === 0) return undefined
  return JSON.stringify(rest).slice(0, SUMMARY_CHARACTERS_MAX).toWellFormed()
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

/** The level of ours that a name in any library and any case stands for; undefined if it is unknown. */
export const foreignLevel = (name: string): Level | undefined =>
  parseLevel(name) ?? LEVEL_BY_NAME.get(name.toLowerCase())

import { numberText, setOwn } from '../../shared/contract/exact-json.ts'
import { type Level, parseLevel } from '../../shared/contract/levels.ts'
import type { Fields } from './fields.ts'

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

/** Takes the first of these properties that `read` accepts. */
export function takeFirst<Value>(
  { take }: FieldExtractor,
  names: readonly string[],
  read: (value: unknown) => Value | undefined,
): Value | undefined {
  for (const name of names) {
    const value = take(name, read)
    if (value !== undefined) return value
  }
  return undefined
}

/** The first of these names whose property `read` accepts. */
export const firstName = (
  properties: Fields,
  names: readonly string[],
  read: (value: unknown) => unknown,
): string | undefined => names.find((name) => read(properties[name]) !== undefined)

/** A text, or a number as text; undefined if it is empty. */
export const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' ? value : numberText(value)) || undefined

/** A text that is not empty; otherwise undefined. */
export const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** A text without its final line break, unless that is the whole text. */
export const lineOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.replace(/\r?\n$/, '') || value : undefined

/** The first line of a text that is not blank. */
export const firstLineOf = (text: string | undefined): string | undefined => text && (/\S.*/.exec(text)?.[0] ?? text)

/** Properties with a logger's name: of Serilog, of seqlog, of many loggers, and of OpenTelemetry's and Elastic's conventions. */
export const LOGGER_NAMES: readonly string[] = ['SourceContext', 'LoggerName', 'logger', 'logger.name', 'log.logger']

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

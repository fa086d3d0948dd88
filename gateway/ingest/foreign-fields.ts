import { numberText } from '../../shared/contract/exact-json.ts'
import { type Level, parseLevel } from '../../shared/contract/levels.ts'
import type { Fields } from './fields.ts'

/** Properties of an entry in another format, of which some become fields of ours; the rest is its scope data. */
export interface FieldExtractor {
  readonly rest: Fields
  /** Takes a property out where it can be read as its field; else it stays where it is. */
  take<Value>(name: string, read: (value: unknown) => Value | undefined): Value | undefined
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
  }
}

/** A text, or the text of a number; nothing where it is empty. */
export const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' ? value : numberText(value)) || undefined

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

/** The scope data of an entry that belongs to a trace; its own properties win. Null where there is nothing. */
export function scopeDataOf(traceId: string | undefined, spanId: string | undefined, rest: Fields): Fields | null {
  const ids = { ...(traceId !== undefined && { traceId }), ...(spanId !== undefined && { spanId }) }
  const scopeData = { ...ids, ...rest }
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

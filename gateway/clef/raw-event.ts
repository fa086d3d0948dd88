import { setOwn } from '../../shared/contract/exact-json.ts'
import { type Fields, isObject } from '../ingest/fields.ts'

/**
 * Converts to CLEF an event in the JSON that Seq's clients sent before CLEF, and that Serilog's JsonFormatter still writes; returns any
 * other event unchanged. In that JSON, `Properties` holds the user's properties, and `Renderings` the renderings of the template's holes by
 * name.
 */
export function inClef(event: Fields): Fields {
  if (isInClef(event)) return event
  const { Timestamp, Level, MessageTemplate, RenderedMessage, Exception, TraceId, SpanId, ...others } = event
  const { EventId, Properties, Renderings, ...rest } = others
  const clef: Record<string, unknown> = {}
  const own = isObject(Properties) ? Properties : present({ Properties })
  // CLEF doubles an `@` at the start of a name.
  for (const properties of [rest, own, isObject(EventId) ? { EventId } : {}])
    for (const name in properties) setOwn(clef, name.startsWith('@') ? `@${name}` : name, properties[name])
  const reified = {
    '@t': Timestamp,
    '@l': Level,
    '@mt': MessageTemplate,
    '@m': RenderedMessage,
    '@x': Exception,
    '@i': isObject(EventId) ? null : EventId,
    '@tr': TraceId,
    '@sp': SpanId,
    '@r': renderingsOf(Renderings),
  }
  return Object.assign(clef, present(reified))
}

/** CLEF's reified properties, and their names in the older JSON. */
const RAW_NAMES: Readonly<Record<string, string>> = {
  '@t': 'Timestamp',
  '@l': 'Level',
  '@mt': 'MessageTemplate',
  '@m': 'RenderedMessage',
  '@tr': 'TraceId',
}

/** The names of the members that lead to a reified or a user's own property of an event. */
export function pathIn(event: Fields, name: string): readonly string[] {
  if (isInClef(event)) return [name]
  const { Properties } = event
  return isObject(Properties) && name in Properties ? ['Properties', name] : [RAW_NAMES[name] ?? name]
}

/** Every CLEF event that has a message has one of these. */
const CLEF_NAMES = ['@t', '@m', '@mt', '@x']

/** Every event in the older JSON has a text under one of these. */
const RAW_TEXTS = ['MessageTemplate', 'RenderedMessage', 'Exception']

const isInClef = (event: Fields): boolean =>
  CLEF_NAMES.some((name) => event[name] !== undefined) || !RAW_TEXTS.some((name) => typeof event[name] === 'string')

const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

/** The renderings of the formatted holes, in template order; undefined if the order across several names is unknown. */
function renderingsOf(renderings: unknown): readonly unknown[] | undefined {
  if (!isObject(renderings)) return undefined
  const byName = Object.values(renderings).map((list) => (Array.isArray(list) ? list : []))
  if (byName.length > 1 && byName.some(({ length }) => length > 1)) return undefined
  return byName.flat().map((one) => (isObject(one) ? one['Rendering'] : undefined))
}

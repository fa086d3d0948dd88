import { type Fields, isObject } from '../ingest/fields.ts'

/**
 * An event in the JSON that Seq's clients sent before there was CLEF, and Serilog's JsonFormatter still writes, as one in CLEF; any other
 * stays as it is. It has `Properties` for those of the user, and the renderings of its holes by their names.
 */
export function inClef(event: Fields): Fields {
  if (CLEF_NAMES.some((name) => event[name] !== undefined)) return event
  if (!RAW_TEXTS.some((name) => typeof event[name] === 'string')) return event
  const { Timestamp, Level, MessageTemplate, RenderedMessage, Exception, TraceId, SpanId, ...others } = event
  const { EventId, Properties, Renderings, ...rest } = others
  return {
    ...ownProperties({
      ...rest,
      ...(isObject(Properties) ? Properties : present({ Properties })),
      ...(isObject(EventId) && { EventId }),
    }),
    ...present({
      '@t': Timestamp,
      '@l': Level,
      '@mt': MessageTemplate,
      '@m': RenderedMessage,
      '@x': Exception,
      '@i': isObject(EventId) ? null : EventId,
      '@tr': TraceId,
      '@sp': SpanId,
      '@r': renderingsOf(Renderings),
    }),
  }
}

/** One of these is in every event that is CLEF and has a message. */
const CLEF_NAMES = ['@t', '@m', '@mt', '@x']

/** One of these is a text in every such event. */
const RAW_TEXTS = ['MessageTemplate', 'RenderedMessage', 'Exception']

/** CLEF sends an `@` that a name begins with twice. */
const ownProperties = (properties: Fields): Fields =>
  Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name.startsWith('@') ? `@${name}` : name, value]),
  )

const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

/** The texts of holes that have a format, in their order; none where a name has several, as these may stand apart. */
function renderingsOf(renderings: unknown): readonly unknown[] | undefined {
  if (!isObject(renderings)) return undefined
  const byName = Object.values(renderings).map((list) => (Array.isArray(list) ? list : []))
  if (byName.length > 1 && byName.some(({ length }) => length > 1)) return undefined
  return byName.flat().map((one) => (isObject(one) ? one['Rendering'] : undefined))
}

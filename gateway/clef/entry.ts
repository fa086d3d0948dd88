import { type Checked, problemSaying, refuse } from '../../shared/contract/errors.ts'
import { numberText } from '../../shared/contract/exact-json.ts'
import { renderTemplate } from '../../shared/message-template.ts'
import type { Project } from '../../shared/registry/registry.ts'
import type { Fields } from '../ingest/fields.ts'
import {
  createFieldExtractor,
  eventIdOf,
  foreignLevel,
  hexId,
  scopeDataOf,
  sentIdOf,
  stringOf,
  takeError,
  takeLogger,
  textOf,
} from '../ingest/foreign-fields.ts'
import type { SentEvent } from '../json-events/events.ts'
import { inClef } from './raw-event.ts'

/** CLEF's reified properties, and the trace and span ids that Seq's clients add; all others are the user's own. */
const REIFIED: ReadonlySet<string> = new Set(['@t', '@m', '@mt', '@l', '@x', '@i', '@r', '@tr', '@sp'])

/** Maximum length of a rendered message relative to its line. Only a template that repeats its properties exceeds it. */
const MESSAGE_PER_LINE_MAX = 4

/** Maps an event to the fields of an application log. Properties without a field of their own become scope data. */
export function entryOf({ characters, event: sent }: SentEvent, project: Project): Checked<Fields> {
  if (sent.problem !== undefined) return sent
  const event = inClef(sent.value)
  const extractor = createFieldExtractor(propertiesOf(event))
  const own = messageOf(event, extractor.rest, characters * MESSAGE_PER_LINE_MAX)
  const exception = exceptionOf(event['@x']) ?? takeError(extractor)
  const message = own ?? exception?.split('\n', 1)[0]
  if (message === undefined) return NO_MESSAGE
  if (message === TOO_LONG) return MESSAGE_TOO_LONG
  const traceId = hexId(event['@tr'])
  const fields = {
    categoryName: takeLogger(extractor) ?? project.name,
    environment: extractor.take('EnvironmentName', stringOf) ?? extractor.take('Environment', stringOf),
    message,
    level: levelOf(event['@l']),
    exception,
    eventId: eventIdOf(event['@i']),
    correlationKey: extractor.take('correlationKey', textOf) ?? extractor.take('CorrelationId', textOf) ?? traceId,
    timestamp: timeOf(event['@t']),
  }
  const rest = { ...leftOver(event, fields), ...extractor.rest }
  return { value: { ...fields, scopeData: scopeDataOf(sentIdOf(event['@tr']), sentIdOf(event['@sp']), rest) } }
}

const NO_MESSAGE: Checked<Fields> = {
  problem: problemSaying(
    'missing_message',
    'The event has no message. Send @m, @mt or @x, or in the older JSON RenderedMessage, MessageTemplate or Exception.',
  ),
}

const TOO_LONG = Symbol('too long')

const MESSAGE_TOO_LONG: Checked<Fields> = refuse('invalid_request', [
  {
    path: '/@mt',
    message: `must not make a message of more than ${MESSAGE_PER_LINE_MAX} times its line; send the message as @m`,
  },
])

/** The user's own properties under their real names: CLEF doubles an `@` at the start of such a name. */
const propertiesOf = (event: Fields): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(event)
      .filter(([name]) => !REIFIED.has(name))
      .map(([name, value]) => [name.startsWith('@@') ? name.slice(1) : name, value]),
  )

/** The message of an event, of any type; undefined if it has none. */
function messageOf(event: Fields, properties: Fields, charactersMax: number): unknown {
  const { '@m': message, '@mt': template, '@r': renderings } = event
  if (!isAbsent(message)) return message
  if (isAbsent(template)) return undefined
  if (typeof template !== 'string') return template
  const rendered = renderTemplate(template, properties, Array.isArray(renderings) ? renderings : [], charactersMax)
  // Empty properties can leave an empty text, which would count as no message.
  return rendered === undefined ? TOO_LONG : rendered || template
}

/** Reified properties that no field of ours keeps: a template that differs from the message, and an id that is not an int32. */
function leftOver({ '@mt': template, '@i': id }: Fields, { message, eventId }: Fields): Fields {
  return {
    ...(!isAbsent(template) && template !== message && { '@mt': template }),
    ...(!isAbsent(id) && eventId === undefined && { '@i': id }),
  }
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''

/** The exception: a text unchanged, any other value as JSON. */
function exceptionOf(value: unknown): string | undefined {
  if (isAbsent(value)) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A time, of whatever type, as text: the entry check then refuses it by the sender's name for it. */
const timeOf = (value: unknown): unknown =>
  typeof value === 'string' || isAbsent(value) ? value : (numberText(value) ?? JSON.stringify(value))

/** Information if the event has no level. An unknown level is passed on, a number as text, for the entry check to refuse or replace. */
const levelOf = (value: unknown): unknown =>
  isAbsent(value)
    ? 'Information'
    : typeof value === 'string'
      ? (foreignLevel(value) ?? value)
      : (numberText(value) ?? value)

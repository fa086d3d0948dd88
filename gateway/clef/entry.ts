import { type Checked, problemSaying, refuseFields } from '../../shared/contract/errors.ts'
import { numberText, setOwn } from '../../shared/contract/exact-json.ts'
import { renderTemplate } from '../../shared/message-template.ts'
import type { Project } from '../../shared/registry/registry.ts'
import { takeError } from '../ingest/exception.ts'
import { type Fields, isMissing } from '../ingest/fields.ts'
import {
  createFieldExtractor,
  eventIdOf,
  firstLineOf,
  firstName,
  foreignLevel,
  hexId,
  LOGGER_NAMES,
  scopeDataOf,
  sentIdOf,
  stringOf,
  takeFirst,
  textOf,
} from '../ingest/foreign-fields.ts'
import type { PlaceOf } from '../ingest/foreign-refusal.ts'
import { inClef, pathIn } from './raw-event.ts'

/** CLEF's reified properties, and the trace and span ids that Seq's clients add; all others are the user's own. */
const REIFIED: ReadonlySet<string> = new Set(['@t', '@m', '@mt', '@l', '@x', '@i', '@r', '@tr', '@sp'])

/** Properties that become fields of ours. */
const ENVIRONMENT_NAMES = ['EnvironmentName', 'Environment']
const CORRELATION_NAMES = ['correlationKey', 'CorrelationId']

/** Maximum length of a rendered message relative to its line. Only a template that repeats its properties exceeds it. */
const MESSAGE_PER_LINE_MAX = 4

/** Maps an event, of so many characters, to the fields of an application log. Properties without a field of their own become scope data. */
export function entryOf(sent: Fields, characters: number, project: Project): Checked<Fields> {
  const event = inClef(sent)
  const extractor = createFieldExtractor(propertiesOf(event))
  const own = messageOf(event, extractor.rest, characters * MESSAGE_PER_LINE_MAX)
  const exception = exceptionOf(event['@x']) ?? takeError(extractor)
  const message = own ?? firstLineOf(exception)
  if (message === undefined) return NO_MESSAGE
  if (message === TOO_LONG) return MESSAGE_TOO_LONG
  const fields = {
    categoryName: takeFirst(extractor, LOGGER_NAMES, stringOf) ?? project.name,
    environment: takeFirst(extractor, ENVIRONMENT_NAMES, stringOf),
    message,
    level: levelOf(event['@l']),
    exception,
    eventId: eventIdOf(event['@i']),
    correlationKey: takeFirst(extractor, CORRELATION_NAMES, textOf) ?? hexId(event['@tr']),
    timestamp: timeOf(event['@t']),
  }
  const [traceId, spanId] = [sentIdOf(event['@tr']), sentIdOf(event['@sp'])]
  return { value: { ...fields, scopeData: scopeDataOf(traceId, spanId, extractor.rest, leftOver(event, fields)) } }
}

const NO_MESSAGE: Checked<Fields> = {
  problem: problemSaying(
    'missing_message',
    'The event has no message. Send @m, @mt or @x, or in the older JSON RenderedMessage, MessageTemplate or Exception.',
  ),
}

const TOO_LONG = Symbol('too long')

const MESSAGE_TOO_LONG: Checked<Fields> = refuseFields([
  {
    path: '/message',
    message: `must not make a message of more than ${MESSAGE_PER_LINE_MAX} times its line; send the message itself, not its template`,
  },
])

/** The places in an event from which fields are taken. */
export function placesIn(sent: Fields): PlaceOf {
  const event = inClef(sent)
  const properties = propertiesOf(event)

  function nameOf(field: string): string | undefined {
    switch (field) {
      case 'categoryName':
        return firstName(properties, LOGGER_NAMES, stringOf)
      case 'environment':
        return firstName(properties, ENVIRONMENT_NAMES, stringOf)
      case 'correlationKey':
        return firstName(properties, CORRELATION_NAMES, textOf) ?? '@tr'
      case 'message':
        return isMissing(event['@m']) ? '@mt' : '@m'
      case 'level':
        return '@l'
      case 'timestamp':
        return '@t'
      default:
        return undefined
    }
  }

  return (field) => {
    const name = nameOf(field)
    return name === undefined ? undefined : pathIn(sent, name)
  }
}

/** The user's own properties under their real names: CLEF doubles an `@` at the start of such a name. */
function propertiesOf(event: Fields): Record<string, unknown> {
  const own: Record<string, unknown> = {}
  for (const name in event)
    if (!REIFIED.has(name)) setOwn(own, name.startsWith('@@') ? name.slice(1) : name, event[name])
  return own
}

/** The message of an event, of any type; undefined if it has none. */
function messageOf(event: Fields, properties: Fields, charactersMax: number): unknown {
  const { '@m': message, '@mt': template, '@r': renderings } = event
  if (!isMissing(message)) return message
  if (isMissing(template)) return undefined
  if (typeof template !== 'string') return template
  const rendered = renderTemplate(template, properties, Array.isArray(renderings) ? renderings : [], charactersMax)
  // Empty properties can leave an empty text, which would count as no message.
  return rendered === undefined ? TOO_LONG : rendered || template
}

/** Reified properties that no field of ours keeps: a template that differs from the message, and an id that is not an int32. */
function leftOver({ '@mt': template, '@i': id }: Fields, { message, eventId }: Fields): Fields {
  return {
    ...(!isMissing(template) && template !== message && { '@mt': template }),
    ...(!isMissing(id) && eventId === undefined && { '@i': id }),
  }
}

/** The exception: a text unchanged, any other value as JSON. */
function exceptionOf(value: unknown): string | undefined {
  if (isMissing(value)) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A time, of whatever type, as text for the entry check to refuse. */
const timeOf = (value: unknown): unknown =>
  typeof value === 'string' || isMissing(value) ? value : (numberText(value) ?? JSON.stringify(value))

/** Information if the event has no level. An unknown level is passed on, a number as text, for the entry check to refuse or replace. */
const levelOf = (value: unknown): unknown =>
  isMissing(value)
    ? 'Information'
    : typeof value === 'string'
      ? (foreignLevel(value) ?? value)
      : (numberText(value) ?? value)

import { type Checked, problem, refuse } from '../../shared/contract/errors.ts'
import { renderTemplate } from '../../shared/message-template.ts'
import type { Project } from '../../shared/registry/registry.ts'
import type { Fields } from '../ingest/fields.ts'
import {
  createFieldExtractor,
  eventIdOf,
  foreignLevel,
  hexId,
  scopeDataOf,
  stringOf,
  takeError,
  takeLogger,
  textOf,
} from '../ingest/foreign-fields.ts'
import type { SentEvent } from '../json-events/events.ts'
import { inClef } from './raw-event.ts'

/** Properties with a meaning in the format, beside the trace and span that Seq's clients add; all others are the user's own. */
const REIFIED: ReadonlySet<string> = new Set(['@t', '@m', '@mt', '@l', '@x', '@i', '@r', '@tr', '@sp'])

/** A message that is so many times longer than its line can only come of a template that repeats its properties. */
const MESSAGE_PER_LINE_MAX = 4

/** An event as the fields of an application log. What has no field of its own is scope data. */
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
    timestamp: event['@t'],
  }
  const rest = { ...leftOver(event, fields), ...extractor.rest }
  return { value: { ...fields, scopeData: scopeDataOf(traceId, hexId(event['@sp']), rest) } }
}

const NO_MESSAGE: Checked<Fields> = {
  problem: { ...problem('missing_message'), message: 'The event has no message. Send @m, @mt or @x.' },
}

const TOO_LONG = Symbol('too long')

const MESSAGE_TOO_LONG: Checked<Fields> = refuse('invalid_request', [
  {
    path: '/@mt',
    message: `must not make a message of more than ${MESSAGE_PER_LINE_MAX} times its line; send the message as @m`,
  },
])

/** The user's own properties, by their own names: an `@` that such a name begins with is sent twice. */
const propertiesOf = (event: Fields): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(event)
      .filter(([name]) => !REIFIED.has(name))
      .map(([name, value]) => [name.startsWith('@@') ? name.slice(1) : name, value]),
  )

/** The message of an event, whatever its type; undefined where it has none. */
function messageOf(event: Fields, properties: Fields, charactersMax: number): unknown {
  const { '@m': message, '@mt': template, '@r': renderings } = event
  if (!isAbsent(message)) return message
  if (isAbsent(template)) return undefined
  if (typeof template !== 'string') return template
  const rendered = renderTemplate(template, properties, Array.isArray(renderings) ? renderings : [], charactersMax)
  // Properties that are all empty can leave nothing, which would be no message.
  return rendered === undefined ? TOO_LONG : rendered || template
}

/** Properties with a meaning that none of our fields has: the template, where the message is another, and an id that is no number. */
function leftOver({ '@mt': template, '@i': id }: Fields, { message, eventId }: Fields): Fields {
  return {
    ...(!isAbsent(template) && template !== message && { '@mt': template }),
    ...(!isAbsent(id) && eventId === undefined && { '@i': id }),
  }
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''

/** An error in whatever form its language gives it: a text as it is, all else as JSON. */
function exceptionOf(value: unknown): string | undefined {
  if (isAbsent(value)) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Without a level an event is informational; one that names none of ours is left to be judged as it is. */
const levelOf = (value: unknown): unknown =>
  isAbsent(value) ? 'Information' : typeof value === 'string' ? (foreignLevel(value) ?? value) : value

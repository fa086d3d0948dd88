import { type Checked, problemSaying } from '../../shared/contract/errors.ts'
import type { Project } from '../../shared/registry/registry.ts'
import { entryOf as entryOfClef, placesIn as placesInClef } from '../clef/entry.ts'
import { errorOf, exceptionOf, titledTrace, traceOf } from '../ingest/exception.ts'
import { type Fields, isObject } from '../ingest/fields.ts'
import { eventIdOf, firstLineOf, hexId, lineOf, scopeDataOf, summaryOf, textOf } from '../ingest/foreign-fields.ts'
import type { PlaceOf } from '../ingest/foreign-refusal.ts'
import { type Found, type FoundFields, findFields } from './found.ts'
import { jsonOf, levelIn, textOfBytes, timeOf } from './values.ts'

/**
 * Maps an entry of any logger to the fields of an application log by the names in `ALIASES`; entries of Serilog are mapped as CLEF. Members
 * without a field of their own become scope data.
 */
export function entryOf(entry: Fields, characters: number, project: Project): Checked<Fields> {
  if (isOfSerilog(entry)) return entryOfClef(entry, characters, project)
  const found = findFields(entry)
  const { take } = found
  const level = takeLevel(found)
  const exception = takeException(found)
  const traceId = take('traceId', READ.traceId)
  const spanId = take('spanId', hexId)
  const eventName = take('eventName', READ.eventName)
  const ownMessage = takeMessage(found)
  const fields = {
    categoryName: take('categoryName', READ.categoryName) ?? project.name,
    environment: take('environment', READ.environment),
    level,
    exception,
    eventName,
    eventId: take('eventId', eventIdOf),
    correlationKey: take('correlationKey', READ.correlationKey) ?? traceId,
    timestamp: take('timestamp', (value, { name }) =>
      timeOf(name === 'timestampseconds' ? { seconds: value, nanos: entry['timestampNanos'] } : value),
    ),
  }
  const scopeData = take('scopeData', (value) => (isObject(value) ? value : undefined))
  const rest = merged(scopeData, found.rest(), scopeDataOf(traceId, spanId, {}))
  const message = ownMessage ?? eventName ?? firstLineOf(exception) ?? summaryOf(rest)
  if (message === undefined) return NO_MESSAGE
  return { value: { ...fields, message, scopeData: scopeDataOf(traceId, spanId, rest) } }
}

/** The readers of fields whose values can be too long. */
const READ = { categoryName: lineOf, environment: lineOf, correlationKey: textOf, traceId: hexId, eventName: textOf }

/** The places in an entry from which fields are taken. */
export function placesIn(entry: Fields): PlaceOf {
  if (isOfSerilog(entry)) return placesInClef(entry)
  const found = findFields(entry)
  const first = (field: keyof typeof READ): Found | undefined =>
    found.of(field).find(({ value }) => READ[field](value) !== undefined)
  return (field) => {
    if (field === 'level') return unreadLevel(found)?.path
    if (field === 'correlationKey') return (first(field) ?? first('traceId'))?.path
    return Object.hasOwn(READ, field) ? first(field as keyof typeof READ)?.path : undefined
  }
}

/** The members of the entry's own scope data beside its other ones; if a name has two values, the scope data stays an object of its own. */
function merged(scopeData: Fields | undefined, others: Fields, ids: Fields | null): Fields {
  if (scopeData === undefined) return others
  const taken: Fields = { ...others, ...ids }
  const isTaken = Object.entries(scopeData).some(([name, value]) => Object.hasOwn(taken, name) && taken[name] !== value)
  return isTaken ? { ...others, scopeData } : { ...scopeData, ...others }
}

const NO_MESSAGE: Checked<Fields> = {
  problem: problemSaying(
    'missing_message',
    'The entry has no message, and nothing else that could stand for it. Send message, msg or log.',
  ),
}

/** Names that only Serilog's CLEF has. */
const SERILOG_NAMES = ['@t', '@m', '@mt']

/** Whether an entry is in one of the formats of Serilog. Other loggers have message templates as well, but name the time otherwise. */
const isOfSerilog = (entry: Fields): boolean =>
  SERILOG_NAMES.some((name) => entry[name] !== undefined) ||
  (typeof entry['MessageTemplate'] === 'string' && entry['Timestamp'] !== undefined)

/** A text; otherwise any value as JSON, if its name is only used for messages. */
function takeMessage({ of, take }: FoundFields): string | undefined {
  const isOfJournald = of('timestamp').some(({ name }) => name === JOURNALD_TIME)
  return (
    take('message', (value) => lineOf(value) ?? (isOfJournald ? lineOf(textOfBytes(value)) : undefined)) ??
    take('message', (value, { name }) => (/(?:message|msg)$/.test(name) ? jsonOf(value) : undefined))
  )
}

/** `__REALTIME_TIMESTAMP`, as `Found.name` has it. */
const JOURNALD_TIME = 'realtimetimestamp'

/** Information if the entry has no level. An unknown level is passed on unchanged for the entry check to refuse or replace. */
const takeLevel = (found: FoundFields): string =>
  found.take('level', (value, { name }) => levelIn(value, name)) ?? textOf(unreadLevel(found)?.value) ?? 'Information'

/** A `priority` may mean something other than a level. */
const unreadLevel = ({ of }: FoundFields): Found | undefined =>
  of('level').find(({ name, value }) => name !== 'priority' && textOf(value) !== undefined)

/** The exception of an entry as one text, with its stack trace and its causes. */
function takeException({ take, of }: FoundFields): string | undefined {
  const exception = exceptionOf({
    type: take('exceptionType', lineOf),
    message: take('exceptionMessage', lineOf),
    trace: take('exceptionTrace', (value, { name }) =>
      name === 'fullmessage' ? traceInMessage(value) : traceOf(value),
    ),
    cause: take('exceptionCause', (value, _found, leave) => {
      const cause = errorOf(value)
      if (cause !== undefined) leave(cause.rest)
      return cause?.text
    }),
  })
  return (
    exception ??
    of('exceptionMessage')
      .map(({ value }) => tracebacksOf(value))
      .find(Boolean)
  )
}

/** The list that structlog's `dict_tracebacks` makes of an exception and its causes. It stays in the entry, as it has more than the text. */
function tracebacksOf(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined
  const texts = value
    .filter(isObject)
    .map(({ exc_type: type, exc_value: message, frames }) =>
      titledTrace({ type: lineOf(type), message: lineOf(message), trace: traceOf(frames) }),
    )
  return texts.filter((text) => text !== undefined).join('\nCaused by: ') || undefined
}

/** GELF's full message often just repeats the short one, so it counts only if it has a stack trace. */
const traceInMessage = (value: unknown): string | undefined =>
  typeof value === 'string' && /^(?:[ \t]{1,8}at |Traceback |Caused by: )/m.test(value) ? lineOf(value) : undefined

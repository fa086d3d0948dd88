import { type Checked, problemSaying } from '../../shared/contract/errors.ts'
import { fitsDepth, isExactNumber, numberText } from '../../shared/contract/exact-json.ts'
import { LEVELS, type Level } from '../../shared/contract/levels.ts'
import { fromNanoDigits } from '../../shared/contract/timestamp.ts'
import { ERROR_NAMES, takeError, titledTrace } from '../ingest/exception.ts'
import { type Fields, isObject } from '../ingest/fields.ts'
import {
  createFieldExtractor,
  eventIdOf,
  type FieldExtractor,
  firstLineOf,
  firstName,
  foreignLevel,
  hexId,
  scopeDataOf,
  sentIdOf,
  stringOf,
  summaryOf,
  takeFirst,
  textOf,
} from '../ingest/foreign-fields.ts'
import type { PlaceOf } from '../ingest/foreign-refusal.ts'
import { SCOPE_DEPTH_MAX } from '../schemas/requests.ts'
import type { LogRecord } from './log-records.ts'
import { BRIDGED_LOGGER_NAMES, type Origin } from './origins.ts'

/** OTLP has four severity numbers per level. */
const NUMBERS_PER_LEVEL = 4

/** Attributes with the event's name in the older conventions, and as older SDKs for .NET send it. */
const EVENT_NAMES = ['event.name', 'logrecord.event.name']
const CORRELATION_NAMES = ['correlationKey', 'sluice.correlation_key']

const EVENT_ID = 'logrecord.event.id'
const EXCEPTION = { type: 'exception.type', message: 'exception.message', trace: 'exception.stacktrace' } as const
/** The property of scope data that keeps a body that is an object or a list. */
const BODY = 'body'
export const SEVERITY_TEXT = 'severityText'

/** The names of all attributes that can become a field, or that scope data has other values for. The others are scope data as they are. */
export const TAKEN_NAMES: ReadonlySet<string> = new Set([
  ...[...BRIDGED_LOGGER_NAMES, ...EVENT_NAMES, ...CORRELATION_NAMES, ...ERROR_NAMES, ...Object.values(EXCEPTION)],
  ...[EVENT_ID, BODY, SEVERITY_TEXT, 'traceId', 'spanId'],
])

/** Maps a log record to the fields of an application log. Attributes without a field of their own become scope data. */
export function entryOf(record: LogRecord, origin: Omit<Origin, 'project'>): Checked<Fields> {
  const extractor = createFieldExtractor(record.attributes)
  const eventName = textOf(record.eventName) ?? takeFirst(extractor, EVENT_NAMES, textOf)
  const exceptionMessage = textOf(extractor.rest[EXCEPTION.message])
  const exception = takeException(extractor) ?? takeError(extractor)
  const ownMessage = takeMessage(record.body, extractor) ?? eventName ?? exceptionMessage ?? firstLineOf(exception)
  const traceId = hexId(record.traceId)
  const level = levelOf(record)
  const fields = {
    categoryName: takeFirst(extractor, origin.loggerNames, stringOf) ?? origin.category.value,
    environment: origin.environment?.value,
    level,
    eventName,
    eventId: extractor.take(EVENT_ID, eventIdOf),
    exception,
    correlationKey: takeFirst(extractor, CORRELATION_NAMES, textOf) ?? traceId,
    timestamp: timeOf(record.timeUnixNano) ?? timeOf(record.observedTimeUnixNano),
    // After all properties with a field of their own were taken.
    message: ownMessage ?? summaryOf(extractor.rest),
    scopeData: scopeDataOf(
      traceId ?? sentIdOf(record.traceId),
      sentIdOf(record.spanId),
      withSeverityText(record, level, extractor),
      origin.scopeData,
    ),
  }
  return fields.message === undefined ? NO_MESSAGE : { value: fields }
}

const NO_MESSAGE: Checked<Fields> = {
  problem: problemSaying(
    'missing_message',
    'The log record has no body, event name, exception or attributes. Give it a body.',
  ),
}

/** The places in a record that was read afresh, its resource and its scope from which fields are taken. */
export function placesIn(record: LogRecord, origin: Omit<Origin, 'project'>): PlaceOf {
  const { attributes } = record
  const first = (names: readonly string[], read: (value: unknown) => unknown): readonly string[] | undefined => {
    const found = firstName(attributes, names, read)
    return found === undefined ? undefined : ['attributes', found]
  }
  return (field) => {
    switch (field) {
      case 'categoryName':
        return first(origin.loggerNames, stringOf) ?? origin.category.place
      case 'environment':
        return origin.environment?.place
      case 'eventName':
        return textOf(record.eventName) === undefined ? first(EVENT_NAMES, textOf) : ['eventName']
      case 'correlationKey':
        return first(CORRELATION_NAMES, textOf) ?? ['traceId']
      case 'timestamp':
        return [timeOf(record.timeUnixNano) === undefined ? 'observedTimeUnixNano' : 'timeUnixNano']
      case 'scopeData':
        return first(Object.keys(attributes), (value) => (fitsDepth(value, SCOPE_DEPTH_MAX - 1) ? undefined : value))
      default:
        return undefined
    }
  }
}

/** The three attributes of an exception as one text. */
function takeException(extractor: FieldExtractor): string | undefined {
  const type = extractor.take(EXCEPTION.type, textOf)
  const message = extractor.take(EXCEPTION.message, textOf)
  const trace = extractor.take(EXCEPTION.trace, textOf)
  return titledTrace({ type, message, trace })
}

/** Members of a body that can be its message, in order of preference. */
const MESSAGE_NAMES = ['message', 'msg', 'event'] as const
/** One level less than scope data may have, as the body is nested in it. */
const BODY_LEVELS_MAX = 63
/** A longer body without a message of its own is kept only as the message; the entry would hold it twice. */
const REPEATED_CHARACTERS_MAX = 16_384

/** The message of a body: a text itself, an object's own message, or else the JSON. A structured body is also kept as scope data. */
function takeMessage(plain: unknown, extractor: FieldExtractor): string | undefined {
  if (plain === undefined || plain === null || plain === '') return undefined
  if (typeof plain === 'string') return plain
  const json = (): string => JSON.stringify(plain)
  if (typeof plain !== 'object' || isExactNumber(plain)) return json()
  if (Object.hasOwn(extractor.rest, BODY) || !fitsDepth(plain, BODY_LEVELS_MAX)) return json()
  const own = isObject(plain)
    ? MESSAGE_NAMES.map((name) => stringOf(plain[name])).find((text) => text !== undefined)
    : undefined
  const message = own ?? json()
  if (own !== undefined || message.length <= REPEATED_CHARACTERS_MAX) extractor.put(BODY, plain)
  return message
}

/** The name of a severity number: Protobuf's own JSON has the names of enums, that of OTLP the numbers. */
const NUMBER_NAME = /^SEVERITY_NUMBER_([A-Z]+)[2-4]?$/

export function levelOf({ severityNumber, severityText }: Pick<LogRecord, 'severityNumber' | 'severityText'>): Level {
  const number = typeof severityNumber === 'number' ? severityNumber : Number(numberText(severityNumber))
  const index = Math.ceil(number / NUMBERS_PER_LEVEL) - 1
  return LEVELS[index] ?? levelNamed(severityNumber) ?? levelNamed(severityText) ?? 'Information'
}

function levelNamed(text: unknown): Level | undefined {
  if (typeof text !== 'string') return undefined
  return foreignLevel(NUMBER_NAME.exec(text)?.[1] ?? text)
}

/** The other attributes, and the sender's own name of the severity if it says more than the level. */
function withSeverityText({ severityText }: LogRecord, level: Level, { rest, put }: FieldExtractor): Fields {
  const text = stringOf(severityText)
  if (text !== undefined && foreignLevel(text) !== level && !Object.hasOwn(rest, SEVERITY_TEXT))
    put(SEVERITY_TEXT, text)
  return rest
}

/** Maximum digits of a 64-bit integer. */
const DIGITS_MAX = 20
/** Nanoseconds of 2001 and later, as nearly all records have them. */
const USUAL_NANOS = /^[1-9]\d{18}$/

/** The timestamp of nanoseconds since 1970, sent as text or number; 0 means none. Other text is passed on for the entry check to refuse. */
function timeOf(value: unknown): string | undefined {
  if (typeof value === 'string' && USUAL_NANOS.test(value)) return fromNanoDigits(value)
  const text = textOf(value)
  if (text === undefined || text === '0') return undefined
  const digits = /^\d+(?:\.\d+)?e\+?\d+$/i.test(text) ? Number(text).toFixed(0) : text
  if (/^0+$/.test(digits)) return undefined
  return /^\d+$/.test(digits) && digits.length <= DIGITS_MAX ? fromNanoDigits(digits) : text
}

import { type Checked, problem, refuse } from '../../shared/contract/errors.ts'
import { numberText } from '../../shared/contract/exact-json.ts'
import { LEVELS, type Level } from '../../shared/contract/levels.ts'
import { fromNanoDigits } from '../../shared/contract/timestamp.ts'
import { type Fields, isObject } from '../ingest/fields.ts'
import {
  createFieldExtractor,
  eventIdOf,
  type FieldExtractor,
  foreignLevel,
  hexId,
  scopeDataOf,
  stringOf,
  takeError,
  takeLogger,
  textOf,
  titledTrace,
} from '../ingest/foreign-fields.ts'
import { fitsDepth } from '../schemas/keywords.ts'
import { isKeyValue, listOf, plainAttributes, plainValue } from './log-records.ts'

/** The values that a log record takes from its scope and its resource. */
export interface RecordOrigin {
  /** The name of a scope that is a logger's. */
  readonly category: string | undefined
  /** Attributes that hold a logger's name in such a scope, beside those that do in any. */
  readonly loggerNames: readonly string[]
  /** The category of records that name no logger. */
  readonly service: string
  readonly environment: string | undefined
  /** Scope data that all records of the scope share. */
  readonly scopeData: Fields
}

/** Severity numbers come four to a level. */
const NUMBERS_PER_LEVEL = 4

/** A log record as the fields of an application log. What has no field of its own is scope data. */
export function entryOf(record: Fields, origin: RecordOrigin): Checked<Fields> {
  const { body, attributes } = record
  if (body !== undefined && body !== null && !isObject(body))
    return refuse('invalid_request', [{ path: '/body', message: 'must be an AnyValue such as {"stringValue":"text"}' }])
  if (!isAttributes(attributes))
    return refuse('invalid_request', [{ path: '/attributes', message: 'must be a list of { key, value }' }])
  const extractor = createFieldExtractor(plainAttributes(listOf(attributes)))
  const eventName = textOf(record['eventName']) ?? extractor.take('event.name', textOf)
  const exceptionMessage = textOf(extractor.rest['exception.message'])
  const exception = takeException(extractor) ?? takeError(extractor)
  const message = takeMessage(body, extractor) ?? eventName ?? exceptionMessage ?? exception?.split('\n', 1)[0]
  if (message === undefined) return NO_MESSAGE
  const traceId = hexId(record['traceId'])
  const fields = {
    categoryName: origin.category ?? takeLogger(extractor, ...origin.loggerNames) ?? origin.service,
    environment: origin.environment,
    message,
    level: levelOf(record),
    eventName,
    eventId: extractor.take('logrecord.event.id', eventIdOf),
    exception,
    correlationKey:
      extractor.take('correlationKey', textOf) ?? extractor.take('sluice.correlation_key', textOf) ?? traceId,
    timestamp: timeOf(record['timeUnixNano']) ?? timeOf(record['observedTimeUnixNano']),
  }
  const scopeData = scopeDataOf(traceId, hexId(record['spanId']), extractor.rest, origin.scopeData)
  return { value: { ...fields, scopeData } }
}

const NO_MESSAGE: Checked<Fields> = {
  problem: {
    ...problem('missing_message'),
    message: 'The log record has no body, event name or exception. Give it a body.',
  },
}

const isAttributes = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.every(isKeyValue))

/** The three attributes of an exception as one text. */
function takeException(extractor: FieldExtractor): string | undefined {
  const type = extractor.take('exception.type', textOf)
  const message = extractor.take('exception.message', textOf)
  const trace = extractor.take('exception.stacktrace', textOf)
  return titledTrace({ type, message, trace })
}

/** The property that keeps a body which is an object or a list. */
const BODY = 'body'
/** Members of a body that are its message, in this order. */
const MESSAGE_NAMES = ['message', 'msg', 'event'] as const
/** One level less than scope data may have. */
const BODY_LEVELS_MAX = 63
/** A longer body without a message of its own is the message alone: an entry would have it twice. */
const REPEATED_CHARACTERS_MAX = 16_384

/** The message of a body: a text as it is, of an object its own message, else the JSON of it. What is structured is kept, too. */
function takeMessage(body: unknown, extractor: FieldExtractor): string | undefined {
  const plain = plainValue(body)
  if (plain === null || plain === '') return undefined
  if (typeof plain === 'string') return plain
  const json = (): string => JSON.stringify(plain)
  if (typeof plain !== 'object' || numberText(plain) !== undefined) return json()
  if (Object.hasOwn(extractor.rest, BODY) || !fitsDepth(plain, BODY_LEVELS_MAX)) return json()
  const own = isObject(plain) ? MESSAGE_NAMES.map((name) => stringOf(plain[name])).find(isText) : undefined
  const message = own ?? json()
  if (own !== undefined || message.length <= REPEATED_CHARACTERS_MAX) extractor.put(BODY, plain)
  return message
}

const isText = (text: string | undefined): boolean => text !== undefined

function levelOf({ severityNumber, severityText }: Fields): Level {
  const index = Math.ceil(Number(numberText(severityNumber)) / NUMBERS_PER_LEVEL) - 1
  return LEVELS[index] ?? (typeof severityText === 'string' ? foreignLevel(severityText) : undefined) ?? 'Information'
}

/** Whole numbers of 64 bits have at most so many digits. */
const DIGITS_MAX = 20

/** Nanoseconds since 1970, sent as text or as a number, as a timestamp; 0 is none. What is no such number is left to be refused. */
function timeOf(value: unknown): string | undefined {
  const text = textOf(value)
  if (text === undefined || text === '0') return undefined
  const digits = /^\d+(?:\.\d+)?e\+?\d+$/i.test(text) ? Number(text).toFixed(0) : text
  if (/^0+$/.test(digits)) return undefined
  return /^\d+$/.test(digits) && digits.length <= DIGITS_MAX ? fromNanoDigits(digits) : text
}

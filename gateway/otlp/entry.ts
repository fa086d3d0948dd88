import { numberText } from '../../shared/contract/exact-json.ts'
import { LEVELS, type Level } from '../../shared/contract/levels.ts'
import { fromNanos } from '../../shared/contract/timestamp.ts'
import { type Checked, problem, refuse } from '../../shared/errors.ts'
import { type Fields, isObject } from '../fields.ts'
import { foreignLevel } from '../foreign-levels.ts'
import { listOf, plainAttributes, plainValue } from './any-value.ts'

/** What a log record takes from the scope and the resource that it belongs to. */
export interface RecordOrigin {
  readonly categoryName: string
  readonly environment: string | undefined
}

/** Severity numbers come four to a level. */
const NUMBERS_PER_LEVEL = 4
const INT32_MAX = 2_147_483_647

/**
 * A log record as the fields of an application log, to be judged like those of any other. What has no field of its own is scope
 * data.
 */
export function entryOf(record: Fields, { categoryName, environment }: RecordOrigin): Checked<Fields> {
  const { body, attributes } = record
  if (body !== undefined && body !== null && !isObject(body))
    return refuse('invalid_request', [{ path: '/body', message: 'must be an AnyValue such as {"stringValue":"text"}' }])
  if (!isAttributes(attributes))
    return refuse('invalid_request', [{ path: '/attributes', message: 'must be a list of { key, value }' }])
  const scope = createTakings(plainAttributes(listOf(attributes)))
  const traceId = hexId(record['traceId'])
  const eventName = textOf(record['eventName']) ?? scope.take('event.name', textOf)
  const exceptionMessage = textOf(scope.rest['exception.message'])
  const message = messageOf(body) ?? eventName ?? exceptionMessage
  if (message === undefined) return NO_MESSAGE
  const fields = {
    categoryName,
    environment,
    message,
    level: levelOf(record),
    eventName,
    eventId: scope.take('logrecord.event.id', eventIdOf),
    exception: takeException(scope),
    correlationKey: scope.take('correlationKey', textOf) ?? scope.take('sluice.correlation_key', textOf) ?? traceId,
    timestamp: timeOf(record['timeUnixNano']) ?? timeOf(record['observedTimeUnixNano']),
  }
  const ids = { ...named('traceId', traceId), ...named('spanId', hexId(record['spanId'])) }
  const scopeData = { ...ids, ...scope.rest }
  return { value: { ...fields, scopeData: Object.keys(scopeData).length === 0 ? null : scopeData } }
}

const NO_MESSAGE: Checked<Fields> = {
  problem: {
    ...problem('missing_message'),
    message: 'The log record has no body, event name or exception message. Give it a body.',
  },
}

const isAttributes = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.every((item) => isObject(item) && typeof item['key'] === 'string'))

/** Attributes, of which some become fields; one that cannot be read as its field stays where it is. */
interface Takings {
  readonly rest: Record<string, unknown>
  take<Value>(name: string, read: (value: unknown) => Value | undefined): Value | undefined
}

function createTakings(attributes: Fields): Takings {
  const rest: Record<string, unknown> = attributes
  return {
    rest,
    take: (name, read) => {
      if (!Object.hasOwn(rest, name)) return undefined
      const value = read(rest[name])
      if (value !== undefined) delete rest[name]
      return value
    },
  }
}

/** The three attributes of an exception as one text; most stack traces begin with type and message, some end with them. */
function takeException(scope: Takings): string | undefined {
  const type = scope.take('exception.type', textOf)
  const message = scope.take('exception.message', textOf)
  const trace = scope.take('exception.stacktrace', textOf)
  const title = [type, message].filter((part) => part !== undefined).join(': ')
  if (trace === undefined) return title === '' ? undefined : title
  return title === '' || trace.includes(title) ? trace : `${title}\n${trace}`
}

function messageOf(body: unknown): string | undefined {
  const plain = plainValue(body)
  if (plain === null || plain === '') return undefined
  return typeof plain === 'string' ? plain : JSON.stringify(plain)
}

function levelOf({ severityNumber, severityText }: Fields): Level {
  const index = Math.ceil(Number(numberText(severityNumber)) / NUMBERS_PER_LEVEL) - 1
  return LEVELS[index] ?? (typeof severityText === 'string' ? foreignLevel(severityText) : undefined) ?? 'Information'
}

/** Nanoseconds since 1970, sent as text or as a number, as a timestamp; 0 is none. What is no such number is left to be refused. */
function timeOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value : numberText(value)
  if (text === undefined || text === '' || /^0+$/.test(text)) return undefined
  if (/^\d{1,20}$/.test(text)) return fromNanos(BigInt(text))
  const number = Number(text)
  return Number.isInteger(number) && number >= 0 && number < 1e20 ? fromNanos(BigInt(number)) : text
}

function eventIdOf(value: unknown): number | undefined {
  const number = Number(textOf(value))
  return Number.isInteger(number) && Math.abs(number) <= INT32_MAX ? number : undefined
}

/** A text, or the text of a number; nothing where it is empty. */
const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' ? value : numberText(value)) || undefined

/** The id of a trace or a span: hexadecimal, and none where it is all zeros. */
const hexId = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[0-9a-f]+$/i.test(value) && /[^0]/.test(value) ? value.toLowerCase() : undefined

const named = (name: string, value: string | undefined): Fields => (value === undefined ? {} : { [name]: value })

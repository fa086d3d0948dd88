import { type Checked, type Offender, refuseFields } from '../../shared/contract/errors.ts'
import { exactInteger, fitsDepth, setOwn } from '../../shared/contract/exact-json.ts'
import { FOREIGN_ENTRIES_MAX, refuseTooMany } from '../ingest/checks.ts'
import { type Fields, isObject, refuseNoObject } from '../ingest/fields.ts'

/** A log record with plain values, whatever its encoding. The names of its fields are those of the JSON encoding. */
export class LogRecord {
  timeUnixNano: unknown = undefined
  observedTimeUnixNano: unknown = undefined
  severityNumber: unknown = undefined
  severityText: unknown = undefined
  body: unknown = undefined
  /** Used by nothing but this record. */
  attributes: Record<string, unknown> = {}
  traceId: unknown = undefined
  spanId: unknown = undefined
  eventName: unknown = undefined
}

/** Maximum attributes of a resource or a scope that are looked at, as a request could have hundreds of thousands. */
export const LOOKED_AT_MAX = 1_000

/** A resource or a scope, with the plain values of its first attributes; a resource has neither name nor version. */
export class ResourceOrScope {
  name: unknown = undefined
  version: unknown = undefined
  readonly attributes: Record<string, unknown> = {}
  #seen = 0

  /** Whether its next attribute is looked at. */
  looksAtNext(): boolean {
    this.#seen += 1
    return this.#seen <= LOOKED_AT_MAX
  }
}

/** A log record with its resource and scope, which are empty if the request has none; each as it was sent, or already read. */
export interface PlacedRecord {
  readonly record: unknown
  readonly resource: Fields | ResourceOrScope
  readonly scope: Fields | ResourceOrScope
}

const NONE: Fields = {}

/** Maximum resources and scopes of a request, two per record: empty ones take time too, and a body may have a million. */
export const GROUPS_MAX = 2 * FOREIGN_ENTRIES_MAX

/**
 * Every log record of an ExportLogsServiceRequest, in order, at most `FOREIGN_ENTRIES_MAX`. Unknown fields are ignored, as the protocol
 * demands, and null counts as absent; a known field of the wrong type makes the whole request unreadable.
 */
export function logRecordsOf(json: unknown): Checked<readonly PlacedRecord[]> {
  const records: PlacedRecord[] = []
  const wrong: Offender[] = []
  let count = 0
  let groups = 0

  /** The objects of a repeated field; the first element that is not an object is reported. */
  function* children(parent: Fields, name: string, path: string): Generator<readonly [Fields, string]> {
    const list = parent[name] ?? []
    if (!Array.isArray(list)) {
      wrong.push({ path: `${path}/${name}`, message: 'must be a JSON array' })
      return
    }
    for (let index = 0; index < list.length && wrong.length === 0 && groups <= GROUPS_MAX; index += 1) {
      groups += 1
      const child: unknown = list[index]
      if (isObject(child)) yield [child, `${path}/${name}/${index}`]
      else wrong.push({ path: `${path}/${name}/${index}`, message: 'must be a JSON object' })
    }
  }

  function child(parent: Fields, name: string, path: string): Fields {
    const value = parent[name] ?? NONE
    if (isObject(value)) return value
    wrong.push({ path: `${path}/${name}`, message: 'must be a JSON object' })
    return NONE
  }

  if (!isObject(json)) return refuseNoObject()
  for (const [resourceLogs, resourcePath] of children(json, 'resourceLogs', '')) {
    const resource = child(resourceLogs, 'resource', resourcePath)
    for (const [scopeLogs, scopePath] of children(resourceLogs, 'scopeLogs', resourcePath)) {
      const scope = child(scopeLogs, 'scope', scopePath)
      const list = scopeLogs['logRecords'] ?? []
      if (!Array.isArray(list)) wrong.push({ path: `${scopePath}/logRecords`, message: 'must be a JSON array' })
      else {
        count += list.length
        if (count <= FOREIGN_ENTRIES_MAX) for (const record of list) records.push({ record, resource, scope })
      }
    }
  }
  if (wrong.length > 0) return refuseFields(wrong)
  if (groups > GROUPS_MAX) return refuseTooMany(FOREIGN_ENTRIES_MAX)
  if (count > FOREIGN_ENTRIES_MAX) return refuseTooMany(FOREIGN_ENTRIES_MAX, count)
  return { value: records }
}

/** A log record in the JSON encoding. */
export function recordOf(fields: Fields): Checked<LogRecord> {
  const { body, attributes } = fields
  if (body !== undefined && body !== null && !(isObject(body) && isAnyValue(body)))
    return refuseFields([{ path: '/body', message: 'must be an AnyValue such as {"stringValue":"text"}' }])
  if (!isAttributes(attributes))
    return refuseFields([{ path: '/attributes', message: 'must be a list of { key, value }' }])
  const record = new LogRecord()
  record.timeUnixNano = fields['timeUnixNano']
  record.observedTimeUnixNano = fields['observedTimeUnixNano']
  record.severityNumber = fields['severityNumber']
  record.severityText = fields['severityText']
  record.body = plainValue(body)
  record.attributes = plainAttributes(listOf(attributes))
  record.traceId = fields['traceId']
  record.spanId = fields['spanId']
  record.eventName = fields['eventName']
  return { value: record }
}

const isAttributes = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.every(isKeyValue))

/** Maximum JSON levels of an attribute that records share: a list or a map of values has six. */
const SHARED_LEVELS_MAX = 6

/** A resource or a scope in the JSON encoding. */
export function partOf({ name, version, attributes }: Fields): ResourceOrScope {
  const looked = listOf(attributes).slice(0, LOOKED_AT_MAX)
  const shallow = looked.filter((item) => isKeyValue(item) && fitsDepth(item, SHARED_LEVELS_MAX))
  return Object.assign(new ResourceOrScope(), { name, version, attributes: plainAttributes(shallow) })
}

/** Integers in JSON's notation, of at most 20 digits (64 bits). */
const INTEGER = /^(?:0|-?[1-9]\d{0,19})$/

/**
 * The plain JSON value of an OTLP AnyValue. 64-bit integers, which are sent as text, keep their digits; bytes stay the text they are sent
 * as. Anything that is not a known AnyValue becomes null.
 */
export function plainValue(value: unknown): unknown {
  if (!isObject(value)) return null
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } = value
  if (typeof stringValue === 'string') return stringValue
  if (intValue !== undefined && intValue !== null) return integerOf(intValue)
  if (isObject(arrayValue)) return listOf(arrayValue['values']).map(plainValue)
  if (isObject(kvlistValue)) return plainAttributes(listOf(kvlistValue['values']))
  return stringValue ?? boolValue ?? doubleValue ?? bytesValue ?? null
}

const VALUE_NAMES = ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'bytesValue', 'arrayValue', 'kvlistValue']

/** Whether an object can be an AnyValue: it has one of its names, or is empty. */
const isAnyValue = (value: Fields): boolean =>
  VALUE_NAMES.some((name) => Object.hasOwn(value, name)) || Object.keys(value).length === 0

/** Attributes as an object: the last of several with the same name counts, and one without a name is left out. */
export function plainAttributes(list: readonly unknown[]): Record<string, unknown> {
  const plain: Record<string, unknown> = {}
  for (const item of list) {
    if (isKeyValue(item)) setOwn(plain, item.key, plainValue(item.value))
  }
  return plain
}

/** An attribute. */
interface KeyValue {
  readonly key: string
  readonly value?: unknown
}

const isKeyValue = (item: unknown): item is KeyValue => isObject(item) && typeof item['key'] === 'string'

/** A repeated field; null stands for an empty one. */
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const integerOf = (value: unknown): unknown =>
  typeof value === 'string' && INTEGER.test(value) ? exactInteger(value) : value

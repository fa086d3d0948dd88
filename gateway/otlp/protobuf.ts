import { WireType } from '@bufbuild/protobuf/wire'
import { type Checked, ProblemError } from '../../shared/contract/errors.ts'
import { setOwn } from '../../shared/contract/exact-json.ts'
import { type Body, decodeBinary } from '../../shared/http/body.ts'
import { createValueHold, JSON_LIMITS, tooDeep, tooManyMembers } from '../../shared/http/json-pieces.ts'
import { codingProblem } from '../../shared/http/media-type.ts'
import type { Steps } from '../../shared/runtime/cooperative.ts'
import { FOREIGN_ENTRIES_MAX, refuseTooMany } from '../ingest/checks.ts'
import type { BodyFormat } from '../ingest/endpoint.ts'
import { GROUPS_MAX, LogRecord, ResourceOrScope } from './log-records.ts'
import { type Message, messageOf, problemOf, STRIDE_BYTES, Wire } from './wire.ts'

const MEDIA_TYPE = /^application\/(?:x-|vnd\.google\.)?protobuf[ \t]*(?:;|$)/i

export const isProtobuf = (contentType: string | undefined): boolean =>
  contentType !== undefined && MEDIA_TYPE.test(contentType)

/** The binary encoding of OTLP, for bodies whose type is Protobuf. */
export const PROTOBUF_FORMAT: BodyFormat<Buffer> = {
  refusal: ({ headers }) => codingProblem(headers),
  decode: decodeBinary,
  parse: parseProtobufBody,
}

const { Varint, Bit64, LengthDelimited } = WireType

// The messages of opentelemetry-proto (collector/logs, logs, common and resource, v1).

const REQUEST = messageOf({ 1: ['resourceLogs', LengthDelimited] })
const RESOURCE_LOGS = messageOf({ 1: ['resource', LengthDelimited], 2: ['scopeLogs', LengthDelimited] })
const SCOPE_LOGS = messageOf({ 1: ['scope', LengthDelimited], 2: ['logRecords', LengthDelimited] })
const RESOURCE = messageOf({ 1: ['attributes', LengthDelimited] })
const SCOPE = messageOf({
  1: ['name', LengthDelimited],
  2: ['version', LengthDelimited],
  3: ['attributes', LengthDelimited],
})
export const LOG_RECORD = messageOf({
  1: ['timeUnixNano', Bit64],
  2: ['severityNumber', Varint],
  3: ['severityText', LengthDelimited],
  5: ['body', LengthDelimited],
  6: ['attributes', LengthDelimited],
  9: ['traceId', LengthDelimited],
  10: ['spanId', LengthDelimited],
  11: ['observedTimeUnixNano', Bit64],
  12: ['eventName', LengthDelimited],
})
export const KEY_VALUE = messageOf({ 1: ['key', LengthDelimited], 2: ['value', LengthDelimited] })
export const ANY_VALUE = messageOf({
  1: ['stringValue', LengthDelimited],
  2: ['boolValue', Varint],
  3: ['intValue', Varint],
  4: ['doubleValue', Bit64],
  5: ['arrayValue', LengthDelimited],
  6: ['kvlistValue', LengthDelimited],
  7: ['bytesValue', LengthDelimited],
})
/** ArrayValue and KeyValueList. */
const LIST = messageOf({ 1: ['values', LengthDelimited] })

/**
 * Reads an ExportLogsServiceRequest into an object of the form that its JSON encoding has, with `DeferredRecord`s and `ResourceOrScope`s in it.
 * Unknown fields are skipped; known fields of another wire type make the whole body unreadable, and so do groups, which OTLP never had. The
 * limits are `JSON_LIMITS`, for the levels and values that the JSON encoding would have, and `FOREIGN_ENTRIES_MAX` records.
 */
function* parseProtobufBody({ content, memory }: Body<Buffer>): Steps<Checked<unknown>> {
  try {
    return { value: yield* readRequest(new Wire(content, createValueHold(memory))) }
  } catch (error) {
    return { problem: problemOf(error).problem }
  }
}

/** The levels that parts of a request have in the JSON encoding, where each list is a level. */
const LEVELS = { resource: 4, scope: 6, record: 7 } as const

/** The records, and the resources and scopes with records, that were found so far. */
interface Found {
  records: number
  groups: number
}

/** A resource or a scope takes the memory of this many values more than its fields. */
const GROUP_VALUES = 3

/**
 * Records of a request that are checked at once, as many as SDKs send by default. With more of them a request can wait for its turn, together
 * with others, so all its values take memory, however short it is.
 */
const RECORDS_AT_ONCE = 512

function* readRequest(wire: Wire): Steps<unknown> {
  const found: Found = { records: 0, groups: 0 }
  const resourceLogs: unknown[] = []
  while (wire.hasField(wire.len)) {
    if (wire.isDue()) yield
    if (wire.field(REQUEST) === 'resourceLogs') resourceLogs.push(yield* readResourceLogs(wire, found))
  }
  if (found.records > RECORDS_AT_ONCE) wire.holdValues()
  return { resourceLogs }
}

function* readResourceLogs(wire: Wire, found: Found): Steps<unknown> {
  addGroup(wire, found)
  const end = wire.end()
  const resource = new ResourceOrScope()
  const scopeLogs: unknown[] = []
  while (wire.hasField(end)) {
    if (wire.isDue()) yield
    const field = wire.field(RESOURCE_LOGS)
    if (field === 'resource') yield* readPart(wire, RESOURCE, LEVELS.resource, resource)
    else if (field === 'scopeLogs') scopeLogs.push(yield* readScopeLogs(wire, found))
  }
  return { resource, scopeLogs }
}

function* readScopeLogs(wire: Wire, found: Found): Steps<unknown> {
  addGroup(wire, found)
  const end = wire.end()
  const scope = new ResourceOrScope()
  const logRecords: unknown[] = []
  while (wire.hasField(end)) {
    if (wire.isDue()) yield
    const field = wire.field(SCOPE_LOGS)
    if (field === 'scope') yield* readPart(wire, SCOPE, LEVELS.scope, scope)
    else if (field === 'logRecords') {
      requireFewer(++found.records, FOREIGN_ENTRIES_MAX)
      logRecords.push(new DeferredRecord(wire))
    }
  }
  return { scope, logRecords }
}

function addGroup(wire: Wire, found: Found): void {
  requireFewer(++found.groups, GROUPS_MAX)
  wire.values += GROUP_VALUES
}

function requireFewer(count: number, max: number): void {
  if (count > max) throw new ProblemError(refuseTooMany(FOREIGN_ENTRIES_MAX).problem)
}

/** A longer attribute of a resource or a scope is left out: the entries, of which each has a copy, have no room for it. */
const SHARED_BYTES_MAX = STRIDE_BYTES

/** Reads a resource or a scope into `part`: Protobuf merges a message that occurs twice. */
function* readPart(
  wire: Wire,
  message: Message<'name' | 'version' | 'attributes'>,
  level: number,
  part: ResourceOrScope,
): Steps<void> {
  const end = wire.end()
  while (wire.hasField(end)) {
    if (wire.isDue()) yield
    const field = wire.field(message)
    if (field === 'name') part.name = wire.text()
    else if (field === 'version') part.version = wire.text()
    else if (field === 'attributes') {
      const attributeEnd = wire.end()
      if (!part.looksAtNext() || attributeEnd - wire.pos > SHARED_BYTES_MAX) wire.pos = attributeEnd
      else readAttribute(wire, attributeEnd, level + 2, part.attributes)
    }
  }
}

/**
 * A log record whose bytes are read when it is checked. If all records of a request became objects before the first is checked, they would
 * outlive the young generation, and the garbage collector would take more time than anything else.
 */
export class DeferredRecord {
  readonly #wire: Wire
  readonly #start: number
  readonly #end: number
  /** Its values, once they are counted. */
  #values = 0

  /** Leaves `wire` after the record. */
  constructor(wire: Wire) {
    const end = wire.end()
    this.#wire = wire
    this.#start = wire.pos
    this.#end = end
    wire.pos = end
  }

  get bytes(): number {
    return this.#end - this.#start
  }

  /** Throws a `ProblemError`, which concerns the whole request. */
  read(): LogRecord {
    return this.readWith(readRecord)
  }

  /** The same with a reader of its own. */
  readWith<Result>(readFrom: (wire: Wire, end: number) => Result): Result {
    const wire = this.#wire
    wire.pos = this.#start
    wire.values -= this.#values
    const before = wire.values
    try {
      const record = readFrom(wire, this.#end)
      this.#values = wire.values - before
      return record
    } catch (error) {
      throw problemOf(error)
    }
  }

  /** The record for people to read. Null if it cannot be read, and then for all after it: nobody needs thousands of attempts. */
  toJSON(): LogRecord | null {
    if (this.#wire.isUnreadable) return null
    try {
      return this.read()
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      this.#wire.isUnreadable = true
      return null
    }
  }
}

function readRecord(wire: Wire, end: number): LogRecord {
  const record = new LogRecord()
  let attributes = 0
  while (wire.hasField(end)) {
    switch (wire.field(LOG_RECORD)) {
      case 'timeUnixNano':
        record.timeUnixNano = wire.nanos()
        break
      case 'observedTimeUnixNano':
        record.observedTimeUnixNano = wire.nanos()
        break
      case 'severityNumber':
        record.severityNumber = wire.int32()
        break
      case 'severityText':
        record.severityText = wire.word()
        break
      case 'body':
        record.body = readValue(wire, LEVELS.record + 1, record.body)
        break
      case 'attributes':
        requireMembers(++attributes)
        readAttribute(wire, wire.end(), LEVELS.record + 2, record.attributes)
        break
      case 'traceId':
        record.traceId = wire.encoded('hex')
        break
      case 'spanId':
        record.spanId = wire.encoded('hex')
        break
      case 'eventName':
        record.eventName = wire.word()
        break
      default:
    }
  }
  return record
}

function readAttribute(wire: Wire, end: number, level: number, target: Record<string, unknown>): void {
  if (level > JSON_LIMITS.levels) throw tooDeep()
  let key = ''
  let value: unknown = null
  while (wire.hasField(end)) {
    const field = wire.field(KEY_VALUE)
    if (field === 'key') key = wire.word()
    else if (field === 'value') value = readValue(wire, level + 1, value)
  }
  setOwn(target, key, value)
}

/**
 * Reads an AnyValue; one without a value leaves the value before it, as messages are merged. A list or a map replaces one before it: no
 * sender writes it in parts, and the members of a merged map would have to be counted.
 */
function readValue(wire: Wire, level: number, before: unknown): unknown {
  if (level > JSON_LIMITS.levels) throw tooDeep()
  const end = wire.end()
  let value = before
  while (wire.hasField(end)) {
    switch (wire.field(ANY_VALUE)) {
      case 'stringValue':
        value = wire.text()
        break
      case 'boolValue':
        value = wire.bool()
        break
      case 'intValue':
        value = wire.integer()
        break
      case 'doubleValue':
        value = wire.number()
        break
      case 'arrayValue':
        value = readList(wire, level + 1)
        break
      case 'kvlistValue':
        value = readMap(wire, level + 1)
        break
      case 'bytesValue':
        value = wire.encoded('base64')
        break
      default:
    }
  }
  return value
}

function readList(wire: Wire, level: number): readonly unknown[] {
  const end = wire.end()
  const list: unknown[] = []
  while (wire.hasField(end)) if (wire.field(LIST) === 'values') list.push(readValue(wire, level + 2, null))
  return list
}

function readMap(wire: Wire, level: number): Readonly<Record<string, unknown>> {
  const end = wire.end()
  const map: Record<string, unknown> = {}
  let members = 0
  while (wire.hasField(end)) {
    if (wire.field(LIST) !== 'values') continue
    requireMembers(++members)
    readAttribute(wire, wire.end(), level + 2, map)
  }
  return map
}

function requireMembers(count: number): void {
  if (count > JSON_LIMITS.members) throw tooManyMembers()
}

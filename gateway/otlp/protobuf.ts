import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { type Checked, ProblemError, problem, problemSaying } from '../../shared/contract/errors.ts'
import { type Body, decodeBinary } from '../../shared/http/body.ts'
import { createValueHold, JSON_LIMITS, tooDeep } from '../../shared/http/json-pieces.ts'
import { codingProblem } from '../../shared/http/media-type.ts'
import type { Steps } from '../../shared/runtime/cooperative.ts'
import { FOREIGN_ENTRIES_MAX } from '../ingest/checks.ts'
import type { BodyFormat } from '../ingest/endpoint.ts'

const MEDIA_TYPE = /^application\/(?:x-|vnd\.google\.)?protobuf[ \t]*(?:;|$)/i

export const isProtobuf = (contentType: string | undefined): boolean =>
  contentType !== undefined && MEDIA_TYPE.test(contentType)

/** The binary encoding of OTLP, for bodies whose type is Protobuf. */
export const PROTOBUF_FORMAT: BodyFormat<Buffer> = {
  refusal: ({ headers }) => codingProblem(headers),
  decode: decodeBinary,
  parse: parseProtobufBody,
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('a text is not valid UTF-8')
  }
}

/** Keys are varints of 32 bits. */
const KEY_BYTES_MAX = 5

/** A reader that returns values in the form of OTLP's JSON encoding. */
class Wire extends BinaryReader {
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    super(bytes, decodeUtf8)
    this.#bytes = bytes
  }

  /** Like `tag`, without allocating an array: the number of a field, and its wire type in the lowest three bits. */
  key(): number {
    const start = this.pos
    const key = this.uint32()
    if (key >>> 3 === 0 || this.pos - start > KEY_BYTES_MAX) throw malformed('a field has no number')
    return key
  }

  encoded(encoding: 'hex' | 'base64'): string {
    const end = this.end()
    const text = this.#bytes.toString(encoding, this.pos, end)
    this.pos = end
    return text
  }

  /** A 64-bit integer is text in JSON; one that a double holds exactly may be a number as well. */
  integer(): number | string {
    const integer = this.int64()
    const number = Number(integer)
    return Number.isSafeInteger(number) ? number : String(integer)
  }

  number(): number | string {
    const number = this.double()
    return Number.isFinite(number) ? number : String(number)
  }

  /** Reads a length and returns the position where the field of that length ends. */
  end(): number {
    const length = this.uint32()
    if (length > this.len - this.pos) throw malformed('a length goes beyond the end')
    return this.pos + length
  }
}

/** A field of a message by its JSON name: a value, or a message of its own. */
type Field = ValueField | MessageField

interface ValueField {
  readonly name: string
  readonly wireType: WireType
  readonly read: (wire: Wire) => unknown
}

interface MessageField {
  readonly name: string
  readonly wireType: WireType
  readonly read: undefined
  readonly isRepeated: boolean
  /** A function, as some messages contain each other. */
  readonly message: () => Message
}

interface Message {
  /** The fields by number. */
  readonly fields: readonly (Field | undefined)[]
  /** Whether each field replaces all others. */
  readonly isOneof: boolean
}

function messageOf(fields: Readonly<Record<number, Field>>, isOneof = false): Message {
  const byNumber: (Field | undefined)[] = Array.from({ length: Math.max(...Object.keys(fields).map(Number)) + 1 })
  return { fields: Object.assign(byNumber, fields), isOneof }
}

const value = (name: string, wireType: WireType, read: ValueField['read']): Field => ({ name, wireType, read })
const one = (name: string, message: () => Message, isRepeated = false): Field => ({
  name,
  wireType: WireType.LengthDelimited,
  read: undefined,
  isRepeated,
  message,
})
const many = (name: string, message: () => Message): Field => one(name, message, true)

const text = (name: string): Field => value(name, WireType.LengthDelimited, (wire) => wire.string())
const hex = (name: string): Field => value(name, WireType.LengthDelimited, (wire) => wire.encoded('hex'))
const nanos = (name: string): Field => value(name, WireType.Bit64, (wire) => String(wire.fixed64()))

// The messages of opentelemetry-proto (collector/logs, logs, common and resource, v1): the fields that are read.

const ANY_VALUE = messageOf(
  {
    1: text('stringValue'),
    2: value('boolValue', WireType.Varint, (wire) => wire.bool()),
    3: value('intValue', WireType.Varint, (wire) => wire.integer()),
    4: value('doubleValue', WireType.Bit64, (wire) => wire.number()),
    5: one('arrayValue', () => ARRAY_VALUE),
    6: one('kvlistValue', () => KEY_VALUES),
    7: value('bytesValue', WireType.LengthDelimited, (wire) => wire.encoded('base64')),
  },
  true,
)
const KEY_VALUE = messageOf({ 1: text('key'), 2: one('value', () => ANY_VALUE) })
const ARRAY_VALUE = messageOf({ 1: many('values', () => ANY_VALUE) })
const KEY_VALUES = messageOf({ 1: many('values', () => KEY_VALUE) })

const attributes = many('attributes', () => KEY_VALUE)
const LOG_RECORD = messageOf({
  1: nanos('timeUnixNano'),
  2: value('severityNumber', WireType.Varint, (wire) => wire.int32()),
  3: text('severityText'),
  5: one('body', () => ANY_VALUE),
  6: attributes,
  9: hex('traceId'),
  10: hex('spanId'),
  11: nanos('observedTimeUnixNano'),
  12: text('eventName'),
})
const RESOURCE = messageOf({ 1: attributes })
const SCOPE = messageOf({ 1: text('name'), 2: text('version'), 3: attributes })
const SCOPE_LOGS = messageOf({ 1: one('scope', () => SCOPE), 2: many('logRecords', () => LOG_RECORD) })
const RESOURCE_LOGS = messageOf({ 1: one('resource', () => RESOURCE), 2: many('scopeLogs', () => SCOPE_LOGS) })
const REQUEST = messageOf({ 1: many('resourceLogs', () => RESOURCE_LOGS) })

/** A message that is being read. */
interface Open {
  readonly message: Message
  readonly target: Record<string, unknown>
  readonly end: number
  /** Its nesting level in the JSON encoding. */
  readonly level: number
}

/** Bytes read per step, which takes a few milliseconds whatever they hold. */
const STRIDE_BYTES = 32 * 1024

/**
 * Reads an ExportLogsServiceRequest into the value that its JSON encoding would parse to, so that both get the same checks. Unknown fields
 * are skipped; known fields of another wire type make the whole body unreadable, and so do groups, which OTLP never had. The limits are
 * `JSON_LIMITS` and `FOREIGN_ENTRIES_MAX` records.
 */
function* parseProtobufBody({ content, memory }: Body<Buffer>): Steps<Checked<unknown>> {
  try {
    return { value: yield* requestOf(content, memory) }
  } catch (error) {
    if (error instanceof ProblemError) return { problem: error.problem }
    const { name, message } = error as Error
    if (READER_ERRORS.includes(name)) return { problem: malformed(message).problem }
    throw error
  }
}

/** The names of the errors that the reader throws for bytes that it cannot read. */
const READER_ERRORS = ['Error', 'RangeError']

function* requestOf(bytes: Buffer, memory: Body['memory']): Steps<unknown> {
  const wire = new Wire(bytes)
  const request = {}
  const outer: Open[] = []
  let open: Open | undefined = { message: REQUEST, target: request, end: bytes.length, level: 1 }
  let values = 0
  const holdValues = createValueHold(memory)
  let records = 0
  let restAt = STRIDE_BYTES
  while (open !== undefined) {
    const { message, target, end, level }: Open = open
    if (wire.pos >= end) {
      if (wire.pos > end) throw malformed('a field goes beyond the end of its message')
      open = outer.pop()
      continue
    }
    if (wire.pos >= restAt) {
      holdValues(values)
      restAt = wire.pos + STRIDE_BYTES
      yield
    }
    values += 1
    const key = wire.key()
    const wireType: WireType = key & 7
    const field = message.fields[key >>> 3]
    if (field === undefined) {
      if (wireType === WireType.StartGroup || wireType === WireType.EndGroup) throw malformed('it has a group')
      wire.skip(wireType)
      continue
    }
    const { name } = field
    if (wireType !== field.wireType) throw malformed(`${name} has the wire type ${wireType}`)
    if (message.isOneof) for (const other in target) if (other !== name) delete target[other]
    if (field.read !== undefined) {
      target[name] = field.read(wire)
      continue
    }
    const inner = field.message()
    if (inner === LOG_RECORD) records += 1
    if (records > FOREIGN_ENTRIES_MAX) throw tooManyRecords()
    const child = childOf(target, field, inner)
    outer.push(open)
    open = { message: inner, target: child, end: wire.end(), level: level + (field.isRepeated ? 2 : 1) }
    if (open.level > JSON_LIMITS.levels) throw tooDeep()
  }
  return request
}

/** Adds an empty object for a message. A non-repeated message that occurs twice is merged, as Protobuf demands. */
function childOf(
  target: Record<string, unknown>,
  { name, isRepeated }: MessageField,
  message: Message,
): Record<string, unknown> {
  // Proto3 omits empty fields. Only an attribute needs its empty key back, as it would be refused without one.
  const child = message === KEY_VALUE ? { key: '' } : {}
  const present = target[name]
  if (!isRepeated) {
    if (present !== undefined) return present as Record<string, unknown>
    target[name] = child
  } else if (Array.isArray(present)) present.push(child)
  else target[name] = [child]
  return child
}

const malformed = (reason: string): ProblemError =>
  new ProblemError(
    problemSaying('malformed_body', `The body is not an ExportLogsServiceRequest in Protobuf: ${reason}.`),
  )

const tooManyRecords = (): ProblemError => new ProblemError(problem('batch_too_large', { limit: FOREIGN_ENTRIES_MAX }))

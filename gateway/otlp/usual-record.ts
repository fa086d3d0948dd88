import { WireType } from '@bufbuild/protobuf/wire'
import type { Checked } from '../../shared/contract/errors.ts'
import { KEYWORD_BYTES } from '../../shared/contract/keyword.ts'
import type { Level } from '../../shared/contract/levels.ts'
import type { ApplicationLogRecord } from '../../shared/contract/records.ts'
import type { Project } from '../../shared/registry/registry.ts'
import type { WrittenRecord } from '../ingest/checks.ts'
import type { Fields } from '../ingest/fields.ts'
import { foreignLevel } from '../ingest/foreign-fields.ts'
import { entryOf, levelOf, SEVERITY_TEXT, TAKEN_NAMES } from './entry.ts'
import { JsonWriter } from './json-writer.ts'
import { LogRecord } from './log-records.ts'
import type { Origin } from './origins.ts'
import { ANY_VALUE, type DeferredRecord, KEY_VALUE, LOG_RECORD } from './protobuf.ts'
import { EMPTY_TEXT, type JsonText, type Wire } from './wire.ts'

const TRACE_ID_BYTES = 16
const SPAN_ID_BYTES = 8
/** Maximum attributes that are remembered of an origin, and of those that follow the same others. */
const ATTRIBUTES_MAX = 256
const FOLLOWERS_MAX = 8

/** A longer record is not a usual one, as it is read twice if something at its end is not. */
const USUAL_BYTES_MAX = 64 * 1024
/** With so many more records that were read twice than usual ones, no more of the origin are tried. */
const OTHERS_MAX = 8

/** A record as JSON, with its Project. */
type WrittenLog = WrittenRecord & Pick<ApplicationLogRecord, 'project'>

/** The writer of an origin's usual records; undefined if it cannot have any. `checkSample` makes a record of an entry, whatever its id. */
export function usualRecordsOf(
  origin: Origin,
  checkSample: (fields: Fields, project: Project) => Checked<ApplicationLogRecord>,
): UsualRecords | undefined {
  const { project, scopeData } = origin
  if (project.problem !== undefined || Object.keys(scopeData).some((name) => TAKEN_NAMES.has(name))) return undefined
  const entry = entryOf(Object.assign(new LogRecord(), { body: 'sample' }), origin)
  const sample = entry.problem === undefined ? checkSample(entry.value, project.value) : entry
  return sample.problem === undefined ? new UsualRecords(sample.value, scopeData) : undefined
}

/**
 * Writes the records of one origin as JSON while their bytes are read, without objects of the log record, the entry and the record. It does
 * so for usual ones only: the body is a text, and all attributes are plain values that become scope data and nothing else. Any other record
 * is left to `entryOf` and the check of entries, which make the same JSON of a usual one.
 */
export class UsualRecords {
  readonly #sample: ApplicationLogRecord
  readonly #template: Template
  readonly #shared: Fields
  readonly #sharedMembers: Buffer
  readonly #noAttribute = new Attribute('')
  #attributes = 0
  /** The latest records that were not usual ones, less those that were. */
  #others = 0

  /** `sample` is any record of the origin, and `shared` its scope data. */
  constructor(sample: ApplicationLogRecord, shared: Fields) {
    this.#sample = sample
    this.#template = templateOf(sample)
    this.#shared = shared
    this.#sharedMembers = Buffer.from(JSON.stringify(shared).slice(1, -1))
  }

  /** Undefined if the record is not a usual one. Throws a `ProblemError`, which concerns the whole request. */
  write(sent: DeferredRecord, idOf: () => string): WrittenLog | undefined {
    if (sent.bytes > USUAL_BYTES_MAX || this.#others > OTHERS_MAX) return undefined
    const written = sent.readWith((wire, end) => this.#writeFrom(wire, end, idOf))
    this.#others = Math.max(0, this.#others + (written === undefined ? 1 : -1))
    return written
  }

  #writeFrom(wire: Wire, end: number, idOf: () => string): WrittenLog | undefined {
    found.begin(this.#noAttribute)
    while (wire.hasField(end)) if (!this.#read(wire)) return undefined
    if (found.message === EMPTY_TEXT) return undefined
    const { kind, team, project, receivedAt } = this.#sample
    const timestamp = found.time || found.observedTime || receivedAt
    const id = idOf()
    this.#write(wire, id, timestamp)
    const correlationKey = found.traceId || null
    return { kind, id, timestamp, correlationKey, team, project, json: whole.toString(), jsonBytes: whole.length }
  }

  /** Reads a field; false if the record is not a usual one. */
  #read(wire: Wire): boolean {
    switch (wire.field(LOG_RECORD)) {
      case 'timeUnixNano':
        if (found.time !== '') return false
        found.time = wire.instant()
        return found.time !== undefined
      case 'observedTimeUnixNano':
        // Only needed without the other time, which encoders write before it.
        if (found.time === '') found.observedTime = wire.instant()
        else wire.pass(WireType.Bit64)
        return found.observedTime !== undefined
      case 'severityNumber':
        found.severityNumber = wire.int32()
        return true
      case 'severityText':
        found.severityText = wire.word()
        return true
      case 'body':
        return readBody(wire)
      case 'attributes':
        return this.#readAttribute(wire)
      case 'traceId':
        found.traceId = wire.id(TRACE_ID_BYTES)
        return found.traceId !== undefined
      case 'spanId':
        found.spanId = wire.id(SPAN_ID_BYTES)
        return found.spanId !== undefined
      case 'eventName':
        return readEventName(wire)
      default:
        return true
    }
  }

  #readAttribute(wire: Wire): boolean {
    const end = wire.end()
    if (!wire.hasField(end) || wire.field(KEY_VALUE) !== 'key') return false
    const attribute = this.#readName(wire)
    if (attribute === undefined || !wire.hasField(end) || wire.field(KEY_VALUE) !== 'value') return false
    found.attribute = attribute
    if (found.attributes.length > 0) found.attributes.addAscii(',')
    found.attributes.addBytes(attribute.json)
    return readValue(wire, found.attributes) && wire.pos === end
  }

  /** The attribute with the name that is read; undefined if that is not a usual one. */
  #readName(wire: Wire): Attribute | undefined {
    const { followers } = found.attribute
    for (const follower of followers) if (wire.passes(follower.name)) return follower
    if (followers.length === FOLLOWERS_MAX || this.#attributes === ATTRIBUTES_MAX) return undefined
    const name = wire.text()
    if (TAKEN_NAMES.has(name) || Object.hasOwn(this.#shared, name) || !USUAL_NAME.test(name)) return undefined
    if (found.attribute.follows(name)) return undefined
    const follower = new Attribute(name, found.attribute)
    followers.push(follower)
    this.#attributes += 1
    return follower
  }

  #write(wire: Wire, id: string, timestamp: string): void {
    const { traceId, eventName, message } = found
    const level = levelOf(found)
    whole.clear()
    for (const { before, name } of this.#template.own) {
      whole.addBytes(before)
      switch (name) {
        case 'id':
          whole.addString(id)
          break
        case 'timestamp':
          whole.addString(timestamp)
          break
        case 'level':
          whole.addString(level)
          break
        case 'correlationKey':
          if (traceId) whole.addString(traceId)
          else whole.addAscii('null')
          break
        case 'eventName':
          wire.writeText(whole, eventName)
          break
        case 'message':
          wire.writeText(whole, message)
          break
        default:
          this.#writeScopeData(level)
      }
    }
    whole.addBytes(this.#template.end)
  }

  /** Writes the members in the order of `scopeDataOf`. */
  #writeScopeData(level: Level): void {
    const { traceId, spanId, attributes, severityText } = found
    const start = whole.length
    if (this.#sharedMembers.length > 0) {
      separate(start)
      whole.addBytes(this.#sharedMembers)
    }
    if (traceId) {
      beginMember(start, 'traceId')
      whole.addString(traceId)
    }
    if (spanId) {
      beginMember(start, 'spanId')
      whole.addString(spanId)
    }
    if (attributes.length > 0) {
      separate(start)
      whole.addFrom(attributes)
    }
    if (severityText !== '' && foreignLevel(severityText) !== level) {
      beginMember(start, SEVERITY_TEXT)
      whole.add(JSON.stringify(severityText))
    }
    whole.addAscii(whole.length === start ? 'null' : '}')
  }
}

/** Adds what precedes a member of the object that begins at `start`. */
const separate = (start: number): void => whole.addAscii(whole.length === start ? '{' : ',')

function beginMember(start: number, name: string): void {
  separate(start)
  whole.addString(name)
  whole.addAscii(':')
}

/** Names of digits come first in an object, and `Wire.passes` compares ASCII only. */
const USUAL_NAME = /^(?!\d)[\0-\x7f]*$/

/** An attribute behind certain others. Records of an origin mostly have the same ones in the same order, so that each is judged once. */
class Attribute {
  readonly name: string
  /** The beginning of its member in scope data. */
  readonly json: Buffer
  readonly #before: Attribute | undefined
  /** The attributes that can come next. */
  readonly followers: Attribute[] = []

  /** Without `before`, it stands for the beginning. */
  constructor(name: string, before?: Attribute) {
    this.name = name
    this.#before = before
    this.json = Buffer.from(`${JSON.stringify(name)}:`)
  }

  /** Whether it has this name, or comes behind one that has. */
  follows(name: string): boolean {
    if (this.#before === undefined) return false
    return this.name === name || this.#before.follows(name)
  }
}

/** The parts of the record that is read, of which ids and times are empty if there are none. Nothing is read while another record is. */
class Found {
  time: string | undefined
  observedTime: string | undefined
  severityNumber = 0
  severityText = ''
  traceId: string | undefined
  spanId: string | undefined
  attribute = new Attribute('')
  /** The JSON of their members of scope data. */
  readonly attributes = new JsonWriter()
  eventName: JsonText = EMPTY_TEXT
  message: JsonText = EMPTY_TEXT

  begin(noAttribute: Attribute): void {
    this.time = ''
    this.observedTime = ''
    this.severityNumber = 0
    this.severityText = ''
    this.traceId = ''
    this.spanId = ''
    this.attribute = noAttribute
    this.attributes.clear()
    this.eventName = EMPTY_TEXT
    this.message = EMPTY_TEXT
  }
}

const found = new Found()
const whole = new JsonWriter()

function readEventName(wire: Wire): boolean {
  const start = wire.pos
  found.eventName = wire.jsonText()
  return wire.pos - start <= KEYWORD_BYTES.eventName
}

/** Reads a body; false unless it is a text. */
function readBody(wire: Wire): boolean {
  const end = wire.end()
  if (found.message !== EMPTY_TEXT || !wire.hasField(end) || wire.field(ANY_VALUE) !== 'stringValue') return false
  found.message = wire.jsonText()
  return wire.pos === end
}

/** Reads a value that is neither a list nor a map, nor bytes; otherwise false. */
function readValue(wire: Wire, json: JsonWriter): boolean {
  const end = wire.end()
  if (!wire.hasField(end)) return false
  switch (wire.field(ANY_VALUE)) {
    case 'stringValue':
      wire.writeText(json, wire.jsonText())
      break
    case 'boolValue':
      json.addAscii(String(wire.bool()))
      break
    case 'intValue':
      json.addAscii(String(wire.int64()))
      break
    case 'doubleValue':
      json.addAscii(JSON.stringify(wire.number()))
      break
    default:
      return false
  }
  return wire.pos === end
}

/** The properties in which the records of an origin differ. */
const OWN = ['id', 'timestamp', 'level', 'correlationKey', 'eventName', 'message', 'scopeData'] as const
type Own = (typeof OWN)[number]

/** A record as JSON without the values of `OWN`, each of which has its place behind the text before it. */
interface Template {
  readonly own: readonly { readonly before: Buffer; readonly name: Own }[]
  readonly end: Buffer
}

function templateOf(record: ApplicationLogRecord): Template {
  const own: Template['own'][number][] = []
  let text = '{'
  for (const [place, [name, value]] of Object.entries(record).entries()) {
    text += `${place === 0 ? '' : ','}"${name}":`
    const differing = OWN.find((each) => each === name)
    if (differing === undefined) text += JSON.stringify(value)
    else {
      own.push({ before: Buffer.from(text), name: differing })
      text = ''
    }
  }
  return { own, end: Buffer.from(`${text}}`) }
}

import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { ProblemError, problemSaying } from '../../shared/contract/errors.ts'
import { exactInteger } from '../../shared/contract/exact-json.ts'
import { fromNanoWords } from '../../shared/contract/timestamp.ts'
import { type HoldValues, JSON_LIMITS, tooManyValues } from '../../shared/http/json-pieces.ts'
import type { JsonWriter } from './json-writer.ts'

/** The fields of a message that are read, by number: their names in the JSON encoding, and their wire types. */
export type Message<Name extends string> = readonly (Field<Name> | undefined)[]
type Field<Name extends string> = readonly [name: Name, wireType: WireType]

export function messageOf<Name extends string>(fields: Readonly<Record<number, Field<Name>>>): Message<Name> {
  const numbers = Object.keys(fields).map(Number)
  return Array.from({ length: Math.max(...numbers) + 1 }, (_, number) => fields[number])
}

/** Keys are varints of 32 bits. */
const KEY_BYTES_MAX = 5
/** The bits of a key before the number of its field. */
const WIRE_TYPE_BITS = 3

/** Texts that are remembered, and the longest one. */
const WORDS = 256
const WORD_BYTES_MAX = 64
const words: string[] = new Array<string>(WORDS).fill('')

/** The JSON of a text or, if that is the text itself in quotes, the place of its bytes. */
export type JsonText = string | { readonly start: number; readonly end: number }
export const EMPTY_TEXT = '""'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** The first character that JSON writes as it is. */
const SPACE = 0x20
/** Each of four bytes is one; and the highest bit of each. */
const ONES = 0x01010101
const HIGH_BITS = 0x80808080

/** The bytes of values that all have as many. */
const FIXED_BYTES: Readonly<Partial<Record<WireType, number>>> = { [WireType.Bit32]: 4, [WireType.Bit64]: 8 }

const ZEROS = /^0*$/

/** Bytes read per step, which takes a few milliseconds whatever they hold. */
export const STRIDE_BYTES = 32 * 1024

/** Reads the fields of an ExportLogsServiceRequest. The errors that it throws for bytes that it cannot read are for `problemOf`. */
export class Wire extends BinaryReader {
  /** The values that were read so far, at most `JSON_LIMITS.values`. */
  values = 0
  /** Whether a record that people were to read could not be read. */
  isUnreadable = false
  readonly #bytes: Buffer
  readonly #view: DataView
  readonly #holdValues: HoldValues
  /** The values whose memory is taken. */
  #held = 0
  #restAt = STRIDE_BYTES

  constructor(bytes: Buffer, holdValues: HoldValues) {
    super(bytes, decodeUtf8)
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#holdValues = holdValues
  }

  /** Whether the work should rest. */
  isDue(): boolean {
    if (this.pos < this.#restAt) return false
    this.holdValues()
    this.#restAt = this.pos + STRIDE_BYTES
    return true
  }

  /** Takes the memory for all values found so far. */
  holdValues(): void {
    this.#holdValues(this.values - this.#held)
    this.#held = this.values
  }

  /** Whether the message that ends at `end` has more fields. */
  hasField(end: number): boolean {
    if (this.pos > end) throw malformed('a field goes beyond the end of its message')
    return this.pos < end
  }

  /** Reads the key of a field and returns the field's name; undefined for an unknown field, which it skips. */
  field<Name extends string>(message: Message<Name>): Name | undefined {
    this.values += 1
    if (this.values > JSON_LIMITS.values) throw tooManyValues()
    const start = this.pos
    const key = this.#uint()
    const number = key >>> WIRE_TYPE_BITS
    if (number === 0 || this.pos - start > KEY_BYTES_MAX) throw malformed('a field has no number')
    const wireType: WireType = key & ((1 << WIRE_TYPE_BITS) - 1)
    const field = message[number]
    if (field !== undefined) {
      if (field[1] !== wireType) throw malformed(`${field[0]} has the wire type ${wireType}`)
      return field[0]
    }
    if (wireType === WireType.StartGroup || wireType === WireType.EndGroup) throw malformed('it has a group')
    this.pass(wireType)
    return undefined
  }

  /** Skips the value of a field. */
  pass(wireType: WireType): void {
    const bytes = FIXED_BYTES[wireType]
    // The reader makes an object of what it skips.
    if (bytes === undefined) this.skip(wireType)
    else this.pos += bytes
    if (this.pos > this.len) throw malformed('premature EOF')
  }

  /** The same as `uint32`, and faster for one byte. */
  #uint(): number {
    const byte = this.#bytes[this.pos] ?? 0x80
    if (byte >= 0x80) return this.uint32()
    this.pos += 1
    return byte
  }

  /** Reads the length of a field and returns the position where the field ends. */
  end(): number {
    const length = this.#uint()
    if (length > this.len - this.pos) throw malformed('a length goes beyond the end')
    return this.pos + length
  }

  text(): string {
    return this.#textTo(this.end())
  }

  /** Reads a text for `writeText`. */
  jsonText(): JsonText {
    const end = this.end()
    if (end === this.pos) return EMPTY_TEXT
    if (!this.#isPlain(end)) return JSON.stringify(this.#textTo(end))
    const text = { start: this.pos, end }
    this.pos = end
    return text
  }

  /** Writes a text of these bytes as JSON. */
  writeText(json: JsonWriter, text: JsonText): void {
    if (typeof text === 'string') json.add(text)
    else {
      json.addAscii('"')
      json.addBytes(this.#bytes, text.start, text.end)
      json.addAscii('"')
    }
  }

  /** Whether the bytes up to `end` are ASCII without escapes in JSON. Looks at four at once: most texts are, and messages are long. */
  #isPlain(end: number): boolean {
    let at = this.pos
    for (; at + 4 <= end; at += 4) {
      const four = this.#view.getInt32(at)
      // The highest bit of a byte is set if it is not ASCII, and after a subtraction if it is a control character, quote or backslash.
      const control = four - SPACE * ONES
      const quote = (four ^ (QUOTE * ONES)) - ONES
      const backslash = (four ^ (BACKSLASH * ONES)) - ONES
      if (((four | control | quote | backslash) & HIGH_BITS) !== 0) return false
    }
    for (; at < end; at += 1) {
      const byte = this.#bytes[at] ?? 0
      if (byte < SPACE || byte === QUOTE || byte === BACKSLASH || byte > 0x7f) return false
    }
    return true
  }

  /** Passes the text if it is this one, which is ASCII; otherwise stays before it. */
  passes(text: string): boolean {
    const start = this.pos
    const end = this.end()
    const isSame = this.#isAt(text, end - this.pos)
    this.pos = isSame ? end : start
    return isSame
  }

  #textTo(end: number): string {
    const text = this.#bytes.toString('utf8', this.pos, end)
    // The bytes that are not UTF-8 became U+FFFD.
    if (text.includes('\ufffd')) decodeUtf8(this.#bytes.subarray(this.pos, end))
    this.pos = end
    return text
  }

  /** A text that other records probably have too, as they have the same attributes: a remembered one takes no new memory. */
  word(): string {
    const end = this.end()
    const bytes = end - this.pos
    const slot = (bytes + 31 * (this.#bytes[this.pos] ?? 0) + 7 * (this.#bytes[end - 1] ?? 0)) % WORDS
    const known = words[slot] ?? ''
    if (this.#isAt(known, bytes)) {
      this.pos = end
      return known
    }
    const word = this.#textTo(end)
    // Bytes can only be compared with the characters of a text if it is ASCII.
    if (word.length === bytes && bytes <= WORD_BYTES_MAX) words[slot] = word
    return word
  }

  #isAt(text: string, bytes: number): boolean {
    if (text.length !== bytes) return false
    for (let index = 0; index < bytes; index += 1)
      if (text.charCodeAt(index) !== this.#bytes[this.pos + index]) return false
    return true
  }

  encoded(encoding: 'hex' | 'base64'): string {
    const end = this.end()
    const text = this.#bytes.toString(encoding, this.pos, end)
    this.pos = end
    return text
  }

  integer(): unknown {
    const integer = this.int64()
    const number = Number(integer)
    return Number.isSafeInteger(number) ? number : exactInteger(String(integer))
  }

  /** A double; NaN and the infinities are texts, as in the JSON encoding. */
  number(): number | string {
    const number = this.double()
    return Number.isFinite(number) ? number : String(number)
  }

  nanos(): string {
    return String(this.fixed64())
  }

  /** The timestamp of nanoseconds since 1970; empty for none, which is 0, and undefined for one after 2261. */
  instant(): string | undefined {
    const low = this.fixed32()
    const high = this.fixed32()
    return low === 0 && high === 0 ? '' : fromNanoWords(high, low)
  }

  /** The hexadecimal digits of an id of so many bytes; empty for none, which is all zeros, and undefined if it has another length. */
  id(bytes: number): string | undefined {
    const digits = this.encoded('hex')
    if (digits.length !== 2 * bytes) return undefined
    return digits.startsWith('0') && ZEROS.test(digits) ? '' : digits
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('a text is not valid UTF-8')
  }
}

const malformed = (reason: string): ProblemError =>
  new ProblemError(
    problemSaying('malformed_body', `The body is not an ExportLogsServiceRequest in Protobuf: ${reason}. ${REMEDY}`),
  )

const REMEDY = 'Send one, or over HTTP the same in JSON with the content type application/json.'

/** The names of the errors that the reader throws for bytes that it cannot read. */
const READER_ERRORS = ['Error', 'RangeError']

/** The reason why bytes could not be read; other errors are thrown on. */
export function problemOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  const { name, message } = error as Error
  if (READER_ERRORS.includes(name)) return malformed(message)
  throw error
}

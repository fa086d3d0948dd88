import { isUtf8 } from 'node:buffer'
import { crc32, zstdDecompressSync } from 'node:zlib'
import { toldHeaders } from '../../contract/headers.ts'
import { asBuffer, type Content, mostBytes, UNIT_BYTES_MAX, withRoom } from '../../runtime/utf8.ts'
import { createZlibCall, ZSTD_FAST, zstdCompress, zstdDecompress } from '../../runtime/zlib-call.ts'
import {
  type Headers,
  type JournalRecord,
  LOST_VALUE,
  type NewRecord,
  unpacked,
  type WaitingRecord,
} from '../journal.ts'

/**
 * Records of one partition that are stored together: each as three lengths, then its key, its value and its headers (JSON). A length is an
 * unsigned 32-bit little-endian number; for a key or a value it is one more than its bytes, or 0 if there is none. Headers that the value
 * tells with the key (`toldHeaders`) have no bytes.
 */
export interface PackedBatch {
  readonly count: number
  /** In a buffer of its own, so that it can be transferred to another thread. */
  readonly content: Uint8Array<ArrayBuffer>
}

/** A batch as read from the file. */
export interface StoredBatch {
  /** The offset of its first record; the others follow without gaps. */
  readonly firstOffset: number
  /** Milliseconds since 1970. */
  readonly appendedAt: number
  readonly count: number
  readonly content: Uint8Array
}

/** One record within a packed batch, not decoded. */
interface PackedRecord {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: Uint8Array
  /** The record alone, as a packed batch of one. */
  readonly whole: Uint8Array
}

const LENGTH_BYTES = 4
const HEAD_BYTES = 3 * LENGTH_BYTES

/** A batch ends with the record that reaches one of these: more records save little per row, and retention and readers go in steps. */
const BATCH_RECORDS_MAX = 500
const BATCH_BYTES_MAX = 1024 * 1024

/** The records, in order, in as few batches as the limits allow. */
export function packRecords(records: readonly WaitingRecord[]): readonly PackedBatch[] {
  const batches: PackedBatch[] = []
  let count = 0
  let end = 0
  const close = (): void => {
    batches.push({ count, content: copyOf(end) })
    count = 0
    end = 0
  }
  for (const record of records) {
    end = writeRecord(unpacked(record), end)
    count += 1
    if (count === BATCH_RECORDS_MAX || end >= BATCH_BYTES_MAX) close()
  }
  if (count > 0) close()
  return batches
}

const SCRATCH_BYTES = 2 * BATCH_BYTES_MAX

/** The buffer in which batches are assembled; it grows for a batch that needs more, and shrinks again afterwards. */
let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

/** Returns where the record ends. */
function writeRecord(record: NewRecord, at: number): number {
  const { key, value, headers, commonHeaders } = record
  scratch = withRoom(scratch, at, HEAD_BYTES + mostBytes(key) + mostBytes(value))
  const keyAt = at + HEAD_BYTES
  const valueAt = write(key, keyAt)
  const headersAt = write(value, valueAt)
  const end = areTold(record) ? headersAt : writeHeaders(headers, commonHeaders, headersAt)
  scratch.writeUInt32LE(key === null ? 0 : valueAt - keyAt + 1, at)
  scratch.writeUInt32LE(value === null ? 0 : headersAt - valueAt + 1, at + LENGTH_BYTES)
  scratch.writeUInt32LE(end - headersAt, at + 2 * LENGTH_BYTES)
  return end
}

/** Characters of a value that may tell its headers; each has at most three bytes. */
const TELLING_CHARACTERS = 2_000

function areTold({ key, value, headers, commonHeaders }: NewRecord): boolean {
  if (commonHeaders === undefined || typeof value !== 'string' || (key !== null && typeof key !== 'string'))
    return false
  const told = toldHeaders(value.slice(0, TELLING_CHARACTERS), key)
  if (told === undefined || told.common !== commonHeaders) return false
  const names = Object.keys(headers)
  return names.length === Object.keys(told.own).length && names.every((name) => headers[name] === told.own[name])
}

/** Returns where the content ends. */
function write(content: Content | null, at: number): number {
  if (content === null) return at
  if (typeof content === 'string') return at + scratch.write(content, at)
  scratch.set(content, at)
  return at + content.length
}

/** Writes both as one JSON object; returns where it ends. */
function writeHeaders(headers: Headers, common: Headers | undefined, at: number): number {
  const own = encodeHeaders(headers)
  const start = common === undefined ? NOTHING : startWith(common)
  scratch = withRoom(scratch, at, start.length + mostBytes(own))
  if (start.length === 0) return write(own, at)
  // Joins two objects: drops the braces between them, or the comma if there are no headers of its own.
  return own === NO_HEADERS ? write('}', write(start, at) - 1) : write(own.slice(1), write(start, at))
}

const NO_HEADERS = '{}'
const NOTHING = Buffer.alloc(0)
const starts = new WeakMap<Headers, Buffer>()

/** The beginning of a JSON object with these headers, up to the comma before the next one; empty if there are none. */
function startWith(headers: Headers): Buffer {
  let start = starts.get(headers)
  if (start === undefined) {
    const text = encodeHeaders(headers)
    start = text === NO_HEADERS ? NOTHING : Buffer.from(`${text.slice(0, -1)},`)
    starts.set(headers, start)
  }
  return start
}

/** The bytes written, in a buffer of their own: unlike one of Node's pool, it can be transferred to another thread. */
function copyOf(end: number): Uint8Array<ArrayBuffer> {
  const content = Buffer.allocUnsafeSlow(end)
  scratch.copy(content, 0, 0, end)
  if (scratch.length > SCRATCH_BYTES) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  return content
}

/**
 * Compressed content is this mark, the CRC-32 of the frame, and a Zstandard frame with a dictionary. That of version 3 of the file is a frame
 * alone, which begins with its own mark (RFC 8878, 3.1.1). In an uncompressed batch either would mean a key of 4 GB.
 */
const COMPRESSED_MARK = 0xfd2fb529
const ZSTD_MARK = 0xfd2fb528
const MARK_BYTES = 4
const FRAME_AT = 2 * MARK_BYTES

/**
 * Usual records with their headers, for the first record of each batch: a single entry of 850 bytes takes 270, without it 500. It never
 * changes, as content that exists is read with it: another one needs a mark of its own.
 */
const DICTIONARY = Buffer.from(
  [
    '{"kind":"event","id":"","receivedAt":"2026-01-01T00:00:00.000Z","timestamp":"2026-01-01T00:00:00.000Z","environment":"","team":"",',
    '"level":"Error","correlationKey":"","event":"","step":"","payload":"{\\"',
    '"ce_source":"urn:sluice:gateway","ce_type":"sluice.event-log.v1","ce_dataschema":"urn:sluice:schema:event-log-record:v1","ce_partitionkey":"',
    '{"kind":"application","id":"01","receivedAt":"2026-01-01T00:00:00.000Z","timestamp":"2026-01-01T00:00:00.000Z","level":"Warning",',
    '"level":"Information","environment":"Production","correlationKey":null,"team":"","project":"","categoryName":"","eventId":0,',
    '"eventName":"","message":"","exception":null,"scopeData":null}{"ce_specversion":"1.0","ce_source":"urn:sluice:gateway",',
    '"ce_type":"sluice.application-log.v1","ce_dataschema":"urn:sluice:schema:application-log-record:v1",',
    '"content-type":"application/json","ce_id":"01","ce_subject":"","ce_time":"2026-01-01T00:00:00.000Z"}',
  ].join(''),
)

const compress = createZlibCall(zstdCompress({ ...ZSTD_FAST, dictionary: DICTIONARY }))
/** Takes only bytes whose checksum is right. */
const decompress = createZlibCall(zstdDecompress({ dictionary: DICTIONARY }))

/** A packed batch in the form that is written to the file: compressed if that makes it smaller. */
export function compressContent(content: Uint8Array): Uint8Array {
  const frame = compress(content)
  if (FRAME_AT + frame.length >= content.length) return content
  const compressed = Buffer.allocUnsafe(FRAME_AT + frame.length)
  compressed.writeUInt32LE(COMPRESSED_MARK, 0)
  compressed.writeUInt32LE(crc32(frame), MARK_BYTES)
  compressed.set(frame, FRAME_AT)
  return compressed
}

/** The packed batch that was written; nothing if compressed content is damaged, or the file has a text in its place. */
export function inflateContent(content: unknown): Uint8Array {
  if (!(content instanceof Uint8Array)) return NOTHING
  const buffer = asBuffer(content)
  const mark = buffer.length < MARK_BYTES ? 0 : buffer.readUInt32LE(0)
  // In a buffer of its own, as a clone for another thread copies the whole buffer, however little of it is used.
  if (mark === COMPRESSED_MARK) return isWhole(buffer) ? new Uint8Array(decompress(buffer.subarray(FRAME_AT))) : NOTHING
  if (mark !== ZSTD_MARK) return content
  try {
    return new Uint8Array(zstdDecompressSync(buffer))
  } catch {
    return NOTHING
  }
}

const isWhole = (compressed: Buffer): boolean =>
  compressed.length > FRAME_AT && compressed.readUInt32LE(MARK_BYTES) === crc32(compressed.subarray(FRAME_AT))

/** The records of a packed batch, in order, without copies. */
export function* packedRecords(content: Uint8Array): Generator<PackedRecord> {
  const buffer = asBuffer(content)
  for (let at = 0; at < buffer.length; ) {
    const start = at
    const keyLength = buffer.readUInt32LE(at)
    const valueLength = buffer.readUInt32LE(at + LENGTH_BYTES)
    const headersLength = buffer.readUInt32LE(at + 2 * LENGTH_BYTES)
    at += HEAD_BYTES
    const valueAt = at + Math.max(0, keyLength - 1)
    const headersAt = valueAt + Math.max(0, valueLength - 1)
    const key = keyLength === 0 ? null : buffer.subarray(at, valueAt)
    const value = valueLength === 0 ? null : buffer.subarray(valueAt, headersAt)
    at = headersAt + headersLength
    yield { key, value, headers: buffer.subarray(headersAt, at), whole: buffer.subarray(start, at) }
  }
}

/**
 * The records of a batch from an offset on. Damage costs only the records of the batch that cannot be told apart any more: each is read as a
 * sentence, which every projection refuses and keeps among the dead letters.
 */
export function* decodeBatch(
  topic: string,
  partition: number,
  { firstOffset, appendedAt, count, content }: StoredBatch,
  from: number,
): Generator<JournalRecord> {
  const records = packedRecords(content)
  for (let offset = firstOffset; offset < firstOffset + count; offset += 1) {
    const { key, value, headers } = nextRecord(records)
    if (offset >= from)
      yield {
        topic,
        partition,
        offset,
        appendedAt,
        key: key && asBuffer(key),
        value: value && asBuffer(value),
        headers: headers.length === 0 ? headersToldBy(value, key) : readableHeaders(asBuffer(headers).toString()),
      }
  }
}

const DAMAGED = {
  key: null,
  value: Buffer.from(LOST_VALUE),
  headers: NOTHING,
}

function nextRecord(records: Iterator<PackedRecord>): Omit<PackedRecord, 'whole'> {
  try {
    const { done, value } = records.next()
    return done === true ? DAMAGED : value
  } catch {
    // A damaged length led past the end.
    return DAMAGED
  }
}

function headersToldBy(value: Uint8Array | null, key: Uint8Array | null): Headers {
  const beginning = value === null ? '' : asBuffer(value).toString('utf8', 0, UNIT_BYTES_MAX * TELLING_CHARACTERS)
  const told = toldHeaders(beginning, key && asBuffer(key).toString())
  return { ...told?.common, ...told?.own }
}

/** The headers in a text; none if it is damaged, as the value can be read without them. */
function readableHeaders(text: string): Headers {
  try {
    return decodeHeaders(text)
  } catch {
    return {}
  }
}

/** JSON with text as it is, and other bytes as an array of one base64 text. */
export function encodeHeaders(headers: Headers): string {
  for (const name in headers) {
    if (typeof headers[name] !== 'string') return JSON.stringify(withBytesEncoded(headers))
  }
  return JSON.stringify(headers)
}

const withBytesEncoded = (headers: Headers): object =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : encodeBytes(value)]),
  )

function encodeBytes(bytes: Uint8Array): string | readonly [string] {
  const buffer = asBuffer(bytes)
  return isUtf8(buffer) ? buffer.toString() : [buffer.toString('base64')]
}

export function decodeHeaders(text: string): Headers {
  const headers = JSON.parse(text) as Record<string, string | Uint8Array | readonly [string]>
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value)) headers[name] = Buffer.from(value[0], 'base64')
  }
  return headers as Headers
}

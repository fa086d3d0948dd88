import { isUtf8 } from 'node:buffer'
import type { Headers, JournalRecord, NewRecord } from '../journal.ts'

/**
 * Records of one partition as they are stored together: each as three lengths, then its key, its value and its headers (JSON).
 * A length is an unsigned 32-bit number in little-endian order; that of a key or a value is one more than its bytes, and 0
 * where there is none.
 */
export interface PackedBatch {
  readonly count: number
  /** In a buffer of its own, so that it can be moved to another thread. */
  readonly content: Uint8Array<ArrayBuffer>
}

/** A batch as it is read from the file. */
export interface StoredBatch {
  /** The offset of its first record; the others follow one by one. */
  readonly firstOffset: number
  /** Milliseconds since 1970. */
  readonly appendedAt: number
  readonly count: number
  readonly content: Uint8Array
}

/** One record within a packed batch, not decoded. */
export interface PackedRecord {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: Uint8Array
  /** The record by itself, as a packed batch of one. */
  readonly whole: Uint8Array
}

const LENGTH_BYTES = 4
const HEAD_BYTES = 3 * LENGTH_BYTES

/** Large enough that a row costs little by its records, small enough that retention and readers go in steps. */
const BATCH_RECORDS_MAX = 500
const BATCH_BYTES_MAX = 1024 * 1024

/** The records in their order, in as few batches as the limits of one allow. */
export function packRecords(records: readonly NewRecord[]): readonly PackedBatch[] {
  const batches: PackedBatch[] = []
  let sized: Sized[] = []
  let size = 0
  const close = (): void => {
    if (sized.length > 0) batches.push({ count: sized.length, content: contentOf(sized, size) })
    sized = []
    size = 0
  }
  for (const record of records) {
    const one = sizedRecord(record)
    if (sized.length === BATCH_RECORDS_MAX || size + one.bytes > BATCH_BYTES_MAX) close()
    sized.push(one)
    size += one.bytes
  }
  close()
  return batches
}

type Content = string | Uint8Array

/** A record with the bytes of its parts. */
interface Sized {
  readonly key: Content | null
  readonly keyBytes: number
  readonly value: Content | null
  readonly valueBytes: number
  readonly headers: string
  readonly headersBytes: number
  readonly bytes: number
}

function sizedRecord({ key, value, valueBytes = sizeOf(value), headers }: NewRecord): Sized {
  const text = encodeHeaders(headers)
  const keyBytes = sizeOf(key)
  const headersBytes = Buffer.byteLength(text)
  const bytes = HEAD_BYTES + keyBytes + valueBytes + headersBytes
  return { key, keyBytes, value, valueBytes, headers: text, headersBytes, bytes }
}

const sizeOf = (content: Content | null): number => (content === null ? 0 : Buffer.byteLength(content))

function contentOf(records: readonly Sized[], size: number): Uint8Array<ArrayBuffer> {
  // Every byte is written below; a buffer of the pool could not be moved to another thread.
  const buffer = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const { key, keyBytes, value, valueBytes, headers, headersBytes } of records) {
    buffer.writeUInt32LE(key === null ? 0 : keyBytes + 1, at)
    buffer.writeUInt32LE(value === null ? 0 : valueBytes + 1, at + LENGTH_BYTES)
    buffer.writeUInt32LE(headersBytes, at + 2 * LENGTH_BYTES)
    at += HEAD_BYTES
    at += put(buffer, key, at)
    at += put(buffer, value, at)
    at += put(buffer, headers, at)
  }
  return buffer
}

/** Returns how many bytes it wrote. */
function put(buffer: Buffer, content: Content | null, at: number): number {
  if (content === null) return 0
  if (typeof content === 'string') return buffer.write(content, at)
  buffer.set(content, at)
  return content.length
}

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

/** The records of a batch from an offset on. */
export function* decodeBatch(
  topic: string,
  partition: number,
  { firstOffset, appendedAt, content }: StoredBatch,
  from: number,
): Generator<JournalRecord> {
  let offset = firstOffset
  for (const { key, value, headers } of packedRecords(content)) {
    if (offset >= from)
      yield {
        topic,
        partition,
        offset,
        appendedAt,
        key: key && asBuffer(key),
        value: value && asBuffer(value),
        headers: decodeHeaders(asBuffer(headers).toString()),
      }
    offset += 1
  }
}

/** JSON with text as it is and other bytes as an array of one base64 text. */
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

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

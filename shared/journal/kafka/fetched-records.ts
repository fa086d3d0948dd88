import { isUtf8 } from 'node:buffer'
import { compressionsAlgorithmsByBitmask } from '@platformatic/kafka'
import type { Headers, JournalRecord } from '../journal.ts'
import {
  ATTRIBUTES_AT,
  COUNT_AT,
  FIRST_TIMESTAMP_AT,
  LAST_OFFSET_DELTA_AT,
  LENGTH_AT,
  MAGIC,
  MAGIC_AT,
  MAX_TIMESTAMP_AT,
  RECORDS_AT,
} from './record-batch.ts'

/** Records of one partition that were fetched and become objects when they are taken. */
export interface FetchedRecords {
  /** Bytes that they hold in memory. */
  readonly bytes: number
  /** The position after all that they cover, also where that holds no record for a reader. */
  readonly next: number
  /** The next records, `max` at most; none where there are none left. */
  take(max: number): readonly JournalRecord[]
  isEmpty(): boolean
}

/** The bytes of a batch that its length does not count. */
const BEFORE_LENGTH = LENGTH_AT + 4

/** Bits of a batch's attributes. */
const COMPRESSION = 0b111
const LOG_APPEND_TIME = 1 << 3
const CONTROL = 1 << 5

/**
 * The records of a fetch answer from a position on. A broker sends whole batches, so the first may begin earlier, and cuts the last where
 * the answer is full; the markers that end transactions take an offset and are no records.
 */
export function createFetchedRecords(
  topic: string,
  partition: number,
  bytes: Buffer,
  position: number,
): FetchedRecords {
  const { end, next } = measure(bytes, position)
  let at = 0
  let batch: ((max: number, records: JournalRecord[]) => boolean) | null = null

  const advance = (): void => {
    const size = BEFORE_LENGTH + bytes.readInt32BE(at + LENGTH_AT)
    batch = readBatch(topic, partition, bytes.subarray(at, at + size), position)
    at += size
  }
  return {
    bytes: bytes.length,
    next,
    isEmpty: () => batch === null && at >= end,
    take(max) {
      const records: JournalRecord[] = []
      while (records.length < max && (batch !== null || at < end)) {
        if (batch === null) advance()
        if (batch?.(max, records) !== true) batch = null
      }
      return records
    },
  }
}

/** Where the last whole batch ends, and the position after it. */
function measure(bytes: Buffer, position: number): { readonly end: number; readonly next: number } {
  let end = 0
  let next = position
  while (end + RECORDS_AT <= bytes.length) {
    const after = end + BEFORE_LENGTH + bytes.readInt32BE(end + LENGTH_AT)
    if (after < end + RECORDS_AT) throw new RangeError('a batch of records is shorter than its own head')
    if (after > bytes.length) break
    next = Math.max(next, Number(bytes.readBigInt64BE(end)) + bytes.readInt32BE(end + LAST_OFFSET_DELTA_AT) + 1)
    end = after
  }
  return { end, next }
}

/** Reads a batch bit by bit: appends records until there are `max`, and says whether the batch has more. */
function readBatch(topic: string, partition: number, bytes: Buffer, position: number) {
  const magic = bytes.readInt8(MAGIC_AT)
  if (magic !== MAGIC)
    throw new Error(`${topic}/${partition} has records of the format ${magic}, older than Kafka 0.11`)
  const attributes = bytes.readInt16BE(ATTRIBUTES_AT)
  const first = Number(bytes.readBigInt64BE(0))
  const firstTimestamp = Number(bytes.readBigInt64BE(FIRST_TIMESTAMP_AT))
  const logAppendTime = (attributes & LOG_APPEND_TIME) === 0 ? null : Number(bytes.readBigInt64BE(MAX_TIMESTAMP_AT))
  let left = (attributes & CONTROL) === 0 ? bytes.readInt32BE(COUNT_AT) : 0
  const reader = createReader(inflate(bytes.subarray(RECORDS_AT), attributes & COMPRESSION))

  return (max: number, records: JournalRecord[]): boolean => {
    while (left > 0 && records.length < max) {
      left -= 1
      const end = reader.varint() + reader.at()
      reader.skip(1) // Attributes of a record; there are none.
      const appendedAt = logAppendTime ?? firstTimestamp + reader.varlong()
      if (logAppendTime !== null) reader.varlong()
      const offset = first + reader.varint()
      if (offset >= position) {
        const key = reader.bytes()
        const value = reader.bytes()
        records.push({ topic, partition, offset, appendedAt, key, value, headers: readHeaders(reader) })
      }
      reader.moveTo(end)
    }
    return left > 0
  }
}

function inflate(records: Buffer, compression: number): Buffer {
  if (compression === 0) return records
  const algorithm = compressionsAlgorithmsByBitmask[compression as keyof typeof compressionsAlgorithmsByBitmask]
  if (algorithm === undefined) throw new Error(`records are compressed in a way that is not known: ${compression}`)
  return algorithm.decompressSync(records)
}

/** Of headers with one name the last counts; a null value is read as the empty text. */
function readHeaders(reader: RecordReader): Headers {
  const headers: Record<string, string | Uint8Array> = {}
  const count = reader.varint()
  for (let index = 0; index < count; index++) {
    const key = String(reader.text(2 * index))
    const text = reader.text(2 * index + 1)
    // A header named __proto__ must be a header, not a prototype.
    if (key === '__proto__') Object.defineProperty(headers, key, { value: text, enumerable: true, configurable: true })
    else headers[key] = text
  }
  return headers
}

interface RecordReader {
  at(): number
  moveTo(place: number): void
  skip(length: number): void
  varint(): number
  varlong(): number
  /** Bytes with their length before them; null where that is negative. */
  bytes(): Buffer | null
  /** As `bytes`, as text where they are UTF-8. */
  text(place: number): string | Buffer
}

function createReader(buffer: Buffer): RecordReader {
  let at = 0
  const texts = createTexts(buffer)

  const byte = (): number => {
    const value = buffer[at++]
    if (value === undefined) throw new RangeError('a batch of records ends within a record')
    return value
  }
  /** Zigzag, least significant group first; exact up to 2^53, far beyond any time. */
  const varlong = (): number => {
    let value = 0
    let unit = 1
    for (;;) {
      const group = byte()
      value += (group & 0x7f) * unit
      if (group < 0x80) break
      unit *= 0x80
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
  const varint = (): number => {
    const group = byte()
    if (group < 0x80) return (group >>> 1) ^ -(group & 1)
    at -= 1
    return varlong()
  }
  const bytes = (): Buffer | null => {
    const length = varint()
    if (length < 0) return null
    at += length
    return buffer.subarray(at - length, at)
  }
  return {
    at: () => at,
    moveTo: (place) => {
      at = place
    },
    skip: (length) => {
      at += length
    },
    varint,
    varlong,
    bytes,
    text: (place) => {
      const length = varint()
      if (length <= 0) return ''
      at += length
      return texts(place, at - length, at)
    },
  }
}

/** Records that follow each other have the same headers but for some values, so a text is made anew only where its bytes differ. */
function createTexts(buffer: Buffer) {
  const last: { readonly from: number; readonly length: number; readonly text: string | Buffer }[] = []
  return (place: number, from: number, to: number): string | Buffer => {
    const before = last[place]
    if (before !== undefined && before.length === to - from && isSame(buffer, before.from, from, before.length))
      return before.text
    const bytes = buffer.subarray(from, to)
    const text = isUtf8(bytes) ? bytes.toString('utf8') : bytes
    last[place] = { from, length: to - from, text }
    return text
  }
}

function isSame(buffer: Buffer, one: number, other: number, length: number): boolean {
  for (let index = 0; index < length; index++) if (buffer[one + index] !== buffer[other + index]) return false
  return true
}

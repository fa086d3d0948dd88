import { isUtf8 } from 'node:buffer'
import { compressionsAlgorithmsByBitmask, crc32c } from '@platformatic/kafka'
import type { Headers, JournalRecord } from '../journal.ts'
import type { LogPlace } from './offsets.ts'
import {
  ATTRIBUTES_AT,
  COUNT_AT,
  CRC_AT,
  FIRST_TIMESTAMP_AT,
  LAST_OFFSET_DELTA_AT,
  LEADER_EPOCH_AT,
  LENGTH_AT,
  MAGIC,
  MAGIC_AT,
  MAX_TIMESTAMP_AT,
  RECORDS_AT,
} from './record-batch.ts'

/** Fetched records of one partition, which become objects when they are taken. */
export interface FetchedRecords {
  /** Their size in memory. */
  readonly bytes: number
  /** The position from which they were fetched. */
  readonly position: number
  /** The place after everything they cover, even if that includes no record for a reader. */
  readonly next: LogPlace
  /** The next records for which there is room; empty if there are none left. */
  take(room: Room): readonly FetchedRecord[]
  isEmpty(): boolean
}

/** How much more may be taken; each record that is taken reduces it, the last one below zero bytes if need be. */
export interface Room {
  records: number
  /** The bytes of keys, values and headers, inflated. */
  bytes: number
}

/** The bytes of a batch that its length does not include. */
const BEFORE_LENGTH = LENGTH_AT + 4

const ENDS_EARLY = 'a batch of records ends within a record'

/** Bits of a batch's attributes. */
const COMPRESSION = 0b111
const LOG_APPEND_TIME = 1 << 3
const CONTROL = 1 << 5

/**
 * The records of a fetch answer from a place on. A broker sends whole batches, so the first may begin earlier; it cuts off the last if
 * the answer is full. The markers that end transactions take up an offset but are not records. Batches before a damaged one are read; throws
 * if that is the first.
 */
export function createFetchedRecords(
  topic: string,
  partition: number,
  bytes: Buffer,
  { position, leaderEpoch }: LogPlace,
): FetchedRecords {
  const { end, next } = measure(topic, partition, bytes, { position, leaderEpoch })
  let at = 0
  let batch: ((room: Room, records: FetchedRecord[]) => boolean) | null = null

  const advance = (): void => {
    const size = BEFORE_LENGTH + bytes.readInt32BE(at + LENGTH_AT)
    batch = readBatch(topic, partition, bytes.subarray(at, at + size), position)
    at += size
  }
  return {
    bytes: bytes.length,
    position,
    next,
    isEmpty: () => batch === null && at >= end,
    take(room) {
      const records: FetchedRecord[] = []
      while (room.records > 0 && room.bytes > 0 && (batch !== null || at < end)) {
        if (batch === null) advance()
        if (batch?.(room, records) !== true) batch = null
      }
      return records
    },
  }
}

/** The end of the last complete batch that can be read, and the place after it. */
function measure(
  topic: string,
  partition: number,
  bytes: Buffer,
  from: LogPlace,
): { readonly end: number; readonly next: LogPlace } {
  let end = 0
  let next = from
  while (end + RECORDS_AT <= bytes.length) {
    const after = end + BEFORE_LENGTH + bytes.readInt32BE(end + LENGTH_AT)
    if (after > bytes.length) break
    const flaw = flawOf(bytes.subarray(end, after))
    if (flaw !== null) {
      if (next !== from) break
      throw new Error(`${topic}/${partition} has a batch of records ${flaw}`)
    }
    const position = Number(bytes.readBigInt64BE(end)) + bytes.readInt32BE(end + LAST_OFFSET_DELTA_AT) + 1
    if (position > next.position) next = { position, leaderEpoch: bytes.readInt32BE(end + LEADER_EPOCH_AT) }
    end = after
  }
  return { end, next }
}

/** The flaw for which a batch cannot be read, to complete "a batch …"; null: none. Brokers do not check the checksum of what they send. */
function flawOf(batch: Buffer): string | null {
  if (batch.length < RECORDS_AT) return 'that is shorter than its own head'
  const magic = batch.readInt8(MAGIC_AT)
  if (magic !== MAGIC) return `of the format ${magic}, older than Kafka 0.11`
  if (crc32c(batch.subarray(ATTRIBUTES_AT)) !== batch.readUInt32BE(CRC_AT)) return 'that does not match its checksum'
  const compression = compressionOf(batch)
  if (compression !== 0 && inflaters[compression] === undefined) return `compressed in an unknown way: ${compression}`
  return null
}

/** Reads a batch in portions: appends records while there is room, and returns whether the batch has more. */
function readBatch(topic: string, partition: number, bytes: Buffer, position: number) {
  const attributes = bytes.readInt16BE(ATTRIBUTES_AT)
  const first = Number(bytes.readBigInt64BE(0))
  const firstTimestamp = Number(bytes.readBigInt64BE(FIRST_TIMESTAMP_AT))
  const logAppendTime = (attributes & LOG_APPEND_TIME) === 0 ? null : Number(bytes.readBigInt64BE(MAX_TIMESTAMP_AT))
  const leaderEpoch = bytes.readInt32BE(LEADER_EPOCH_AT)
  let left = (attributes & CONTROL) === 0 ? bytes.readInt32BE(COUNT_AT) : 0
  const reader = new RecordReader(inflate(bytes), 0)

  return (room: Room, records: FetchedRecord[]): boolean => {
    while (left > 0 && room.records > 0 && room.bytes > 0) {
      left -= 1
      const length = reader.varint()
      const end = reader.at + length
      reader.skip(1) // The attributes of a record; none are defined.
      const timestamp = firstTimestamp + reader.varlong()
      const offset = first + reader.varint()
      if (offset >= position) {
        const appendedAt = logAppendTime ?? timestamp
        records.push(new FetchedRecord(topic, partition, offset, leaderEpoch, appendedAt, reader.buffer, reader.at))
        room.records -= 1
        room.bytes -= length
      }
      reader.moveTo(end)
    }
    return left > 0
  }
}

const inflaters: Readonly<Record<number, { decompressSync(records: Buffer): Buffer }>> = compressionsAlgorithmsByBitmask

const compressionOf = (batch: Buffer): number => batch.readInt16BE(ATTRIBUTES_AT) & COMPRESSION

/** The records of a batch. */
function inflate(batch: Buffer): Buffer {
  const records = batch.subarray(RECORDS_AT)
  return inflaters[compressionOf(batch)]?.decompressSync(records) ?? records
}

/**
 * A record, still in the fetched bytes. Many wait while earlier ones are written, and most keys and headers are never asked for, so each
 * part is read on demand and not kept.
 */
export class FetchedRecord implements JournalRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** The epoch of the leader that took the record. */
  readonly leaderEpoch: number
  readonly appendedAt: number
  readonly #buffer: Buffer
  /** The place of its key, which the value and the headers follow. */
  readonly #keyAt: number

  constructor(
    topic: string,
    partition: number,
    offset: number,
    leaderEpoch: number,
    appendedAt: number,
    buffer: Buffer,
    keyAt: number,
  ) {
    this.topic = topic
    this.partition = partition
    this.offset = offset
    this.leaderEpoch = leaderEpoch
    this.appendedAt = appendedAt
    this.#buffer = buffer
    this.#keyAt = keyAt
  }

  get key(): Buffer | null {
    return new RecordReader(this.#buffer, this.#keyAt).bytes()
  }

  get value(): Buffer | null {
    const reader = new RecordReader(this.#buffer, this.#keyAt)
    reader.skip(reader.varint())
    return reader.bytes()
  }

  get headers(): Headers {
    return readHeaders(this.#headersReader())
  }

  header(name: string): string | Buffer | undefined {
    const reader = this.#headersReader()
    let found: string | Buffer | undefined
    for (let left = reader.varint(); left > 0; left--) {
      const length = reader.varint()
      reader.skip(length)
      if (length === name.length && reader.buffer.toString('latin1', reader.at - length, reader.at) === name)
        found = reader.text()
      else reader.skip(reader.varint())
    }
    return found
  }

  #headersReader(): RecordReader {
    const reader = new RecordReader(this.#buffer, this.#keyAt)
    reader.skip(reader.varint())
    reader.skip(reader.varint())
    return reader
  }
}

/** The last of several headers with one name counts; a null value is read as the empty text. */
function readHeaders(reader: RecordReader): Headers {
  const headers: Record<string, string | Uint8Array> = {}
  const count = reader.varint()
  for (let index = 0; index < count; index++) {
    const key = String(reader.text())
    const text = reader.text()
    // A header named __proto__ must be a header, not a prototype.
    if (key === '__proto__') Object.defineProperty(headers, key, { value: text, enumerable: true, configurable: true })
    else headers[key] = text
  }
  return headers
}

/** Reads one value after another. Each method throws a RangeError if the bytes end too early. */
class RecordReader {
  readonly buffer: Buffer
  at: number

  constructor(buffer: Buffer, at: number) {
    this.buffer = buffer
    this.at = at
  }

  moveTo(place: number): void {
    if (place > this.buffer.length) throw new RangeError(ENDS_EARLY)
    this.at = place
  }

  /** A negative length stands for null, which has no bytes. */
  skip(length: number): void {
    if (length > 0) this.moveTo(this.at + length)
  }

  varint(): number {
    const group = this.#byte()
    if (group < 0x80) return (group >>> 1) ^ -(group & 1)
    this.at -= 1
    return this.varlong()
  }

  /** Zigzag, least significant group first; exact up to 2^53, far beyond any time in milliseconds. */
  varlong(): number {
    let value = 0
    let unit = 1
    for (;;) {
      const group = this.#byte()
      value += (group & 0x7f) * unit
      if (group < 0x80) break
      unit *= 0x80
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** Bytes that follow their length; null if that is negative. */
  bytes(): Buffer | null {
    const length = this.varint()
    if (length < 0) return null
    this.skip(length)
    return this.buffer.subarray(this.at - length, this.at)
  }

  /** The next bytes with their length before them, as text if they are UTF-8. */
  text(): string | Buffer {
    const bytes = this.bytes()
    if (bytes === null) return ''
    return isUtf8(bytes) ? bytes.toString('utf8') : bytes
  }

  #byte(): number {
    const value = this.buffer[this.at++]
    if (value === undefined) throw new RangeError(ENDS_EARLY)
    return value
  }
}

import { compressionsAlgorithms, crc32c, Writer } from '@platformatic/kafka'
import { type Content, mostBytes, withRoom } from '../../runtime/utf8.ts'
import { createZlibCall, gzip, type ZlibCall, ZSTD_FAST, zstdCompress } from '../../runtime/zlib-call.ts'
import { type Headers, type NewRecord, type PackedRecords, unpacked, type WaitingRecord } from '../journal.ts'

/** The fields before the records, in the format's order; positions in bytes. */
export const LENGTH_AT = 8
export const LEADER_EPOCH_AT = 12
export const MAGIC_AT = 16
export const CRC_AT = 17
export const ATTRIBUTES_AT = 21
export const LAST_OFFSET_DELTA_AT = 23
export const FIRST_TIMESTAMP_AT = 27
export const MAX_TIMESTAMP_AT = 35
const PRODUCER_ID_AT = 43
const PRODUCER_EPOCH_AT = 51
const BASE_SEQUENCE_AT = 53
export const COUNT_AT = 57
export const RECORDS_AT = 61

export const MAGIC = 2
/** No idempotent producer: we do not number the records of a partition. */
const NO_PRODUCER = -1n

/** A length of 64 to 8,191 bytes takes two bytes, and most records are in that range. */
const USUAL_LENGTH_BYTES = 2
const VARINT_BYTES_MAX = 5
/** Below this many characters, a loop writes a text faster than a native call. */
const SHORT_CHARACTERS = 48

const SCRATCH_BYTES = 1024 * 1024

/** The buffer in which batches are assembled; it grows for a batch that needs more, and shrinks again afterwards. */
let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

/** How the records of a batch are compressed. */
export type Compression = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

/** Smaller batches are not compressed: a call takes 8 µs and more, and a single entry shrinks by only a third. */
const COMPRESSED_BYTES_MIN = 1_024

/** The fastest level, for the same reason as ZSTD_FAST. */
const GZIP = { level: 1 }

const COMPRESS: Readonly<Record<Exclude<Compression, 'none'>, ZlibCall>> = {
  gzip: createZlibCall(gzip(GZIP)),
  snappy: (records) => compressionsAlgorithms.snappy.compressSync(records as Buffer),
  lz4: (records) => compressionsAlgorithms.lz4.compressSync(records as Buffer),
  zstd: createZlibCall(zstdCompress(ZSTD_FAST)),
}

/**
 * Encodes a record batch of format version 2 (kafka.apache.org/documentation, "Record Batch"), all records with one timestamp in
 * milliseconds since 1970. The library builds the same bytes from about forty small buffers per record, which costs more than all other
 * work for an entry; this writes them into one. Records that are few, or do not shrink, are not compressed.
 */
export function encodeRecordBatch(
  records: readonly WaitingRecord[],
  timestamp: number,
  compression: Compression = 'none',
): Buffer {
  const { batch, count, attributes } = encodeRecords(records, compression)
  const at = BigInt(timestamp)
  batch.writeBigInt64BE(0n, 0)
  batch.writeInt32BE(batch.length - LEADER_EPOCH_AT, LENGTH_AT)
  batch.writeInt32BE(0, LEADER_EPOCH_AT)
  batch.writeInt8(MAGIC, MAGIC_AT)
  batch.writeInt16BE(attributes, ATTRIBUTES_AT)
  batch.writeInt32BE(count - 1, LAST_OFFSET_DELTA_AT)
  batch.writeBigInt64BE(at, FIRST_TIMESTAMP_AT)
  batch.writeBigInt64BE(at, MAX_TIMESTAMP_AT)
  batch.writeBigInt64BE(NO_PRODUCER, PRODUCER_ID_AT)
  batch.writeInt16BE(0, PRODUCER_EPOCH_AT)
  batch.writeInt32BE(0, BASE_SEQUENCE_AT)
  batch.writeInt32BE(count, COUNT_AT)
  // The library copies a buffer that is given as such, which takes five times as long as the checksum.
  batch.writeUInt32BE(crc32c(Writer.create().append(batch.subarray(ATTRIBUTES_AT)).dynamicBuffer), CRC_AT)
  return batch
}

/** The records in a buffer of their own, after room for the fields of the batch, and the attributes that name their compression. */
function encodeRecords(
  records: readonly WaitingRecord[],
  compression: Compression,
): { readonly batch: Buffer; readonly count: number; readonly attributes: number } {
  let end = RECORDS_AT
  let count = 0
  for (const record of records) {
    if (record instanceof RecordBlock) {
      end = writeBlock(end, count, record)
      count += record.count
    } else end = writeRecord(end, count++, unpacked(record))
  }
  const plain = scratch.subarray(RECORDS_AT, end)
  const compressed =
    compression === 'none' || plain.length < COMPRESSED_BYTES_MIN ? plain : COMPRESS[compression](plain)
  const shrunk = compressed.length < plain.length
  const content = shrunk ? compressed : plain
  const batch = bufferOf(RECORDS_AT + content.length)
  content.copy(batch, RECORDS_AT)
  if (scratch.length > SCRATCH_BYTES) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  return { batch, count, attributes: shrunk ? compressionsAlgorithms[compression].bitmask : 0 }
}

/**
 * Unused buffers of large batches. If they were allocated for each batch, the garbage collector would run over the whole heap several times
 * a second, as it reacts to their size.
 */
const idle: Buffer[] = []
const IDLE_MAX = 16
const LARGE_BYTES = SCRATCH_BYTES / 16

function bufferOf(size: number): Buffer {
  if (size < LARGE_BYTES || size > SCRATCH_BYTES) return Buffer.allocUnsafeSlow(size)
  return (idle.pop() ?? Buffer.allocUnsafeSlow(SCRATCH_BYTES)).subarray(0, size)
}

/** Returns the buffer of an encoded batch to the pool; call it at most once, and only when nothing can read the batch any more. */
export function recycle({ buffer }: Buffer): void {
  if (buffer.byteLength === SCRATCH_BYTES && idle.length < IDLE_MAX) idle.push(Buffer.from(buffer))
}

/** The bytes of a record between its length and the distance of its offset to the first. */
const HEAD_BYTES = 2

/** Returns where the record ends. */
function writeRecord(start: number, offsetDelta: number, record: NewRecord): number {
  scratch = withRoom(scratch, start, HEAD_BYTES + 2 * VARINT_BYTES_MAX)
  const bodyAt = start + USUAL_LENGTH_BYTES
  return prependLength(start, bodyAt, writeContents(writeHead(bodyAt, offsetDelta), record))
}

function writeHead(start: number, offsetDelta: number): number {
  scratch[start] = 0 // attributes
  scratch[start + 1] = 0 // the timestamp's distance to the first
  return writeVarInt(start + HEAD_BYTES, offsetDelta)
}

function writeContents(start: number, { key, value, headers, commonHeaders }: NewRecord): number {
  scratch = withRoom(scratch, start, mostBytes(key) + mostBytes(value) + 2 * VARINT_BYTES_MAX)
  let at = writeContent(start, key)
  at = writeContent(at, value)
  const common = commonHeaders === undefined ? NO_HEADERS : encodedOnce(commonHeaders)
  scratch = withRoom(scratch, at, VARINT_BYTES_MAX + common.bytes.length)
  at = writeVarInt(at, common.count + countOf(headers))
  scratch.set(common.bytes, at)
  return writeHeaders(at + common.bytes.length, headers)
}

/** Fewer records wait as they are: a block takes longer to make than the garbage collector takes for them. */
const BLOCK_RECORDS_MIN = 8

/** As `Journal.pack`. */
export const packRecords = (records: readonly NewRecord[]): readonly WaitingRecord[] =>
  records.length < BLOCK_RECORDS_MIN ? records : [new RecordBlock(records)]

/** The bytes before each record of a block: its length as an unsigned 32-bit little-endian number. */
const LENGTH_BYTES = 4

/** The contents of records, to be written into one batch. */
export class RecordBlock implements PackedRecords {
  readonly count: number
  #bytes: Buffer<ArrayBuffer> | undefined

  constructor(records: readonly NewRecord[]) {
    let end = 0
    for (const record of records) {
      scratch = withRoom(scratch, end, LENGTH_BYTES)
      const start = end + LENGTH_BYTES
      end = writeContents(start, record)
      scratch.writeUInt32LE(end - start, start - LENGTH_BYTES)
    }
    this.count = records.length
    this.#bytes = Buffer.allocUnsafeSlow(end)
    scratch.copy(this.#bytes, 0, 0, end)
  }

  /** Gives its bytes away, once: their reader frees them. */
  take(): Buffer<ArrayBuffer> {
    const bytes = this.#bytes
    if (bytes === undefined) throw new Error('the records were appended before')
    this.#bytes = undefined
    return bytes
  }
}

/** Returns where the last record ends. */
function writeBlock(start: number, firstDelta: number, block: RecordBlock): number {
  const bytes = block.take()
  scratch = withRoom(scratch, start, bytes.length + block.count * (HEAD_BYTES + 2 * VARINT_BYTES_MAX))
  let at = start
  let offsetDelta = firstDelta
  for (let from = 0; from < bytes.length; offsetDelta += 1) {
    const length = bytes.readUInt32LE(from)
    from += LENGTH_BYTES
    at = writeVarInt(at, HEAD_BYTES + sizeOfVarInt(offsetDelta) + length)
    at = writeHead(at, offsetDelta)
    bytes.copy(scratch, at, from, from + length)
    from += length
    at += length
  }
  // Not left to the garbage collector, which would run over the whole heap for such memory.
  bytes.buffer.transfer(0)
  return at
}

function writeHeaders(start: number, headers: Headers): number {
  let at = start
  for (const name in headers) {
    const content = headers[name] ?? null
    scratch = withRoom(scratch, at, mostBytes(name) + mostBytes(content) + 2 * VARINT_BYTES_MAX)
    at = writeContent(at, name)
    at = writeContent(at, content)
  }
  return at
}

function countOf(headers: Headers): number {
  let count = 0
  for (const _name in headers) count += 1
  return count
}

interface EncodedHeaders {
  readonly count: number
  readonly bytes: Buffer
}

const NO_HEADERS: EncodedHeaders = { count: 0, bytes: Buffer.alloc(0) }
const encoded = new WeakMap<Headers, EncodedHeaders>()

function encodedOnce(headers: Headers): EncodedHeaders {
  const known = encoded.get(headers)
  if (known !== undefined) return known
  // With a scratch buffer of its own, as the one in use holds half a record.
  const inUse = scratch
  scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  const bytes = Buffer.from(scratch.subarray(0, writeHeaders(0, headers)))
  scratch = inUse
  const made = { count: countOf(headers), bytes }
  encoded.set(headers, made)
  return made
}

function prependLength(start: number, bodyAt: number, end: number): number {
  scratch = withRoom(scratch, end, VARINT_BYTES_MAX)
  const length = end - bodyAt
  const shift = sizeOfVarInt(length) - USUAL_LENGTH_BYTES
  if (shift !== 0) scratch.copyWithin(bodyAt + shift, bodyAt, end)
  writeVarInt(start, length)
  return end + shift
}

/** Writes a length, -1 for null, and the bytes; returns where they end. */
function writeContent(at: number, content: Content | null): number {
  if (content === null) return writeVarInt(at, -1)
  if (typeof content === 'string') return writeText(at, content)
  const contentAt = writeVarInt(at, content.length)
  scratch.set(content, contentAt)
  return contentAt + content.length
}

function writeText(at: number, text: string): number {
  // Nearly all texts have one byte per character, so that is tried first.
  const textAt = writeVarInt(at, text.length)
  const written = text.length <= SHORT_CHARACTERS ? writeAscii(textAt, text) : scratch.write(text, textAt)
  if (written === text.length) return textAt + written
  const bytes = Buffer.byteLength(text)
  const again = writeVarInt(at, bytes)
  scratch.write(text, again)
  return again + bytes
}

/** Returns how many characters it wrote; it stops at the first non-ASCII one. */
function writeAscii(at: number, text: string): number {
  const bytes = scratch
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) return index
    bytes[at + index] = code
  }
  return text.length
}

/** Writes a variable-length number in zig-zag form; `value` is a length, an offset or -1. Returns where it ends. */
function writeVarInt(at: number, value: number): number {
  let rest = zigZag(value)
  let end = at
  while (rest > 0x7f) {
    scratch[end++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  scratch[end++] = rest
  return end
}

function sizeOfVarInt(value: number): number {
  let size = 1
  for (let rest = zigZag(value); rest > 0x7f; rest >>>= 7) size += 1
  return size
}

const zigZag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0

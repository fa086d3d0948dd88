import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** What is shown of an entry, and the leaves that are searched in it. */
export interface Content {
  readonly arrival: number
  /** As `leafBytes` makes them; null if there are none. */
  readonly leaves: Uint8Array | null
  /** The text of the record. */
  readonly source: Uint8Array
}

/**
 * A block begins with the CRC-32 of all that follows: one Zstandard frame, or its content alone if that is small. It consists of
 *
 * - the number of entries, and for each of them three numbers, column by column: its arrival less the one before, of the first one 0; the
 *   bytes of its leaves; the bytes of its source. Numbers are unsigned 32-bit little-endian.
 * - the sources of all, then the leaves of all, which consist of pieces of the sources and take a seventh of their bytes, compressed.
 */
const NUMBER_BYTES = 4

/** The fastest of the usual levels: the third makes blocks of this size no smaller. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** The number that a frame begins with (RFC 8878, 3.1.1); there are never as many entries. */
const ZSTD_MAGIC = 0xfd2fb528

/** Smaller content is not compressed: a call takes 40 µs whatever it compresses, and content of full blocks is larger. */
const COMPRESSED_BYTES_MIN = 8 * 1024

/** The contents, at least one and in the order of arrival, as a block. */
export function packBlock(contents: readonly Content[]): Uint8Array {
  const numbers = [contents.length]
  let before = contents[0]?.arrival ?? 0
  for (const { arrival } of contents) {
    numbers.push(arrival - before)
    before = arrival
  }
  for (const { leaves } of contents) numbers.push(leaves?.length ?? 0)
  for (const { source } of contents) numbers.push(source.length)
  const head = Buffer.alloc(numbers.length * NUMBER_BYTES)
  for (const [index, number] of numbers.entries()) head.writeUInt32LE(number, index * NUMBER_BYTES)
  const leaves = contents.flatMap((content) => content.leaves ?? [])
  const raw = Buffer.concat([head, ...contents.map(({ source }) => source), ...leaves])
  const frame = raw.length < COMPRESSED_BYTES_MIN ? raw : zstdCompressSync(raw, ZSTD)
  const packed = Buffer.allocUnsafeSlow(NUMBER_BYTES + frame.length)
  packed.writeUInt32LE(crc32(frame), 0)
  packed.set(frame, NUMBER_BYTES)
  return packed
}

/** The contents of a block whose first entry has this arrival; null if it is damaged. */
export function unpackBlock(first: number, packed: Uint8Array): readonly Content[] | null {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  const frame = bytes.subarray(NUMBER_BYTES)
  if (bytes.length < 2 * NUMBER_BYTES || bytes.readUInt32LE(0) !== crc32(frame)) return null
  const raw = frame.readUInt32LE(0) === ZSTD_MAGIC ? zstdDecompressSync(frame) : frame
  const count = raw.readUInt32LE(0)
  const number = (column: number, index: number): number =>
    raw.readUInt32LE((1 + column * count + index) * NUMBER_BYTES)
  const contents: Content[] = []
  let sourceAt = (1 + 3 * count) * NUMBER_BYTES
  let leavesAt = sourceAt
  for (let index = 0; index < count; index += 1) leavesAt += number(2, index)
  let arrival = first
  for (let index = 0; index < count; index += 1) {
    arrival += number(0, index)
    const [leavesEnd, sourceEnd] = [leavesAt + number(1, index), sourceAt + number(2, index)]
    const leaves = leavesEnd === leavesAt ? null : raw.subarray(leavesAt, leavesEnd)
    contents.push({ arrival, leaves, source: raw.subarray(sourceAt, sourceEnd) })
    leavesAt = leavesEnd
    sourceAt = sourceEnd
  }
  return contents
}

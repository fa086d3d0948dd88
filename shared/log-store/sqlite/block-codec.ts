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
 * A block has two parts: the leaves of its entries, which searches and statistics read, and their sources, which are unpacked only when they
 * are shown. Both are a Zstandard frame each, unless they are short together. Numbers are unsigned 32-bit little-endian:
 *
 * - the CRC-32 of all that follows;
 * - the bytes of the first part; the highest bit says that both are compressed;
 * - the first part: the number of entries; for each of them three numbers, column by column: its arrival less the one before, of the first
 *   one 0; the bytes of its leaves; the bytes of its source; then the leaves of all;
 * - the second part: the sources of all.
 */
const NUMBER_BYTES = 4
const HEAD_BYTES = 2 * NUMBER_BYTES
const COMPRESSED = 2 ** 31

/** The fastest of the usual levels: the third makes blocks of this size no smaller. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

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
  const columns = Buffer.alloc(numbers.length * NUMBER_BYTES)
  for (const [index, number] of numbers.entries()) columns.writeUInt32LE(number, index * NUMBER_BYTES)
  const leaves = Buffer.concat([columns, ...contents.flatMap((content) => content.leaves ?? [])])
  const sources = Buffer.concat(contents.map(({ source }) => source))
  const isLong = leaves.length + sources.length >= COMPRESSED_BYTES_MIN
  const [first, second] = [leaves, sources].map((part) => (isLong ? zstdCompressSync(part, ZSTD) : part)) as [
    Buffer,
    Buffer,
  ]
  const packed = Buffer.allocUnsafeSlow(HEAD_BYTES + first.length + second.length)
  packed.writeUInt32LE(first.length + (isLong ? COMPRESSED : 0), NUMBER_BYTES)
  packed.set(first, HEAD_BYTES)
  packed.set(second, HEAD_BYTES + first.length)
  packed.writeUInt32LE(crc32(packed.subarray(NUMBER_BYTES)), 0)
  return packed
}

/** The contents of a block whose first entry has this arrival; null if it is damaged. */
export function unpackBlock(first: number, packed: Uint8Array): readonly Content[] | null {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  if (bytes.length < HEAD_BYTES || bytes.readUInt32LE(0) !== crc32(bytes.subarray(NUMBER_BYTES))) return null
  const length = bytes.readUInt32LE(NUMBER_BYTES)
  const isCompressed = length >= COMPRESSED
  const end = HEAD_BYTES + (isCompressed ? length - COMPRESSED : length)
  const partOf = (part: Buffer): Buffer => (isCompressed ? zstdDecompressSync(part) : part)
  const leaves = partOf(bytes.subarray(HEAD_BYTES, end))
  let unpacked: Buffer | undefined
  const sources = (): Buffer => (unpacked ??= partOf(bytes.subarray(end)))
  const count = leaves.readUInt32LE(0)
  const number = (column: number, index: number): number =>
    leaves.readUInt32LE((1 + column * count + index) * NUMBER_BYTES)
  const contents: Content[] = []
  let leavesAt = (1 + 3 * count) * NUMBER_BYTES
  let sourceAt = 0
  let arrival = first
  for (let index = 0; index < count; index += 1) {
    arrival += number(0, index)
    const [leavesEnd, sourceBegin, sourceEnd] = [leavesAt + number(1, index), sourceAt, sourceAt + number(2, index)]
    contents.push({
      arrival,
      leaves: leavesEnd === leavesAt ? null : leaves.subarray(leavesAt, leavesEnd),
      get source() {
        return sources().subarray(sourceBegin, sourceEnd)
      },
    })
    leavesAt = leavesEnd
    sourceAt = sourceEnd
  }
  return contents
}

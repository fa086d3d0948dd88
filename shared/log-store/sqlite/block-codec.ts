import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { asBuffer } from '../../runtime/utf8.ts'
import { createZlibCall, ZSTD_FAST, zstdCompress, zstdDecompress } from '../../runtime/zlib-call.ts'

/** The record of an entry, and the leaves that searches and statistics read. */
export interface Content {
  readonly arrival: number
  /** As `leafBytes` makes them; null if there are none. */
  readonly leaves: Uint8Array | null
  /** The text of the record: as `storedSource` makes it, or whole if an older version stored it. */
  readonly source: Uint8Array
}

/**
 * A block has two parts: the leaves of its entries, which searches and statistics read, and their sources, which are unpacked only when they
 * are shown. Both are a Zstandard frame each, unless they are short together; the first part is the dictionary of the second, as sources
 * contain the values of leaves. Numbers are unsigned 32-bit little-endian:
 *
 * - the CRC-32 of all that follows;
 * - the bytes of the first part; the highest bit says that both are compressed, the next one that the second has its dictionary;
 * - the first part: the number of entries; for each of them three numbers, column by column: its arrival less the one before, of the first
 *   one 0; the bytes of its leaves; the bytes of its source; then the leaves of all;
 * - the second part: the sources of all.
 */
const NUMBER_BYTES = 4
const HEAD_BYTES = 2 * NUMBER_BYTES
const COMPRESSED = 2 ** 31
/** Version 5 compressed each part by itself. */
const WITH_DICTIONARY = 2 ** 30

/** Takes leaves, which have no dictionary. */
const compress = createZlibCall(zstdCompress(ZSTD_FAST))
/** Takes only bytes whose checksum is right. */
const decompress = createZlibCall(zstdDecompress())

/** Smaller content is not compressed: a call with a dictionary takes 40 µs at least, and content of full blocks is larger. */
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
  const leavesPart = isLong ? compress(leaves) : leaves
  const sourcesPart = isLong ? zstdCompressSync(sources, { ...ZSTD_FAST, dictionary: leaves }) : sources
  const packed = Buffer.allocUnsafeSlow(HEAD_BYTES + leavesPart.length + sourcesPart.length)
  packed.writeUInt32LE(leavesPart.length + (isLong ? COMPRESSED + WITH_DICTIONARY : 0), NUMBER_BYTES)
  packed.set(leavesPart, HEAD_BYTES)
  packed.set(sourcesPart, HEAD_BYTES + leavesPart.length)
  packed.writeUInt32LE(crc32(packed.subarray(NUMBER_BYTES)), 0)
  return packed
}

/** The block whose first entry has this arrival; null if it is damaged: a bit of its row can even make it a text. */
export function unpackBlock(first: number, packed: unknown): UnpackedBlock | null {
  if (!(packed instanceof Uint8Array)) return null
  const bytes = asBuffer(packed)
  if (bytes.length < HEAD_BYTES || bytes.readUInt32LE(0) !== crc32(bytes.subarray(NUMBER_BYTES))) return null
  const head = bytes.readUInt32LE(NUMBER_BYTES)
  const end = HEAD_BYTES + (head % WITH_DICTIONARY)
  const [leavesPart, sourcesPart] = [bytes.subarray(HEAD_BYTES, end), bytes.subarray(end)]
  if (head < COMPRESSED) return new UnpackedBlock(first, leavesPart, () => sourcesPart)
  const leaves = Buffer.from(decompress(leavesPart))
  const options = head % COMPRESSED < WITH_DICTIONARY ? {} : { dictionary: leaves }
  return new UnpackedBlock(first, leaves, () => zstdDecompressSync(sourcesPart, options))
}

/** The contents of a block. An object is made only for those that are asked for: a scattered entry needs one of many. */
export class UnpackedBlock {
  readonly #first: number
  readonly #count: number
  readonly #arrivals: Float64Array
  /** The ends of each entry's leaves and source in their parts. */
  readonly #leavesEnds: Uint32Array
  readonly #sourceEnds: Uint32Array
  readonly #leaves: Buffer
  readonly #unpackSources: () => Buffer
  #sources: Buffer | undefined

  constructor(first: number, leaves: Buffer, unpackSources: () => Buffer) {
    const count = leaves.readUInt32LE(0)
    this.#first = first
    this.#count = count
    this.#leaves = leaves
    this.#unpackSources = unpackSources
    this.#arrivals = new Float64Array(count)
    this.#leavesEnds = new Uint32Array(count)
    this.#sourceEnds = new Uint32Array(count)
    let [arrival, leavesEnd, sourceEnd] = [first, (1 + 3 * count) * NUMBER_BYTES, 0]
    for (let index = 0, at = NUMBER_BYTES; index < count; index += 1, at += NUMBER_BYTES) {
      arrival += leaves.readUInt32LE(at)
      leavesEnd += leaves.readUInt32LE(at + count * NUMBER_BYTES)
      sourceEnd += leaves.readUInt32LE(at + 2 * count * NUMBER_BYTES)
      this.#arrivals[index] = arrival
      this.#leavesEnds[index] = leavesEnd
      this.#sourceEnds[index] = sourceEnd
    }
  }

  /** In the order of arrival. */
  all(): readonly Content[] {
    return Array.from({ length: this.#count }, (_, index) => this.#at(index))
  }

  find(arrival: number): Content | undefined {
    const index = this.#indexOf(arrival)
    return index === -1 ? undefined : this.#at(index)
  }

  /** The leaves of an entry; null if it has none or is not in this block. */
  leaves(arrival: number): Uint8Array | null {
    const index = this.#indexOf(arrival)
    return index === -1 ? null : this.#leavesAt(index)
  }

  /** Arrivals are without gaps, unless entries were sent twice or removed. */
  #indexOf(arrival: number): number {
    const expected = arrival - this.#first
    return this.#arrivals[expected] === arrival ? expected : this.#arrivals.indexOf(arrival)
  }

  #leavesAt(index: number): Uint8Array | null {
    const begin = index === 0 ? (1 + 3 * this.#count) * NUMBER_BYTES : this.#leavesEnds[index - 1]
    const end = this.#leavesEnds[index]
    return begin === end ? null : this.#leaves.subarray(begin, end)
  }

  #at(index: number): Content {
    const sourceOf = (): Uint8Array => this.#sourceAt(index)
    return {
      arrival: this.#arrivals[index] ?? 0,
      leaves: this.#leavesAt(index),
      get source() {
        return sourceOf()
      },
    }
  }

  #sourceAt(index: number): Uint8Array {
    this.#sources ??= this.#unpackSources()
    return this.#sources.subarray(this.#sourceEnds[index - 1] ?? 0, this.#sourceEnds[index])
  }
}

import type { NewRecord } from './journal.ts'

/** The limits of one chunk. */
export interface ChunkLimits {
  readonly recordsMax: number
  readonly bytesMax: number
}

/** Cuts records into consecutive chunks within the limits; a record that is larger than `bytesMax` has a chunk of its own. */
export function* chunksOf<Item>(
  records: readonly Item[],
  bytesOf: (record: Item) => number,
  { recordsMax, bytesMax }: ChunkLimits,
): Generator<readonly Item[]> {
  let chunk: Item[] = []
  let bytes = 0
  for (const record of records) {
    const size = bytesOf(record)
    if (chunk.length > 0 && (chunk.length >= recordsMax || bytes + size > bytesMax)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(record)
    bytes += size
  }
  if (chunk.length > 0) yield chunk
}

/** Brokers refuse a batch of more than 1 MiB by default; a record that is larger on its own is tried alone. */
const APPEND_LIMITS: ChunkLimits = { recordsMax: 500, bytesMax: 900_000 }

/** The records, in order, in batches that fit into one append. */
export const batchesOf = (records: readonly NewRecord[]): Iterable<readonly NewRecord[]> =>
  chunksOf(records, recordBytes, APPEND_LIMITS)

/** The bytes of a record's key, value and headers. */
export const recordBytes = ({ key, value, headers }: NewRecord): number =>
  bytesOf(key) +
  bytesOf(value) +
  Object.entries(headers).reduce((sum, [name, text]) => sum + name.length + bytesOf(text), 0)

const bytesOf = (part: string | Uint8Array | null): number => (part === null ? 0 : Buffer.byteLength(part))

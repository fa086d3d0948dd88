import type { JournalRecord } from '../shared/journal/journal.ts'

/** How much goes to the store at once. */
export interface ChunkLimits {
  readonly recordsMax: number
  /** Bytes of the records' values. */
  readonly bytesMax: number
}

/** Cuts records into consecutive chunks within the limits; a record that is larger than `bytesMax` has a chunk of its own. */
export function* chunksOf(
  records: readonly JournalRecord[],
  { recordsMax, bytesMax }: ChunkLimits,
): Generator<readonly JournalRecord[]> {
  let chunk: JournalRecord[] = []
  let bytes = 0
  for (const record of records) {
    const size = record.value?.length ?? 0
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

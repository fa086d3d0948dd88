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

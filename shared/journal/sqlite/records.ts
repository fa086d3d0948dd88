import type { Database } from './database.ts'
import type { Partitions } from './partitions.ts'
import type { StoredRecord } from './record-codec.ts'
import { offsetOf, recordId } from './schema.ts'

export interface ReadRequest {
  readonly partitionId: number
  readonly position: number
  readonly recordsMax: number
}

export interface Page {
  readonly records: readonly StoredRecord[]
  /** Where to read on; offsets between the last record and here were compacted away. */
  readonly next: number
  readonly firstOffset: number
  /** The position after the partition's last record. */
  readonly endPosition: number
}

/** A page ends with the record that brings it to this many bytes, so that memory stays bounded whatever their sizes. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024

export function createRecords(database: Database, partitions: Partitions): { read(request: ReadRequest): Page } {
  const select = database.prepare(`
    SELECT id, appended_at, CAST(key AS BLOB), CAST(value AS BLOB), headers
    FROM records WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`)
  select.setReturnArrays(true)

  const read = ({ partitionId, position, recordsMax }: ReadRequest): Page => {
    // The end is read first: a record that comes in between is left for the next page rather than passed over.
    const { firstOffset, endPosition } = partitions.state(partitionId)
    const records: StoredRecord[] = []
    let bytes = 0
    const rows = select.iterate(recordId(partitionId, position), recordId(partitionId, endPosition), recordsMax)
    for (const row of rows as unknown as Iterable<StoredRecord>) {
      const [id, appendedAt, key, value, headers] = row
      const offset = offsetOf(id)
      records.push([offset, appendedAt, key, value, headers])
      bytes += (key?.length ?? 0) + (value?.length ?? 0) + headers.length
      if (records.length === recordsMax || bytes >= PAGE_BYTES_MAX) {
        return { records, next: offset + 1, firstOffset, endPosition }
      }
    }
    return { records, next: Math.max(position, endPosition), firstOffset, endPosition }
  }

  return { read: (request) => database.read(() => read(request)) }
}

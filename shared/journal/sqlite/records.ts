import type { StatementSync } from 'node:sqlite'
import type { Database } from './database.ts'
import type { Partitions } from './partitions.ts'
import { inflateContent, type StoredBatch } from './record-codec.ts'
import { batchId, offsetOf } from './schema.ts'

interface ReadRequest {
  readonly partitionId: number
  readonly position: number
  readonly recordsMax: number
}

/** Whole batches: the first may begin before the position, and the last may exceed the number of records requested. */
interface Page {
  readonly batches: readonly StoredBatch[]
  /** The position after all of them; offsets from the last record up to here were compacted away. */
  readonly next: number
  readonly firstOffset: number
  /** The position after the partition's last record. */
  readonly endPosition: number
}

type Row = readonly [id: number, appendedAt: number, count: number, content: unknown]

/** A page ends with the batch that reaches this many bytes, so that memory stays bounded whatever the records' sizes. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024

export function createRecords(database: Database, partitions: Partitions): { read(request: ReadRequest): Page } {
  const selectHolding = database.prepare('SELECT max(id) AS id FROM batches WHERE id >= ? AND id <= ?')
  const prepareSelect = (): StatementSync => {
    const statement = database.prepare(`
      SELECT id, appended_at, records, content FROM batches WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`)
    statement.setReturnArrays(true)
    return statement
  }
  let select: StatementSync | undefined
  const selectWhole = database.prepare(`SELECT first_offset AS firstOffset FROM partitions
    WHERE id = ? AND (SELECT cleanup FROM topics WHERE name = topic) <> 'compact'`)

  /**
   * The rows that are missing from `start` to `end`, as a batch without content. Only compaction leaves gaps, and retention may have removed
   * what this page began with; rows of any other gap are damaged.
   */
  const missing = (partitionId: number, start: number, end: number, appendedAt: number): readonly StoredBatch[] => {
    const whole = start < end ? selectWhole.get(partitionId) : undefined
    if (whole === undefined) return []
    const firstOffset = Math.max(start, Number(whole['firstOffset']))
    return firstOffset < end ? [{ firstOffset, appendedAt, count: end - firstOffset, content: NOTHING }] : []
  }

  const read = ({ partitionId, position, recordsMax }: ReadRequest): Page => {
    // The end is read first: a batch that is appended in between is left for the next page rather than skipped.
    const { firstOffset, endPosition } = partitions.state(partitionId)
    const wanted = batchId(partitionId, position)
    // The batch that contains the position starts at it or before it.
    const holding = selectHolding.get(batchId(partitionId, 0), wanted)?.['id'] as number | null
    const batches: StoredBatch[] = []
    let reached = Math.max(position, firstOffset)
    let records = 0
    let bytes = 0
    const add = (batch: StoredBatch): void => {
      const end = Math.min(batch.firstOffset + batch.count, endPosition)
      batches.push({ ...batch, count: end - batch.firstOffset })
      records += end - Math.max(reached, batch.firstOffset)
      bytes += batch.content.length
      reached = end
    }
    // No batch is empty, so at most as many as the records requested are needed, plus one that ends before the position.
    select ??= prepareSelect()
    const rows = select.iterate(holding ?? wanted, batchId(partitionId, endPosition), recordsMax + 1)
    for (const [id, appendedAt, count, content] of rows as unknown as Iterable<Row>) {
      const first = offsetOf(id)
      if (first + count <= reached) continue
      for (const gap of missing(partitionId, reached, first, appendedAt)) add(gap)
      add({ firstOffset: first, appendedAt, count, content: inflateContent(content) })
      if (records >= recordsMax || bytes >= PAGE_BYTES_MAX) return { batches, next: reached, firstOffset, endPosition }
    }
    for (const gap of missing(partitionId, reached, endPosition, batches.at(-1)?.appendedAt ?? 0)) add(gap)
    return { batches, next: Math.max(position, endPosition), firstOffset, endPosition }
  }

  return {
    read: (request) => {
      try {
        return database.read(() => read(request))
      } catch (error) {
        // A statement that failed while it was iterated over would throw that error once more at its next use.
        select = undefined
        throw error
      }
    },
  }
}

const NOTHING = new Uint8Array()

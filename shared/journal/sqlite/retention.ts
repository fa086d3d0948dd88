import { chunksOf } from '../batches.ts'
import type { Database } from './database.ts'
import type { PartitionState } from './partitions.ts'
import { batchId, offsetOf } from './schema.ts'

export interface RetentionRequest {
  readonly topic: string
  readonly partition: number
  /** Milliseconds since 1970. */
  readonly now: number
  readonly bytesMax: number
}

interface RetentionStep {
  /** Records removed. */
  readonly removed: number
  /** Whether the step was full: there may be more to remove. */
  readonly more: boolean
  /** Groups that have not read records which would otherwise be removed now. */
  readonly heldBy: readonly string[]
}

interface PartitionRow extends Omit<PartitionState, 'partition'> {
  readonly retentionMs: number | null
}

interface BatchRow {
  readonly id: number
  readonly appendedAt: number
  readonly records: number
  readonly bytes: number
}

/** Maximum batches, and their bytes, of a step: few enough to hold up appends for only a few milliseconds. */
const STEP_BATCHES = 500
const STEP_BYTES = 4 * 1024 * 1024

/** Retention removes whole batches, each once all of it has expired. */
export function createRetention(database: Database) {
  const selectPartition = database.prepare(`
    SELECT p.id, p.first_offset AS firstOffset, p.next_offset AS endPosition, p.bytes, t.retention_ms AS retentionMs
    FROM partitions p JOIN topics t ON t.name = p.topic WHERE p.topic = ? AND p.number = ?`)
  const selectOldest = database.prepare(`
    SELECT id, appended_at AS appendedAt, records, octet_length(content) AS bytes
    FROM batches WHERE id >= ? AND id < ? ORDER BY id LIMIT ${STEP_BATCHES}`)
  const selectReaders = database.prepare(
    'SELECT group_name AS name, ifnull(position, start) AS position FROM readers WHERE partition_id = ? ORDER BY position',
  )
  const remove = database.prepare('DELETE FROM batches WHERE id >= ? AND id <= ?')
  const shrink = database.prepare('UPDATE partitions SET first_offset = ?, bytes = bytes - ? WHERE id = ?')

  const oldest = ({ id, firstOffset, endPosition }: PartitionRow): readonly BatchRow[] => {
    const rows = selectOldest.all(batchId(id, firstOffset), batchId(id, endPosition)) as unknown as readonly BatchRow[]
    const [first = []] = chunksOf(rows, ({ bytes }) => bytes, { recordsMax: STEP_BATCHES, bytesMax: STEP_BYTES })
    return first
  }

  const step = ({ topic, partition, now, bytesMax }: RetentionRequest): RetentionStep => {
    const state = selectPartition.get(topic, partition) as unknown as PartitionRow
    const readers = selectReaders.all(state.id) as unknown as readonly { name: string; position: number }[]
    const candidates = oldest(state)
    const expired = takeExpired(candidates, state, now, bytesMax)
    const read = expired.filter((batch) => readers.every(({ position }) => endOf(batch) <= position))
    const last = read.at(-1)
    if (last !== undefined) {
      remove.run(batchId(state.id, state.firstOffset), last.id)
      shrink.run(endOf(last), sumOf(read, 'bytes'), state.id)
    }
    const firstHeld = expired[read.length]
    return {
      removed: sumOf(read, 'records'),
      more: read.length > 0 && read.length === candidates.length,
      heldBy: readers.filter(({ position }) => firstHeld && position < endOf(firstHeld)).map(({ name }) => name),
    }
  }

  return {
    /** Removes expired batches, in one step of bounded size. */
    retain: (request: RetentionRequest): RetentionStep => database.write(() => step(request)),
  }
}

/** The position after the batch. */
const endOf = ({ id, records }: BatchRow): number => offsetOf(id) + records

const sumOf = (batches: readonly BatchRow[], what: 'records' | 'bytes'): number =>
  batches.reduce((sum, batch) => sum + batch[what], 0)

/**
 * The oldest batches that are too old or exceed the size limit; stops at the first one to keep. A clock that was ahead for a moment keeps none
 * of the later ones: its batches go with the next one.
 */
function takeExpired(
  batches: readonly BatchRow[],
  { bytes, retentionMs }: PartitionRow,
  now: number,
  bytesMax: number,
): readonly BatchRow[] {
  const keptSince = retentionMs === null ? -Infinity : now - retentionMs
  let [bytesKept, count] = [bytes, 0]
  for (const [index, batch] of batches.entries()) {
    const expired = batch.appendedAt < keptSince || bytesKept > bytesMax
    if (expired) count = index + 1
    else if (batch.appendedAt <= now) break
    bytesKept -= batch.bytes
  }
  return batches.slice(0, count)
}

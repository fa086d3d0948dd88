import type { Database } from './database.ts'
import { offsetOf, RECORD_BYTES, recordId } from './schema.ts'

export interface RetentionRequest {
  readonly topic: string
  readonly partition: number
  /** Milliseconds since 1970. */
  readonly now: number
  readonly bytesMax: number
}

export interface RetentionStep {
  readonly removed: number
  /** The step was full: there may be more to remove. */
  readonly more: boolean
  /** Groups that still have to read records which would otherwise go now. */
  readonly heldBy: readonly string[]
}

interface PartitionRow {
  readonly id: number
  readonly firstOffset: number
  readonly endPosition: number
  readonly bytes: number
  readonly retentionMs: number | null
}

interface RecordRow {
  readonly id: number
  readonly appendedAt: number
  readonly bytes: number
}

/** Small enough to hold up appends for some milliseconds only. */
const STEP_RECORDS = 500

export function createRetention(database: Database): { retain(request: RetentionRequest): RetentionStep } {
  const selectPartition = database.prepare(`
    SELECT p.id, p.first_offset AS firstOffset, p.next_offset AS endPosition, p.bytes, t.retention_ms AS retentionMs
    FROM partitions p JOIN topics t ON t.name = p.topic WHERE p.topic = ? AND p.number = ?`)
  const selectOldest = database.prepare(`
    SELECT id, appended_at AS appendedAt, ${RECORD_BYTES} AS bytes
    FROM records WHERE id >= ? AND id < ? ORDER BY id LIMIT ${STEP_RECORDS}`)
  const selectReaders = database.prepare(
    'SELECT group_name AS name, ifnull(position, start) AS position FROM readers WHERE partition_id = ? ORDER BY position',
  )
  const remove = database.prepare('DELETE FROM records WHERE id >= ? AND id <= ?')
  const shrink = database.prepare('UPDATE partitions SET first_offset = ?, bytes = bytes - ? WHERE id = ?')

  const oldest = ({ id, firstOffset, endPosition }: PartitionRow): readonly RecordRow[] =>
    selectOldest.all(recordId(id, firstOffset), recordId(id, endPosition)) as unknown as readonly RecordRow[]

  const step = ({ topic, partition, now, bytesMax }: RetentionRequest): RetentionStep => {
    const state = selectPartition.get(topic, partition) as unknown as PartitionRow
    const readers = selectReaders.all(state.id) as unknown as readonly { name: string; position: number }[]
    const expired = takeExpired(oldest(state), state, now, bytesMax)
    const read = expired.filter(({ id }) => readers.every(({ position }) => offsetOf(id) < position))
    const last = read.at(-1)
    if (last !== undefined) {
      const bytes = read.reduce((sum, record) => sum + record.bytes, 0)
      remove.run(recordId(state.id, state.firstOffset), last.id)
      shrink.run(offsetOf(last.id) + 1, bytes, state.id)
    }
    const firstHeld = expired[read.length]
    return {
      removed: read.length,
      more: read.length === STEP_RECORDS,
      heldBy: readers.filter(({ position }) => firstHeld && position <= offsetOf(firstHeld.id)).map(({ name }) => name),
    }
  }

  return { retain: (request) => database.write(() => step(request)) }
}

/** The oldest records that are too old, or too many in bytes; the first one to be kept ends them. */
function takeExpired(
  records: readonly RecordRow[],
  { bytes, retentionMs }: PartitionRow,
  now: number,
  bytesMax: number,
): readonly RecordRow[] {
  const keptSince = retentionMs === null ? -Infinity : now - retentionMs
  let bytesKept = bytes
  const end = records.findIndex((record) => {
    const expired = record.appendedAt < keptSince || bytesKept > bytesMax
    if (expired) bytesKept -= record.bytes
    return !expired
  })
  return end === -1 ? records : records.slice(0, end)
}

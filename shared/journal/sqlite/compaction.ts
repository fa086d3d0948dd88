import { setImmediate as nextTurn } from 'node:timers/promises'
import { DAY_MS } from '../../contract/timestamp.ts'
import type { Database } from './database.ts'
import type { PartitionState } from './partitions.ts'
import { batchId } from './schema.ts'

/** A reader that began before a key was deleted has one day to see the deletion. */
const TOMBSTONE_KEPT_MS = DAY_MS
const STEP_RECORDS = 1_000

interface KeyRow {
  readonly id: number
  readonly appendedAt: number
  /** Hexadecimal. */
  readonly key: string
  readonly deletes: 0 | 1
}

/**
 * Compaction keeps the last record of each key of a partition; offsets stay as they are, and records without a key are kept. A deletion
 * mark is removed when it is old and an earlier run has removed all that it deletes: a reader between two steps must not see the old value
 * and miss the mark. The partition's last record is always kept. Works from the end in small transactions and lets the thread do other work
 * between them; remembers all keys that it saw, as do readers that fold such a topic.
 */
export function createCompaction(database: Database) {
  const select = database.prepare(`
    SELECT id, appended_at AS appendedAt, hex(key) AS key, deletes
    FROM batches WHERE id >= ? AND id < ? AND key IS NOT NULL ORDER BY id DESC LIMIT ${STEP_RECORDS}`)
  const remove = database.prepare('DELETE FROM batches WHERE id = ? RETURNING octet_length(content) AS bytes')
  const shrink = database.prepare('UPDATE partitions SET bytes = bytes - ? WHERE id = ?')

  const removeAll = (partitionId: number, rows: readonly KeyRow[]): number => {
    if (rows.length === 0) return 0
    const gone = database.write(() => {
      const sizes = rows.flatMap(({ id }) => remove.all(id) as unknown as readonly { bytes: number }[])
      shrink.run(
        sizes.reduce((sum, { bytes }) => sum + bytes, 0),
        partitionId,
      )
      return sizes
    })
    return gone.length
  }

  /** Returns how many records were removed. */
  const compact = async ({ id, firstOffset, endPosition }: PartitionState, now: number): Promise<number> => {
    const met = new Set<string>()
    const shortened = new Set<string>()
    const marks: KeyRow[] = []
    let removed = 0
    let before = batchId(id, endPosition)
    for (;;) {
      const rows = database.read(() => select.all(batchId(id, firstOffset), before)) as unknown as readonly KeyRow[]
      const superseded: KeyRow[] = []
      for (const row of rows) {
        if (met.has(row.key)) {
          superseded.push(row)
          shortened.add(row.key)
        } else if (isOldMark(row, now) && row.id !== batchId(id, endPosition - 1)) {
          marks.push(row)
        }
        met.add(row.key)
      }
      removed += removeAll(id, superseded)
      before = rows.at(-1)?.id ?? before
      if (rows.length < STEP_RECORDS) break
      await nextTurn()
    }
    const settled = marks.filter(({ key }) => !shortened.has(key))
    for (let start = 0; start < settled.length; start += STEP_RECORDS) {
      removed += removeAll(id, settled.slice(start, start + STEP_RECORDS))
      await nextTurn()
    }
    return removed
  }

  return { compact }
}

const isOldMark = ({ deletes, appendedAt }: KeyRow, now: number): boolean =>
  deletes === 1 && appendedAt < now - TOMBSTONE_KEPT_MS

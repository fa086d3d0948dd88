import { LEVELS } from '../../contract/levels.ts'
import type { EntryRecord } from '../../contract/records.ts'
import { asBuffer } from '../../runtime/utf8.ts'
import type { Content } from './block-codec.ts'
import {
  type Block,
  blocksOf,
  bytesOf,
  createBlockReader,
  deleteBlock,
  insertBlock,
  readBlock,
  takeTail,
} from './blocks.ts'
import type { Database } from './database.ts'
import { defineLeafFunctions } from './leaf-bytes.ts'
import type { StoreLimits } from './limits.ts'
import { KINDS } from './schema.ts'
import { valuesOfRow, wholeSource } from './sources.ts'

/** Maximum bytes that a transaction moves, except for a single entry with more. */
const MOVED_BYTES_MAX = 1_000_000

/**
 * The records and leaves of entries, in compressed blocks of consecutive arrivals. A write of few entries makes a small block of them,
 * and one that fills a block together with the small ones before it takes their entries into its own.
 */
export interface Contents {
  /** Stores the contents of entries, in the order of arrival and after all that are stored. Only in `write`. */
  append(contents: readonly Content[]): void
  /** Removes the contents of entries that were just removed, in the order of arrival. Only in `write`. */
  remove(arrivals: readonly number[]): void
  /**
   * The text of the record of a stored entry. If its block is damaged, a record of what else is known of it, which says so. Only in `read`.
   */
  source(arrival: number): string
  /** The leaves of a stored entry (leaf-bytes.ts); null if there are none or its block is damaged. Only in `read`. */
  leaves(arrival: number): Uint8Array | null
  /** Moves contents of an older version into blocks, in a transaction of its own. Returns whether there may be more. */
  moveMore(): boolean
}

export function createContents(database: Database, { movedOfATurn }: StoreLimits): Contents {
  const blockOf = createBlockReader(database)

  const find = (arrival: number): Content | undefined => {
    const block = blockOf(arrival)
    return block === undefined ? oldContent(database, arrival) : block.contents?.find(arrival)
  }

  const append = (added: readonly Content[]): void => {
    if (added.length === 0) return
    for (const part of blocksOf([...takeTail(database, added), ...added])) insertBlock(database, part)
  }

  const remove = (arrivals: readonly number[]): void => {
    const removed = new Set(arrivals)
    let last = -1
    for (const arrival of arrivals) {
      database.prepare('DELETE FROM contents WHERE arrival = ?').run(arrival)
      // From the table: a kept block may since have become part of a larger one.
      const block = arrival <= last ? undefined : readBlock(database, arrival)
      if (block === undefined) continue
      removeFrom(database, block, removed)
      last = block.last
    }
  }

  const moveSome = (): boolean => {
    const moved: Content[] = []
    let bytes = 0
    for (const row of database.prepare(`${SELECT_OLD} ORDER BY arrival LIMIT ?`).iterate(movedOfATurn)) {
      const content = contentOfRow(row)
      bytes += bytesOf(content)
      if (moved.length > 0 && bytes > MOVED_BYTES_MAX) break
      moved.push(content)
    }
    const last = moved.at(-1)
    if (last === undefined) return false
    append(moved)
    database.prepare('DELETE FROM contents WHERE arrival <= ?').run(last.arrival)
    return true
  }

  const leaves = (arrival: number): Uint8Array | null => {
    const block = blockOf(arrival)
    return block === undefined
      ? (oldContent(database, arrival)?.leaves ?? null)
      : (block.contents?.leaves(arrival) ?? null)
  }

  defineLeafFunctions(database, leaves)
  return {
    append,
    remove,
    leaves,
    source: (arrival) => {
      const content = find(arrival)
      return content === undefined
        ? JSON.stringify(recordOfRow(database, arrival))
        : wholeSource(asBuffer(content.source).toString(), () => valuesOfRow(database, arrival))
    },
    moveMore: () => database.write(moveSome),
  }
}

const SELECT_OLD = 'SELECT arrival, leaves, source FROM contents'

const contentOfRow = (row: Readonly<Record<string, unknown>>): Content => ({
  arrival: Number(row['arrival']),
  leaves: row['leaves'] as Uint8Array | null,
  source: Buffer.from(String(row['source'])),
})

/** The content of an entry of an older version that is not in a block yet. */
function oldContent(database: Database, arrival: number): Content | undefined {
  const row = database.prepare(`${SELECT_OLD} WHERE arrival = ?`).get(arrival)
  return row === undefined ? undefined : contentOfRow(row)
}

function removeFrom(database: Database, block: Block, removed: ReadonlySet<number>): void {
  const left = block.contents?.all().filter(({ arrival }) => !removed.has(arrival)) ?? null
  // A damaged block stays as long as it has entries, so that these are found.
  if (left === null && hasEntries(database, block)) return
  deleteBlock(database, block)
  if (left !== null && left.length > 0) insertBlock(database, left)
}

const hasEntries = (database: Database, { first, last }: Block): boolean =>
  database.prepare('SELECT 1 FROM entries WHERE arrival BETWEEN ? AND ? LIMIT 1').get(first, last) !== undefined

const NOTICE = 'The text of this log was in a block that is damaged in the file of the log store.'

/** The record of an entry whose block is damaged, made from its row. */
function recordOfRow(database: Database, arrival: number): EntryRecord {
  const row = database
    .prepare(`SELECT team, kind, level, environment, event, step, project, category, event_id, event_name
        FROM entries WHERE arrival = ?`)
    .get(arrival)
  const text = (column: string): string | null => (row?.[column] == null ? null : String(row[column]))
  const common = {
    ...valuesOfRow(database, arrival),
    level: LEVELS[Number(row?.['level'])] ?? 'Information',
    environment: text('environment') ?? '',
    team: text('team') ?? '',
  }
  if (row?.['kind'] === KINDS.event)
    return { kind: 'event', ...common, event: text('event'), step: text('step'), payload: NOTICE }
  return {
    kind: 'application',
    ...common,
    project: text('project') ?? '',
    categoryName: text('category') ?? '',
    eventId: Number(row?.['event_id']),
    eventName: text('event_name') ?? '',
    message: NOTICE,
    exception: null,
    scopeData: null,
  }
}

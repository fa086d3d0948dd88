import { asBuffer } from '../../runtime/utf8.ts'
import { type Content, packBlock, type UnpackedBlock, unpackBlock } from './block-codec.ts'
import type { Database } from './database.ts'
import { defineLeafFunctions } from './leaf-bytes.ts'
import { sourceOfRow, valuesOfRow, wholeSource } from './sources.ts'

/**
 * The contents of entries, their records and leaves, in compressed blocks of consecutive arrivals. A block is full with 512 entries or 64
 * KiB. A write of few entries makes a small block of them, and one that fills a block together with the small ones before it takes their
 * entries into its own. Writes of 240, 200 and 150 entries make a block each of 240 and 200; the third makes blocks of 512 and 78 of all three.
 */
export interface Contents {
  /**
   * The text of the record of a stored entry. If its block is damaged, a record of what else is known of it, which says so.
   */
  source(arrival: number): string
  /** The leaves of a stored entry (leaf-bytes.ts); null if there are none or its block is damaged. */
  leaves(arrival: number): Uint8Array | null
}

/** A list of scattered entries unpacks a block for each, which takes a tenth of a millisecond. */
const BLOCK_ENTRIES_MAX = 512
/** A block with so many bytes of sources and leaves is full, too. A single entry may have more; other blocks have less than twice as many. */
const BLOCK_BYTES = 64 * 1024
/** Bytes of unpacked blocks that a connection keeps, about a hundred: those of a page of scattered entries, and of its next reads. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024
/** The newest entries are in small blocks: a reader that follows them would keep thousands, and look through all of them for each entry. */
const KEPT_BLOCKS_MAX = 256

export function createContents(database: Database): Contents {
  const blockOf = createBlockReader(database)
  const oldContent = (arrival: number): Content | undefined => [...oldContents(database, arrival, arrival)][0]

  const find = (arrival: number): Content | undefined => {
    const block = blockOf(arrival)
    return block === undefined ? oldContent(arrival) : block.contents?.find(arrival)
  }

  const leaves = (arrival: number): Uint8Array | null => {
    const block = blockOf(arrival)
    const found = block === undefined ? oldContent(arrival)?.leaves : block.contents?.leaves(arrival)
    return found ?? null
  }

  defineLeafFunctions(database, leaves)
  return {
    leaves,
    source: (arrival) => {
      const content = find(arrival)
      return content === undefined
        ? sourceOfRow(database, arrival)
        : wholeSource(asBuffer(content.source).toString(), () => valuesOfRow(database, arrival))
    },
  }
}

/** A row of `blocks`, unpacked. */
interface Block {
  readonly first: number
  readonly last: number
  readonly bytes: number
  /** Null if it is damaged. */
  readonly contents: UnpackedBlock | null
}

/** The block that has this arrival, or had it. */
function readBlock(database: Database, arrival: number): Block | undefined {
  const row = database
    .prepare('SELECT first, last, bytes, content FROM blocks WHERE first <= ? ORDER BY first DESC LIMIT 1')
    .get(arrival)
  if (row === undefined || Number(row['last']) < arrival) return undefined
  const [first, last, bytes] = [Number(row['first']), Number(row['last']), Number(row['bytes'])]
  return { first, last, bytes, contents: unpackBlock(first, row['content']) }
}

/**
 * Reads blocks and keeps those that were read last. A kept block may meanwhile have become part of a larger one, or lost entries; the content
 * of an arrival never changes. The reader is not used in a transaction that has changed blocks, as that might be rolled back.
 */
export function createBlockReader(database: Database): (arrival: number) => Block | undefined {
  /** In the order of their last use. */
  const kept = new Map<number, Block>()
  let keptBytes = 0
  let latest: Block | undefined
  const covers = ({ first, last }: Block, arrival: number): boolean => first <= arrival && arrival <= last

  const keep = (block: Block): void => {
    keptBytes += block.bytes - (kept.get(block.first)?.bytes ?? 0)
    kept.delete(block.first)
    kept.set(block.first, block)
    for (const [first, { bytes }] of kept) {
      if ((keptBytes <= KEPT_BYTES_MAX && kept.size <= KEPT_BLOCKS_MAX) || first === block.first) break
      kept.delete(first)
      keptBytes -= bytes
    }
  }

  const find = (arrival: number): Block | undefined => {
    for (const block of kept.values()) if (covers(block, arrival)) return block
    return readBlock(database, arrival)
  }

  return (arrival) => {
    if (latest !== undefined && covers(latest, arrival)) return latest
    const block = find(arrival)
    if (block === undefined) return undefined
    keep(block)
    latest = block
    return block
  }
}

/** Stores the contents of entries, in the order of arrival and after all that are stored. */
export function appendContents(database: Database, added: readonly Content[]): void {
  if (added.length === 0) return
  for (const part of inBlocks([...takeTail(database, added), ...added])) insertBlock(database, part)
}

/** The blocks before an arrival, as far back as blocks that are not full can begin, but behind the last one that has enough bytes. */
const SELECT_TAIL = `SELECT min(first) AS first, sum(last - first + 1) AS entries, sum(bytes) AS bytes FROM blocks
  WHERE first < $end AND first > max($end - ${BLOCK_ENTRIES_MAX}, coalesce((SELECT max(first) FROM blocks
    WHERE first < $end AND first > $end - ${BLOCK_ENTRIES_MAX} AND bytes >= ${BLOCK_BYTES}), 0))`

/**
 * Takes away the blocks that end just before these contents and are not full, and returns their contents, if they fill a block together
 * with these; else nothing.
 */
function takeTail(database: Database, contents: readonly Content[]): readonly Content[] {
  const end = contents[0]?.arrival ?? 0
  const tail = database.prepare(SELECT_TAIL).get({ end })
  const [first, entries, bytes] = [Number(tail?.['first']), Number(tail?.['entries']), Number(tail?.['bytes'])]
  // Contents of an older version may belong into a gap between two blocks.
  if (entries === 0 || entries !== end - first) return []
  if (entries + contents.length < BLOCK_ENTRIES_MAX && bytes + sizeOf(contents) < BLOCK_BYTES) return []
  const taken = database
    .prepare('SELECT first, content FROM blocks WHERE first >= ? AND first < ? ORDER BY first')
    .all(first, end)
    .map((row) => unpackBlock(Number(row['first']), row['content']))
  if (taken.includes(null)) return []
  database.prepare('DELETE FROM blocks WHERE first >= ? AND first < ?').run(first, end)
  return taken.flatMap((block) => block?.all() ?? [])
}

/** The contents in parts for a block each; all but the last one are full, or followed by an entry that fills a block alone. */
function* inBlocks(contents: readonly Content[]): Iterable<readonly Content[]> {
  let part: Content[] = []
  let bytes = 0
  for (const content of contents) {
    const own = bytesOf(content)
    const isFull = part.length === BLOCK_ENTRIES_MAX || bytes >= BLOCK_BYTES
    if (part.length > 0 && (isFull || own >= BLOCK_BYTES)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(content)
    bytes += own
  }
  if (part.length > 0) yield part
}

function insertBlock(database: Database, contents: readonly Content[]): void {
  const [first, last] = [contents[0]?.arrival ?? 0, contents.at(-1)?.arrival ?? 0]
  database
    .prepare('INSERT INTO blocks (first, last, bytes, content) VALUES (?, ?, ?, ?)')
    .run(first, last, sizeOf(contents), packBlock(contents))
}

const sizeOf = (contents: readonly Content[]): number => contents.reduce((sum, content) => sum + bytesOf(content), 0)

export const bytesOf = ({ source, leaves }: Content): number => source.length + (leaves?.length ?? 0)

/** Removes the contents of entries that were just removed, in the order of arrival. */
export function removeContents(database: Database, arrivals: readonly number[]): void {
  const removed = new Set(arrivals)
  let last = -1
  for (const arrival of arrivals) {
    database.prepare('DELETE FROM contents WHERE arrival = ?').run(arrival)
    // From the table: a kept block may since have become part of a larger one.
    const block = arrival <= last ? undefined : readBlock(database, arrival)
    if (block === undefined) continue
    last = block.last
    const left = block.contents?.all().filter((content) => !removed.has(content.arrival)) ?? null
    // A damaged block stays as long as it has entries, so that these are found.
    if (left === null && hasEntries(database, block)) continue
    database.prepare('DELETE FROM blocks WHERE first = ?').run(block.first)
    if (left !== null && left.length > 0) insertBlock(database, left)
  }
}

const hasEntries = (database: Database, { first, last }: Block): boolean =>
  database.prepare('SELECT 1 FROM entries WHERE arrival BETWEEN ? AND ? LIMIT 1').get(first, last) !== undefined

/** The contents of entries of version 3 and before, by arrival, that are not in blocks yet (renewal.ts). */
export function* oldContents(database: Database, first: number, last: number): Iterable<Content> {
  const rows = database
    .prepare('SELECT arrival, leaves, source FROM contents WHERE arrival >= ? AND arrival <= ? ORDER BY arrival')
    .iterate(first, last)
  for (const row of rows)
    yield {
      arrival: Number(row['arrival']),
      leaves: row['leaves'] as Uint8Array | null,
      source: Buffer.from(String(row['source'])),
    }
}

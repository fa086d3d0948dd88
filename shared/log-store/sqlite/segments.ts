import type { SQLOutputValue } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { ZSTD_FAST } from '../../runtime/zlib-call.ts'
import type { EntryFilter } from '../log-store.ts'
import { type Database, GO_ON_EACH_ROW } from './database.ts'
import { storedFingerprint } from './ids.ts'
import { postingList, type TextTable } from './text-tables.ts'

/**
 * A columnar segment: the minutes, facts and fingerprints of counted entries, a column each, by arrival. Of the segment from arrival 701 on,
 * index 5 of each column is of the entry 706. Matches are counted and grouped by segments without reading a row for each, which takes ten
 * times as long. Each step of counting (rollups.ts) makes one, a row of the table `counted_entries`.
 */
export interface Segment {
  readonly first: number
  readonly last: number
  /** Since 1970. */
  readonly minutes: Uint32Array
  /** Numbers of `rollup_facts`; 0 for entries that are removed, or counted by none. */
  readonly facts: Uint32Array
  /** Fingerprints as numbers; NO_FINGERPRINT for entries without one. */
  readonly templates: Float64Array
  readonly exceptionGroups: Float64Array
}

/** Stands for a missing fingerprint, as no fingerprint is negative. */
export const NO_FINGERPRINT = -1

/** The values of one entry in the columns of a segment. */
export interface SegmentEntry {
  readonly arrival: number
  readonly minute: number
  readonly facts: number
  readonly template: number
  readonly exceptionGroup: number
}

/** Two numbers of 64 and two of 32 bits. */
const ENTRY_BYTES = 24

/** Columns have a place for each arrival, so a segment ends before a longer gap of arrivals that were removed. */
const GAP_MAX = 1_000

/** Stores entries that were just counted, in the order of arrival. */
export function addToSegments(database: Database, entries: readonly SegmentEntry[]): void {
  for (let begin = 0; begin < entries.length; ) {
    const first = entries[begin]?.arrival ?? 0
    let end = begin + 1
    while (end < entries.length && (entries[end]?.arrival ?? 0) - (entries[end - 1]?.arrival ?? 0) <= GAP_MAX) end += 1
    const segment = emptySegment(first, entries[end - 1]?.arrival ?? 0)
    for (const { arrival, minute, facts, template, exceptionGroup } of entries.slice(begin, end)) {
      segment.minutes[arrival - first] = minute
      segment.facts[arrival - first] = facts
      segment.templates[arrival - first] = template
      segment.exceptionGroups[arrival - first] = exceptionGroup
    }
    put(database, segment)
    begin = end
  }
}

/** Removes entries that were just removed. */
export function removeFromSegments(database: Database, arrivals: readonly number[]): void {
  const segmentOf = createSegmentReader(database)
  const changed = new Set<Segment>()
  for (const arrival of arrivals) {
    const segment = segmentOf(arrival)
    if (segment === undefined) continue
    segment.facts[arrival - segment.first] = 0
    changed.add(segment)
  }
  for (const segment of changed) {
    if (segment.facts.some((facts) => facts !== 0)) put(database, segment)
    else database.prepare('DELETE FROM counted_entries WHERE first = ?').run(segment.first)
  }
}

/** Finds the segment of an arrival; arrivals that are asked for in order read each segment once. */
function createSegmentReader(database: Database): (arrival: number) => Segment | undefined {
  let segment: Segment | undefined
  return (arrival) => {
    if (segment !== undefined && arrival >= segment.first && arrival <= segment.last) return segment
    const row = database
      .prepare('SELECT first, last, content FROM counted_entries WHERE first <= ? ORDER BY first DESC LIMIT 1')
      .get(arrival)
    segment = row === undefined || Number(row['last']) < arrival ? undefined : unpack(row)
    return segment
  }
}

/** Takes a counted entry: its segment, and its index in the columns of this. */
export type EachCounted = (segment: Segment, index: number) => void

/** Calls `each` with every counted entry of these tables or, with a full-text query, with those that match it. */
export function forEachCounted(
  database: Database,
  tables: readonly TextTable[],
  match: string | null,
  each: EachCounted,
): void {
  // One for all tables, as a segment may have entries of two.
  const segmentOf = createSegmentReader(database)
  for (const table of tables)
    if (match === null) forAll(database, table, each)
    else
      for (const arrival of postingList(database, table, match)) {
        const segment = segmentOf(arrival)
        if (segment !== undefined) each(segment, arrival - segment.first)
      }
}

function forAll(database: Database, { firstArrival, nextArrival }: TextTable, each: EachCounted): void {
  const rows = database
    .prepare(`SELECT first, last, content FROM counted_entries
      WHERE first >= coalesce((SELECT max(first) FROM counted_entries WHERE first <= $first), 0) AND first < $end
        AND ${GO_ON_EACH_ROW} ORDER BY first`)
    .iterate({ first: firstArrival, end: nextArrival })
  for (const row of rows) {
    if (Number(row['last']) < firstArrival) continue
    const segment = unpack(row)
    const end = Math.min(nextArrival, segment.last + 1) - segment.first
    for (let index = Math.max(0, firstArrival - segment.first); index < end; index += 1) each(segment, index)
  }
}

/** Whether a counted entry has the fingerprints that a filter names. */
export function fingerprintsOf({
  template,
  exceptionGroup,
}: EntryFilter): (segment: Segment, index: number) => boolean {
  const [wantedTemplate, wantedGroup] = [storedFingerprint(template), storedFingerprint(exceptionGroup)]
  return ({ templates, exceptionGroups }, index) =>
    (template === null || templates[index] === wantedTemplate) &&
    (exceptionGroup === null || exceptionGroups[index] === wantedGroup)
}

const emptySegment = (first: number, last: number): Segment =>
  segmentOver(first, new ArrayBuffer((last - first + 1) * ENTRY_BYTES))

/** A segment over the columns in a buffer. */
function segmentOver(first: number, buffer: ArrayBuffer): Segment {
  const count = buffer.byteLength / ENTRY_BYTES
  return {
    first,
    last: first + count - 1,
    templates: new Float64Array(buffer, 0, count),
    exceptionGroups: new Float64Array(buffer, 8 * count, count),
    minutes: new Uint32Array(buffer, 16 * count, count),
    facts: new Uint32Array(buffer, 20 * count, count),
  }
}

function put(database: Database, { first, last, facts }: Segment): void {
  database
    .prepare('INSERT OR REPLACE INTO counted_entries (first, last, content) VALUES (?, ?, ?)')
    .run(first, last, zstdCompressSync(Buffer.from(facts.buffer), ZSTD_FAST))
}

/** A damaged segment costs the counts of its entries among matches, as a damaged row of `rollups` costs its count. */
function unpack(row: Readonly<Record<string, SQLOutputValue>>): Segment {
  const [first, last] = [Number(row['first']), Number(row['last'])]
  let columns: Uint8Array | undefined
  try {
    columns = zstdDecompressSync(row['content'] as Uint8Array)
  } catch {}
  if (columns?.length !== (last - first + 1) * ENTRY_BYTES) return emptySegment(first, last)
  // Copied, as arrays of numbers have to begin at a multiple of their size.
  return segmentOver(first, new Uint8Array(columns).buffer)
}

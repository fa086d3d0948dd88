import type { SQLOutputValue } from 'node:sqlite'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { type Database, GO_ON_EACH_ROW } from './database.ts'

/**
 * The minutes, facts and fingerprints of counted entries, in arrays by arrival: matches are counted and grouped by them without reading a row
 * for each, which takes ten times as long.
 */
export interface CountedSpan {
  readonly first: number
  readonly last: number
  /** Since 1970, for each arrival from `first` on. */
  readonly minutes: Uint32Array
  /** Numbers of `rollup_facts`; 0 for entries that are removed, or counted by none. */
  readonly facts: Uint32Array
  /** Fingerprints as numbers; NO_FINGERPRINT for entries without one. */
  readonly templates: Float64Array
  readonly exceptionGroups: Float64Array
}

export const NO_FINGERPRINT = -1

/** An entry that is counted, with the number of its facts; 0 if it is counted by none. */
export interface NumberedEntry {
  readonly arrival: number
  readonly minute: number
  readonly facts: number
  /** NO_FINGERPRINT if there is none. */
  readonly template: number
  readonly exceptionGroup: number
}

/** Two numbers of 64 and two of 32 bits for each entry. */
const ENTRY_BYTES = 24

/** The fastest of the usual levels. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Arrays have a place for each arrival, so a span ends before a longer gap of arrivals that were removed. */
const GAP_MAX = 1_000

/** Stores entries that were just counted, in the order of arrival. Only in `write`. */
export function storeCounted(database: Database, entries: readonly NumberedEntry[]): void {
  for (let begin = 0; begin < entries.length; ) {
    const first = entries[begin]?.arrival ?? 0
    let end = begin + 1
    while (end < entries.length && (entries[end]?.arrival ?? 0) - (entries[end - 1]?.arrival ?? 0) <= GAP_MAX) end += 1
    const span = emptySpan(first, entries[end - 1]?.arrival ?? 0)
    for (const { arrival, minute, facts, template, exceptionGroup } of entries.slice(begin, end)) {
      span.minutes[arrival - first] = minute
      span.facts[arrival - first] = facts
      span.templates[arrival - first] = template
      span.exceptionGroups[arrival - first] = exceptionGroup
    }
    put(database, span)
    begin = end
  }
}

/** Forgets entries that were just removed. Only in `write`. */
export function forgetCounted(database: Database, arrivals: readonly number[]): void {
  const spanOf = createSpanReader(database)
  const changed = new Set<CountedSpan>()
  for (const arrival of arrivals) {
    const span = spanOf(arrival)
    if (span === undefined) continue
    span.facts[arrival - span.first] = 0
    changed.add(span)
  }
  for (const span of changed) {
    if (span.facts.some((facts) => facts !== 0)) put(database, span)
    else database.prepare('DELETE FROM counted_entries WHERE first = ?').run(span.first)
  }
}

/** Finds the span of an arrival; arrivals that are asked for in order read each span once. Only in `read` or `write`. */
export function createSpanReader(database: Database): (arrival: number) => CountedSpan | undefined {
  let span: CountedSpan | undefined
  return (arrival) => {
    if (span === undefined || arrival < span.first || arrival > span.last) span = readSpan(database, arrival)
    return span
  }
}

function readSpan(database: Database, arrival: number): CountedSpan | undefined {
  const row = database
    .prepare('SELECT first, last, content FROM counted_entries WHERE first <= ? ORDER BY first DESC LIMIT 1')
    .get(arrival)
  return row === undefined || Number(row['last']) < arrival ? undefined : spanOfRow(row)
}

/** The spans that have any of these arrivals, in order. Only in `read`. */
export function* spansWithin(database: Database, first: number, last: number): Iterable<CountedSpan> {
  const rows = database
    .prepare(`SELECT first, last, content FROM counted_entries
      WHERE first >= coalesce((SELECT max(first) FROM counted_entries WHERE first <= $first), 0) AND first <= $last
        AND ${GO_ON_EACH_ROW} ORDER BY first`)
    .iterate({ first, last })
  for (const row of rows) if (Number(row['last']) >= first) yield spanOfRow(row)
}

const spanOfRow = (row: Readonly<Record<string, SQLOutputValue>>): CountedSpan =>
  unpack(Number(row['first']), Number(row['last']), row['content'] as Uint8Array)

const emptySpan = (first: number, last: number): CountedSpan =>
  spanOf(first, new ArrayBuffer((last - first + 1) * ENTRY_BYTES))

/** A span over the arrays in a buffer. */
function spanOf(first: number, buffer: ArrayBuffer): CountedSpan {
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

function put(database: Database, { first, last, facts }: CountedSpan): void {
  database
    .prepare('INSERT OR REPLACE INTO counted_entries (first, last, content) VALUES (?, ?, ?)')
    .run(first, last, zstdCompressSync(Buffer.from(facts.buffer), ZSTD))
}

/** A damaged span costs the counts of its entries among matches, as a damaged row of `rollups` costs its count. */
function unpack(first: number, last: number, content: Uint8Array): CountedSpan {
  const raw = unpacked(content)
  if (raw?.length !== (last - first + 1) * ENTRY_BYTES) return emptySpan(first, last)
  // Copied, as arrays of numbers have to begin at a multiple of their size.
  return spanOf(first, new Uint8Array(raw).buffer)
}

function unpacked(content: Uint8Array): Uint8Array | null {
  try {
    return zstdDecompressSync(content)
  } catch {
    return null
  }
}

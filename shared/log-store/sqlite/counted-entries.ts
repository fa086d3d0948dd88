import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Database } from './database.ts'

/**
 * The minute and the facts of counted entries, in arrays by arrival: matches of words are counted by them without reading a row for each,
 * which takes ten times as long.
 */
export interface CountedSpan {
  readonly first: number
  readonly last: number
  /** Since 1970, for each arrival from `first` on. */
  readonly minutes: Uint32Array
  /** Numbers of `rollup_facts`; 0 for entries that are removed, or counted by none. */
  readonly facts: Uint32Array
}

/** An entry that is counted, with the number of its facts; 0 if it is counted by none. */
export interface NumberedEntry {
  readonly arrival: number
  readonly minute: number
  readonly facts: number
}

/** Two numbers of 32 bits for each entry. */
const ENTRY_BYTES = 8

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
    for (const { arrival, minute, facts } of entries.slice(begin, end)) {
      span.minutes[arrival - first] = minute
      span.facts[arrival - first] = facts
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
  const [first, last] = [Number(row?.['first']), Number(row?.['last'])]
  return row === undefined || last < arrival ? undefined : unpack(first, last, row['content'] as Uint8Array)
}

const emptySpan = (first: number, last: number): CountedSpan => {
  const count = last - first + 1
  return { first, last, minutes: new Uint32Array(count), facts: new Uint32Array(count) }
}

function put(database: Database, { first, last, minutes, facts }: CountedSpan): void {
  const columns = [minutes, facts].map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  )
  database
    .prepare('INSERT OR REPLACE INTO counted_entries (first, last, content) VALUES (?, ?, ?)')
    .run(first, last, zstdCompressSync(Buffer.concat(columns), ZSTD))
}

/** A damaged span costs the counts of its entries among matches, as a damaged row of `rollups` costs its count. */
function unpack(first: number, last: number, content: Uint8Array): CountedSpan {
  const count = last - first + 1
  const raw = unpacked(content)
  if (raw?.length !== count * ENTRY_BYTES) return emptySpan(first, last)
  const numbers = new Uint32Array(new Uint8Array(raw).buffer)
  return { first, last, minutes: numbers.subarray(0, count), facts: numbers.subarray(count) }
}

function unpacked(content: Uint8Array): Uint8Array | null {
  try {
    return zstdDecompressSync(content)
  } catch {
    return null
  }
}

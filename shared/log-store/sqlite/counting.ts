import { LEVELS, type Level } from '../../contract/levels.ts'
import { timestampOf, toNanos } from '../../contract/timestamp.ts'
import { type EntryFilter, FACETS, type FacetName, type Facets, facetsOf, type Histogram } from '../log-store.ts'
import { type Spans, spansOver } from '../spans.ts'
import type { Database } from './database.ts'
import type { EntryReads, PlacesOf } from './places.ts'
import type { Rollup, RowsPart } from './rollup.ts'
import { kindsOf, type SelectParts, whereKinds } from './selection.ts'

const NOTHING: Histogram = { intervalMs: 1, buckets: [], total: 0 }
export const MINUTE_MS = 60_000

export function createHistogramReader({ database, selectParts, rollupOf, placesOf }: EntryReads) {
  const read = (filter: EntryFilter, bucketsMax: number): Histogram => {
    const rollup = rollupOf(filter, 'counts')
    const spans = spansOf(placesOf, filter, rollup, bucketsMax)
    return spans === null ? NOTHING : histogram(spans, countLevels(database, filter, selectParts, rollup, spans))
  }
  return { histogram: (filter: EntryFilter, bucketsMax: number) => database.read(() => read(filter, bucketsMax)) }
}

/** At most `countMax` spans over the filter's range; open ends are closed by the matches'. Null if nothing matches. */
export function spansOf(
  placesOf: PlacesOf,
  filter: EntryFilter,
  rollup: Rollup | null,
  countMax: number,
): Spans | null {
  const edge = (order: 'asc' | 'desc'): bigint | null => edgeOf(placesOf, filter, rollup, order)
  const from = filter.from === null ? edge('asc') : toNanos(filter.from)
  const last = filter.to === null ? edge('desc') : toNanos(filter.to) - 1n
  return from === null || last === null || last < from ? null : spansOver(from, last + 1n, Math.max(1, countMax))
}

/** The time of the first or last match; null if there is none. */
function edgeOf(placesOf: PlacesOf, filter: EntryFilter, rollup: Rollup | null, order: 'asc' | 'desc'): bigint | null {
  const edge = rollup?.edge(order) ?? null
  const parts: readonly RowsPart[] =
    rollup === null ? [{ filter }] : [...(edge === null ? [] : [edge]), ...rollup.beside]
  return parts
    .flatMap(({ filter: ofPart, arrivals }) => placesOf({ filter: ofPart, order, after: null, limit: 1 }, arrivals))
    .map(({ nanos }) => nanos)
    .reduce<bigint | null>((a, b) => (a === null || (order === 'asc' ? b < a : b > a) ? b : a), null)
}

interface LevelCount {
  readonly span: number
  readonly level: Level
  readonly count: number
}

function* countLevels(
  database: Database,
  filter: EntryFilter,
  select: SelectParts,
  rollup: Rollup | null,
  spans: Spans,
): Iterable<LevelCount> {
  if (rollup === null || spans.widthMs % MINUTE_MS !== 0) return yield* countRows(database, { filter }, select, spans)
  for (const beside of rollup.beside) yield* countRows(database, beside, select, spans)
  const unit = spans.widthMs / MINUTE_MS
  for (const { minute, level, count } of rollup.levels(unit))
    yield { span: Math.floor(minute / unit) - spans.first, level, count }
}

function* countRows(
  database: Database,
  { filter, arrivals }: RowsPart,
  select: SelectParts,
  spans: Spans,
): Iterable<LevelCount> {
  for (const selection of select(filter, arrivals)) {
    const { text, values } = whereKinds(selection, kindsOf(filter))
    const rows = database
      .prepare(`SELECT e.timestamp / 1000000 / ? - ? AS span, e.level AS level, count(*) AS count
        FROM ${selection.from} WHERE ${text} GROUP BY 1, 2`)
      .iterate(BigInt(spans.widthMs), BigInt(spans.first), ...values)
    for (const row of rows) {
      const level = LEVELS[Number(row['level'])]
      if (level !== undefined) yield { span: Number(row['span']), level, count: Number(row['count']) }
    }
  }
}

function histogram({ widthMs, first, count }: Spans, counts: Iterable<LevelCount>): Histogram {
  const sums = Array.from({ length: count }, () => new Map<Level, number>())
  for (const { span, level, count } of counts) {
    const levels = sums[span]
    levels?.set(level, (levels.get(level) ?? 0) + count)
  }
  const buckets = sums.map((levels, index) => ({
    from: timestampOf((first + index) * widthMs),
    total: [...levels.values()].reduce((a, b) => a + b, 0),
    // In order of severity, in whatever order they were counted.
    levels: Object.fromEntries(LEVELS.flatMap((level) => (levels.has(level) ? [[level, levels.get(level)]] : []))),
  }))
  return { intervalMs: widthMs, buckets, total: buckets.reduce((sum, { total }) => sum + total, 0) }
}

const COLUMNS = FACETS.map((name) => `e.${name} AS ${name}`).join(', ')

/** Counts all facets in one pass: most entries have the same values in most facets, so there are few combinations. */
export function createFacetReader({ database, selectParts, rollupOf }: EntryReads) {
  const read = (filter: EntryFilter, valuesMax: number): Facets => {
    const counts = new Map(FACETS.map((name) => [name, new Map<string, number>()]))
    const addRow = (row: Readonly<Record<string, unknown>>, count: number): void => {
      for (const [name, ofFacet] of counts) add(ofFacet, facetValue(name, row[name]), count)
    }
    const rollup = rollupOf(filter, 'facts')
    for (const part of rollup?.beside ?? [{ filter }]) {
      for (const row of combinations(database, part, selectParts)) addRow(row, Number(row['count']))
    }
    for (const { facts, count } of rollup?.facts() ?? []) addRow(facts, count)
    return facetsOf((name) => counts.get(name) ?? [], valuesMax)
  }
  return { facets: (filter: EntryFilter, valuesMax: number) => database.read(() => read(filter, valuesMax)) }
}

/** The combinations of facets among the matches, each with its counts. */
function* combinations(database: Database, { filter, arrivals }: RowsPart, select: SelectParts) {
  for (const selection of select(filter, arrivals)) {
    const { text, values } = whereKinds(selection, kindsOf(filter))
    yield* database
      .prepare(`SELECT ${COLUMNS}, count(*) AS count FROM ${selection.from} WHERE ${text} GROUP BY 1, 2, 3, 4, 5, 6`)
      .iterate(...values)
  }
}

const facetValue = (name: FacetName, stored: unknown): string | null =>
  stored === null ? null : name === 'level' ? (LEVELS[Number(stored)] ?? null) : String(stored)

function add(counts: Map<string, number>, value: string | null, count: number): void {
  if (value !== null) counts.set(value, (counts.get(value) ?? 0) + count)
}

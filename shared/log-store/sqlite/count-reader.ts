/** Each answer adds up what the plan of its filter has counted already and the rows of its slices (counts.ts). */
import { LEVELS } from '../../contract/levels.ts'
import { toNanos } from '../../contract/timestamp.ts'
import {
  type EntryFilter,
  FACETS,
  type FacetName,
  type Facets,
  facetsOf,
  type Histogram,
  NO_HISTOGRAM,
} from '../log-store.ts'
import { histogramOf, type LevelCount, type Spans, spansOver } from '../spans.ts'
import type { StoreContext } from './context.ts'
import { minutesOfSpan, planOf } from './counts.ts'
import type { Row } from './database.ts'
import { placesOf } from './entry-reader.ts'
import { RANKS } from './rollups.ts'
import { inPartsOf, type Slice, scansOf } from './scan.ts'
import { compose, join, type Sql, sql } from './sql.ts'
import { COLUMNS } from './values.ts'

export function count(context: StoreContext, filter: EntryFilter): number {
  const { counted, slices } = planOf(context, filter, 'level')
  let total = 0
  for (const [, some] of counted?.byFacts() ?? []) total += some
  for (const row of countRows(context, slices, [])) total += Number(row['count'])
  return total
}

export function histogram(context: StoreContext, filter: EntryFilter, bucketsMax: number): Histogram {
  const spans = spansOf(context, filter, bucketsMax)
  return spans === null ? NO_HISTOGRAM : histogramOf(spans, countLevels(context, filter, spans))
}

/** All facets in one pass: most entries have the same values in most facets, so there are few combinations. */
export function facets(context: StoreContext, filter: EntryFilter, valuesMax: number): Facets {
  const found = new Map(FACETS.map((name) => [name, new Map<string, number>()]))
  const add = (row: Row, count: number): void => {
    if (count === 0) return
    for (const [name, ofFacet] of found) {
      const value = facetValue(name, row[name])
      if (value !== null) ofFacet.set(value, (ofFacet.get(value) ?? 0) + count)
    }
  }
  const { counted, slices } = planOf(context, filter, 'facts')
  const counts = counted?.byFacts()
  for (const [facts, combination] of counted?.combinations() ?? []) add(combination, counts?.get(facts) ?? 0)
  for (const row of countRows(context, slices, FACET_COLUMNS)) add(row, Number(row['count']))
  return facetsOf((name) => found.get(name) ?? [], valuesMax)
}

/** The number of rows of the slices by the values of columns. */
function* countRows(context: StoreContext, slices: readonly Slice[], columns: readonly Sql[]): Iterable<Row> {
  const select = join([...columns, sql('count(*) AS count')], ',')
  const group = columns.length === 0 ? '' : `GROUP BY ${columns.map((_, index) => index + 1)}`
  for (const { from, where } of slices.flatMap((slice) => scansOf(context.database, slice)))
    yield* context.database.iterate(compose`SELECT ${select} FROM ${from} WHERE ${where} ${group}`)
}

/** At most `countMax` spans over the filter's range; open ends are closed by the matches'. Null if nothing matches. */
export function spansOf(context: StoreContext, filter: EntryFilter, countMax: number): Spans | null {
  const from = filter.from === null ? edgeOf(context, filter, 'asc') : toNanos(filter.from)
  const last = filter.to === null ? edgeOf(context, filter, 'desc') : toNanos(filter.to) - 1n
  return from === null || last === null || last < from ? null : spansOver(from, last + 1n, Math.max(1, countMax))
}

/** The time of the first or last match; null if there is none. */
function edgeOf(context: StoreContext, filter: EntryFilter, order: 'asc' | 'desc'): bigint | null {
  const { counted, slices } = planOf(context, filter, 'level')
  const edge = counted?.edge(order) ?? null
  return [...(edge === null ? [] : [edge]), ...slices]
    .flatMap((slice) => placesOf(context, { ...slice, order, after: null, limit: 1 }))
    .map(({ nanos }) => nanos)
    .reduce<bigint | null>((a, b) => (a === null || (order === 'asc' ? b < a : b > a) ? b : a), null)
}

function* countLevels(context: StoreContext, filter: EntryFilter, spans: Spans): Iterable<LevelCount> {
  const unit = minutesOfSpan(spans)
  // The counts go by minutes at least: for shorter spans, the rows themselves are counted.
  const { counted, slices } =
    unit === null ? { counted: null, slices: [inPartsOf(context, filter)] } : planOf(context, filter, 'level')
  const levelCount = (span: number, rank: number, count: number): readonly LevelCount[] => {
    const level = LEVELS[rank]
    return level === undefined ? [] : [{ span, level, count }]
  }
  for (const [key, some] of counted?.byLevel(unit ?? 1) ?? [])
    yield* levelCount(Math.floor(key / RANKS) - spans.first, key % RANKS, some)
  for (const row of countRows(context, slices, [spanColumn(spans), sql('e.level AS level')]))
    yield* levelCount(Number(row['span']), Number(row['level']), Number(row['count']))
}

/** The index of the span that an entry is in; that of a damaged entry may be outside of the spans. */
export const spanColumn = ({ widthMs, first }: Spans): Sql =>
  sql('e.timestamp / 1000000 / ? - ? AS span', BigInt(widthMs), BigInt(first))

const FACET_COLUMNS = FACETS.map((name) => sql(`${COLUMNS[name]} AS ${name}`))

const facetValue = (name: FacetName, stored: unknown): string | null =>
  stored === null ? null : name === 'level' ? (LEVELS[Number(stored)] ?? null) : String(stored)

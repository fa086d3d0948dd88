import { levelOf } from '../../contract/levels.ts'
import { fromNanos } from '../../contract/timestamp.ts'
import type { LeafName } from '../../query/ast.ts'
import {
  type EntryFilter,
  type EntryGroup,
  type GroupField,
  type GroupLimits,
  type Groups,
  NO_GROUPS,
  withLeaf,
} from '../log-store.ts'
import { headOf, type Spans } from '../spans.ts'
import type { StoreContext } from './context.ts'
import { spanColumn, spansOf } from './count-reader.ts'
import { inMinute } from './counts.ts'
import type { Database } from './database.ts'
import { gather } from './entry-reader.ts'
import { RANKS } from './rollups.ts'
import { type Slice, wholeOf } from './scan.ts'
import { allOf, compose, digitsOf, sql } from './sql.ts'
import {
  bytesOfValue,
  compareValues,
  memoryOf,
  notTooMany,
  ROWS_MAX,
  type Value,
  type ValueMatches,
  type ValueRows,
  valueMatches,
  valueRows,
  valueText,
  withinMemory,
  withOneOf,
} from './values.ts'

/** Groups with the texts of their samples' rows, in the same order. */
interface SourceGroups extends Omit<Groups, 'groups'> {
  readonly groups: readonly Omit<EntryGroup, 'sample'>[]
  readonly sources: readonly string[]
}

export function groups(
  context: StoreContext,
  filter: EntryFilter,
  by: GroupField,
  { groupsMax, bucketsMax }: GroupLimits,
): SourceGroups {
  const { database, contents } = context
  const spans = spansOf(context, filter, bucketsMax)
  if (spans === null) return { ...NO_GROUPS, groups: [], sources: [] }
  const found = valueGroups(context, filter, by, spans, groupsMax + 1)
  const all = found.filter(({ value }) => value !== null)
  const counted = all.slice(0, groupsMax)
  addTimes(database, filter, by, spans, counted)
  const shown = counted.flatMap(({ times, ...group }) => (times === null ? [] : [{ ...group, ...times }]))
  const sources = gather(contents, lastEntries(database, filter, by, shown), 'row')
  return {
    ...headOf(spans),
    groups: shown.slice(0, sources.length).map(({ value, count, level, counts, first, last }) => ({
      value: valueText(value, by),
      count,
      firstAt: fromNanos(first),
      lastAt: fromNanos(last),
      worstLevel: levelOf(level),
      counts,
    })),
    sources,
    more: all.length > counted.length || shown.length > sources.length,
    ungrouped: found.find(({ value }) => value === null)?.count ?? 0,
  }
}

/** The matches that share a value or, with the value null, that have none. */
export interface ValueGroup {
  readonly value: Value
  count: number
  /** The rank of the worst level. */
  level: number
  /** For each span. */
  readonly counts: number[]
  /** Null as long as no row tells them. */
  times: Times | null
  /** The first and the last minute since 1970 in which segments have matches, which have no times; infinite if there are none. */
  firstMinute: number
  lastMinute: number
}

/** The times of a first and a last entry, in nanoseconds since 1970. */
interface Times {
  readonly first: bigint
  readonly last: bigint
}

const NO_MINUTES = { firstMinute: Number.POSITIVE_INFINITY, lastMinute: Number.NEGATIVE_INFINITY }

/**
 * The groups of matches that have a leaf at the path `leaf`, if one is given: at least `groupsMax` with a value, the largest first, and
 * perhaps more. They are counted by segments and the rows of slices, or by the rows of all matches if segments lack the field, and if there
 * are too many groups: SQLite then sorts rows, on disk if they are many.
 */
export function valueGroups(
  context: StoreContext,
  filter: EntryFilter,
  by: GroupField | null,
  spans: Spans,
  groupsMax: number,
  leaf: LeafName | null = null,
): readonly ValueGroup[] {
  const { database, limits } = context
  const matches = valueMatches(context, filter, by, spans, leaf)
  const countRows = (slice: Slice, rowsMax: number) =>
    countGroups(database, valueRows(database, slice, by), spans, rowsMax)
  const rowsOf = (slice: Slice) => notTooMany(countRows(slice, ROWS_MAX))
  return (
    (matches &&
      withinMemory(() => tallyGroups(matches, matches.slices.flatMap(rowsOf), spans, limits.countedBytesMax))) ??
    countRows(wholeOf(database, withLeaf(filter, leaf)), groupsMax)
  )
}

const BYTES_OF_A_COUNT = 8

/** Throws a `TooManyError` if there are too many groups. */
export function tallyGroups(
  { forEach, valuesOf, unit }: Omit<ValueMatches, 'slices'>,
  rows: readonly ValueGroup[],
  spans: Spans,
  bytesMax: number,
): readonly ValueGroup[] {
  const take = memoryOf(bytesMax)
  const tallies = new Map<Value, ValueGroup>()
  const tallyOf = (value: Value): ValueGroup => {
    const known = tallies.get(value)
    if (known !== undefined) return known
    take(bytesOfValue(value) + spans.count * BYTES_OF_A_COUNT)
    const counts = Array.from({ length: spans.count }, () => 0)
    const tally = { value, count: 0, level: 0, counts, times: null, ...NO_MINUTES }
    tallies.set(value, tally)
    return tally
  }
  forEach((segment, index) => {
    const [minute = 0, facts = 0] = [segment.minutes[index], segment.facts[index]]
    for (const value of valuesOf(segment, index)) {
      const tally = tallyOf(value)
      add(tally, 1, facts % RANKS, Math.floor(minute / unit) - spans.first)
      if (minute < tally.firstMinute) tally.firstMinute = minute
      if (minute > tally.lastMinute) tally.lastMinute = minute
    }
  })
  for (const row of rows) {
    const tally = tallyOf(row.value)
    for (const [span, count] of row.counts.entries()) if (count > 0) add(tally, count, row.level, span)
    tally.times = joined(tally.times, row.times)
  }
  return [...tallies.values()].sort((a, b) => b.count - a.count || compareValues(a.value, b.value))
}

function add(tally: ValueGroup, count: number, level: number, span: number): void {
  tally.count += count
  tally.level = Math.max(tally.level, level)
  // The time of a damaged row may be outside of the spans.
  const before = tally.counts[span]
  if (before !== undefined) tally.counts[span] = before + count
}

function joined(a: Times | null, b: Times | null): Times | null {
  if (a === null || b === null) return a ?? b
  return { first: a.first < b.first ? a.first : b.first, last: a.last > b.last ? a.last : b.last }
}

/** Adds the times of the rows in the first and the last minute of each group: none, if these are damaged and have other values than the segments. */
function addTimes(
  database: Database,
  filter: EntryFilter,
  by: GroupField,
  spans: Spans,
  shown: readonly ValueGroup[],
): void {
  const minutes = shown.flatMap(({ firstMinute, lastMinute }) => [firstMinute, lastMinute]).filter(Number.isFinite)
  for (const minute of new Set(minutes)) {
    const own = shown.filter(({ firstMinute, lastMinute }) => firstMinute === minute || lastMinute === minute)
    const tallies = new Map(own.map((tally) => [tally.value, tally]))
    const rows = valueRows(database, wholeOf(database, inMinute(filter, minute)), by)
    for (const row of countGroups(database, withOneOf(rows, [...tallies.keys()]), spans, own.length)) {
      const tally = tallies.get(row.value)
      if (tally !== undefined) tally.times = joined(tally.times, row.times)
    }
  }
}

/** The groups with most entries, preceded by the entries without a value as one group. Each entry is read once. */
function countGroups(
  database: Database,
  { source, where, value }: ValueRows,
  spans: Spans,
  groupsMax: number,
): readonly ValueGroup[] {
  return database
    .all(compose`SELECT value, sum(entries) AS count, ${digitsOf('min(first)')} AS first, ${digitsOf('max(last)')} AS last,
        max(level) AS level, group_concat(span || ':' || entries) AS spans
      FROM (SELECT ${value} AS value, ${spanColumn(spans)}, count(*) AS entries,
          min(e.timestamp) AS first, max(e.timestamp) AS last, max(e.level) AS level
        FROM ${source} WHERE ${where} GROUP BY 1, 2)
      GROUP BY value ORDER BY value IS NOT NULL, count DESC, value LIMIT ${sql('?', groupsMax + 1)}`)
    .map((row) => ({
      value: row['value'] as Value,
      count: Number(row['count']),
      level: Number(row['level']),
      counts: countsOf(String(row['spans']), spans),
      times: { first: BigInt(String(row['first'])), last: BigInt(String(row['last'])) },
      ...NO_MINUTES,
    }))
}

/** The counts of all spans, from `span:count` for each span with entries, separated by commas. */
function countsOf(text: string, { count: length }: Spans): number[] {
  const counts = Array.from({ length }, () => 0)
  for (const part of text.split(',')) {
    const [span = 0, entries = 0] = part.split(':').map(Number)
    if (span in counts) counts[span] = entries
  }
  return counts
}

/** The arrivals of the groups' last entries, in the groups' order, found by their known times. */
function lastEntries(
  database: Database,
  filter: EntryFilter,
  by: GroupField,
  groups: readonly (Pick<ValueGroup, 'value'> & Times)[],
): readonly number[] {
  const times = groups.map(({ last }) => last).sort((a, b) => (a < b ? -1 : 1))
  const [from, to] = [times[0], times.at(-1)]
  if (from === undefined || to === undefined) return []
  const range = { ...filter, from: fromNanos(from), to: fromNanos(to + 1n) }
  const { source, where, value } = valueRows(database, wholeOf(database, range), by)
  const atTimes = sql(`e.timestamp IN (${times.map(() => '?').join(', ')})`, ...times)
  // With max(), SQLite takes the bare columns from the row of the maximum.
  const found = database.iterate(
    compose`SELECT ${value} AS value, ${digitsOf('e.timestamp')} AS at, max(e.id), e.arrival AS arrival
      FROM ${source} WHERE ${allOf([where, atTimes])} GROUP BY 1, 2`,
  )
  const wanted = new Set(groups.map(({ value, last }) => placeOf(value, last)))
  const arrivals = new Map<string, number>()
  for (const { value, at, arrival } of found) {
    const place = placeOf(value as Value, BigInt(String(at)))
    if (wanted.has(place)) arrivals.set(place, Number(arrival))
  }
  return groups.map(
    ({ value, last }) => arrivals.get(placeOf(value, last)) ?? newestArrival(database, filter, by, value),
  )
}

/** The arrival of an entry of a group that has none at its last time: that of a damaged row is no number of nanoseconds. */
function newestArrival(database: Database, filter: EntryFilter, by: GroupField, value: Value): number {
  const { source, where } = withOneOf(valueRows(database, wholeOf(database, filter), by), [value])
  const [row] = database.all(compose`SELECT max(e.arrival) AS arrival FROM ${source} WHERE ${where}`)
  return Number(row?.['arrival'])
}

const placeOf = (value: Value, at: bigint): string => `${at} ${value}`

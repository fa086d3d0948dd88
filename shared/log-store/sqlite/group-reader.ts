import { levelOf } from '../../contract/levels.ts'
import { fromNanos } from '../../contract/timestamp.ts'
import {
  type EntryFilter,
  type EntryGroup,
  type GroupField,
  type GroupLimits,
  type Groups,
  NO_GROUPS,
} from '../log-store.ts'
import { headOf, type Spans } from '../spans.ts'
import type { StoreContext } from './context.ts'
import { spanColumn, spansOf } from './count-reader.ts'
import { inMinute, type Matches, minutesOfSpan, planOf } from './counts.ts'
import type { Database } from './database.ts'
import { gather } from './entry-reader.ts'
import { RANKS } from './rollups.ts'
import { allOf, compose, digitsOf, sql } from './sql.ts'
import {
  bytesOfValue,
  compareValues,
  isOneOf,
  memoryOf,
  notTooMany,
  ROWS_MAX,
  type SegmentValues,
  segmentValues,
  type Value,
  type ValueRows,
  valueRows,
  valueText,
  withinMemory,
} from './values.ts'

/** Groups with the texts of their samples' rows, in the same order. */
export interface SourceGroups extends Omit<Groups, 'groups'> {
  readonly groups: readonly Omit<EntryGroup, 'sample'>[]
  readonly sources: readonly string[]
}

/** Groups are counted by segments if these have all that is needed; else SQLite sorts rows, on disk if they are many. */
export function groups(
  context: StoreContext,
  filter: EntryFilter,
  by: GroupField,
  { groupsMax, bucketsMax }: GroupLimits,
): SourceGroups {
  const spans = spansOf(context, filter, bucketsMax)
  if (spans === null) return { ...NO_GROUPS, groups: [], sources: [] }
  const wanted = { filter, by, spans, groupsMax }
  const { rows, samples, ungrouped, more } = groupsBySegments(context, wanted) ?? groupsByRows(context, wanted)
  const sources = gather(context.contents, samples, 'row')
  return {
    ...headOf(spans),
    groups: rows.slice(0, sources.length).map(({ value, count, level, counts, first, last }) => ({
      value: valueText(value, by),
      count,
      firstAt: fromNanos(first),
      lastAt: fromNanos(last),
      worstLevel: levelOf(level),
      counts,
    })),
    sources,
    more: more || rows.length > sources.length,
    ungrouped,
  }
}

interface WantedGroups {
  readonly filter: EntryFilter
  readonly by: GroupField
  readonly spans: Spans
  readonly groupsMax: number
}

/** The groups with most matches, with the arrivals of their last entries. */
interface FoundGroups {
  readonly rows: readonly GroupRow[]
  readonly samples: readonly number[]
  /** The number of matches without a value. */
  readonly ungrouped: number
  readonly more: boolean
}

/** A group as SQLite counts it. */
export interface GroupRow {
  readonly value: Value
  readonly count: number
  /** The rank of the worst level. */
  readonly level: number
  /** For each span. */
  readonly counts: readonly number[]
  /** Nanoseconds since 1970. */
  readonly first: bigint
  readonly last: bigint
}

/** The groups as SQLite counts them. Each match is read once. */
function groupsByRows({ database }: StoreContext, { filter, by, spans, groupsMax }: WantedGroups): FoundGroups {
  const matches = valueRows(database, { filter }, by)
  const found = countGroups(database, matches, spans, groupsMax + 1)
  const all = found.filter(({ value }) => value !== null)
  const rows = all.slice(0, groupsMax)
  return {
    rows,
    samples: lastEntries(database, matches, rows),
    // Entries without a value come first.
    ungrouped: found[0]?.value === null ? found[0].count : 0,
    more: all.length > rows.length,
  }
}

/** The groups as segments count them; null if these lack the field, if spans are narrower than a minute, or if there are too many groups. */
function groupsBySegments(context: StoreContext, wanted: WantedGroups): FoundGroups | null {
  const { database, contents, limits } = context
  const { filter, by, spans, groupsMax } = wanted
  const { matches, slices } = planOf(context, filter, 'facts')
  const valuesOf = matches && segmentValues(matches, contents, by)
  if (matches === null || valuesOf === null || minutesOfSpan(spans) === null) return null
  const tallied = withinMemory(() => {
    const rows = slices.flatMap((slice) =>
      notTooMany(countGroups(database, valueRows(database, slice, by), spans, ROWS_MAX)),
    )
    return tallyGroups(matches, valuesOf, rows, spans, limits.countedBytesMax)
  })
  if (tallied === null) return null
  const shown = tallied.groups.slice(0, groupsMax)
  const rows = withTimes(database, wanted, shown)
  const samples = rows.flatMap((row) => {
    const instant = { ...filter, from: fromNanos(row.last), to: fromNanos(row.last + 1n) }
    return lastEntries(database, withValues(valueRows(database, { filter: instant }, by), [row.value]), [row])
  })
  return { rows, samples, ungrouped: tallied.ungrouped, more: tallied.groups.length > shown.length }
}

/** A group as segments count it. */
interface Tally {
  readonly value: Value
  count: number
  level: number
  readonly counts: number[]
  /** The first and the last minute (since 1970) with matches in segments; infinite if there are none. */
  firstMinute: number
  lastMinute: number
  /** Its matches in the slices of the plan. */
  readonly rows: GroupRow[]
}

const BYTES_OF_A_COUNT = 8

/** Groups matches in segments and rows; groups with most matches come first. Throws a `TooManyError` if there are too many groups. */
export function tallyGroups(
  matches: Matches,
  valuesOf: SegmentValues,
  rows: readonly GroupRow[],
  spans: Spans,
  bytesMax: number,
): { readonly groups: readonly Tally[]; readonly ungrouped: number } {
  const take = memoryOf(bytesMax)
  const unit = minutesOfSpan(spans) ?? 1
  const tallies = new Map<Value, Tally>()
  let ungrouped = 0
  const tallyOf = (value: Value): Tally => {
    const known = tallies.get(value)
    if (known !== undefined) return known
    take(bytesOfValue(value) + spans.count * BYTES_OF_A_COUNT)
    const tally = newTally(value, spans)
    tallies.set(value, tally)
    return tally
  }
  matches.forEach((segment, index) => {
    const values = valuesOf(segment, index)
    if (values.length === 0) ungrouped += 1
    const [minute = 0, facts = 0] = [segment.minutes[index], segment.facts[index]]
    for (const value of values) {
      const tally = tallyOf(value)
      add(tally, 1, facts % RANKS, Math.floor(minute / unit) - spans.first)
      if (minute < tally.firstMinute) tally.firstMinute = minute
      if (minute > tally.lastMinute) tally.lastMinute = minute
    }
  })
  for (const row of rows) {
    if (row.value === null) {
      ungrouped += row.count
      continue
    }
    const tally = tallyOf(row.value)
    for (const [at, more] of row.counts.entries()) if (more > 0) add(tally, more, row.level, at)
    tally.rows.push(row)
  }
  const groups = [...tallies.values()].sort((a, b) => b.count - a.count || compareValues(a.value, b.value))
  return { groups, ungrouped }
}

const newTally = (value: Value, { count }: Spans): Tally => ({
  value,
  count: 0,
  level: 0,
  counts: Array.from({ length: count }, () => 0),
  firstMinute: Number.POSITIVE_INFINITY,
  lastMinute: Number.NEGATIVE_INFINITY,
  rows: [],
})

function add(tally: Tally, count: number, level: number, span: number): void {
  tally.count += count
  tally.level = Math.max(tally.level, level)
  tally.counts[span] = (tally.counts[span] ?? 0) + count
}

/** The groups with their times. Segments have minutes only, so the times are those of the matches in their first and their last minute. */
function withTimes(
  database: Database,
  { filter, by, spans }: WantedGroups,
  shown: readonly Tally[],
): readonly GroupRow[] {
  const minutes = new Set(
    shown.flatMap(({ firstMinute, lastMinute }) => [firstMinute, lastMinute]).filter(Number.isFinite),
  )
  const rowsOf = new Map(shown.map(({ value, rows }) => [value, [...rows]]))
  for (const minute of minutes) {
    const own = shown.filter(({ firstMinute, lastMinute }) => firstMinute === minute || lastMinute === minute)
    const values = own.map(({ value }) => value)
    const matches = withValues(valueRows(database, { filter: inMinute(filter, minute) }, by), values)
    for (const row of countGroups(database, matches, spans, own.length)) rowsOf.get(row.value)?.push(row)
  }
  return shown.flatMap(({ value, count, level, counts }): readonly GroupRow[] => {
    const rows = rowsOf.get(value) ?? []
    // Damaged rows have other values than the segments.
    if (rows.length === 0) return []
    const first = rows.map((row) => row.first).reduce((a, b) => (b < a ? b : a))
    const last = rows.map((row) => row.last).reduce((a, b) => (b > a ? b : a))
    return [{ value, count, level, counts, first, last }]
  })
}

/** The rows with some values alone. */
const withValues = ({ source, where, value }: ValueRows, values: readonly Value[]): ValueRows => ({
  source,
  where: allOf([where, isOneOf(value, values)]),
  value,
})

/** The groups with most entries, preceded by the entries without a value as one group. Each entry is read once. */
function countGroups(
  database: Database,
  { source, where, value }: ValueRows,
  spans: Spans,
  groupsMax: number,
): readonly GroupRow[] {
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
      first: BigInt(String(row['first'])),
      last: BigInt(String(row['last'])),
      level: Number(row['level']),
      counts: countsOf(String(row['spans']), spans),
    }))
}

/** The counts of all spans, from `span:count` for each span with entries, separated by commas. */
function countsOf(text: string, { count: length }: Spans): readonly number[] {
  const counts = Array.from({ length }, () => 0)
  for (const part of text.split(',')) {
    const [span = 0, entries = 0] = part.split(':').map(Number)
    if (span in counts) counts[span] = entries
  }
  return counts
}

/** The arrivals of the groups' last entries, in the groups' order, found by their known times. */
function lastEntries(database: Database, matches: ValueRows, groups: readonly GroupRow[]): readonly number[] {
  if (groups.length === 0) return []
  const { source, where, value } = matches
  const times = groups.map(({ last }) => last)
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
  return groups.map(({ value, last }) => arrivals.get(placeOf(value, last)) ?? newestArrival(database, matches, value))
}

/** The arrival of an entry of a group that has none at its last time: that of a damaged row is no number of nanoseconds. */
function newestArrival(database: Database, matches: ValueRows, value: Value): number {
  const { source, where } = withValues(matches, [value])
  const [row] = database.all(compose`SELECT max(e.arrival) AS arrival FROM ${source} WHERE ${where}`)
  return Number(row?.['arrival'])
}

const placeOf = (value: Value, at: bigint): string => `${at} ${value}`

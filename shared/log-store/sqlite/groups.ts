import { LEVELS, type Level } from '../../contract/levels.ts'
import { fromNanos, timestampOf } from '../../contract/timestamp.ts'
import type { LeafName } from '../../query/ast.ts'
import type { EntryFilter, EntryGroup, GroupColumn, GroupField, GroupLimits, Groups } from '../log-store.ts'
import { type Spans, startsOf } from '../spans.ts'
import { LEAF_TEXTS } from './contents.ts'
import { countByArrays, type GroupCount, type GroupRow, type Value } from './counted-groups.ts'
import { spansOf } from './counting.ts'
import type { Database } from './database.ts'
import { gather } from './entry-reader.ts'
import { fingerprintText } from './ids.ts'
import { needleText } from './leaf-bytes.ts'
import type { EntryReads } from './places.ts'
import { minuteOf, type RowsPart } from './rollup.ts'
import { kindsOf, type Select, whereKinds } from './selection.ts'
import { allOf, digitsOf, type Sql, sql } from './sql.ts'

/** Groups with the texts of their samples' rows, in the same order. */
export interface SourceGroups extends Omit<Groups, 'groups'> {
  readonly groups: readonly Omit<EntryGroup, 'sample'>[]
  readonly sources: readonly string[]
}

const NOTHING: SourceGroups = { intervalMs: 1, spans: [], groups: [], sources: [], more: false, ungrouped: 0 }

const COLUMNS: Readonly<Record<GroupColumn, string>> = {
  level: 'e.level',
  environment: 'e.environment',
  event: 'e.event',
  step: 'e.step',
  project: 'e.project',
  category: 'e.category',
  correlationKey: 'e.correlation_key',
  eventName: 'e.event_name',
  eventId: 'e.event_id',
  template: 'e.template',
  exceptionGroup: 'e.exception_group',
}

/** Matches, with a row for each value that groups share: `value` in SQL over `source`, null for an entry without any. */
export interface GroupRows {
  readonly source: Sql
  readonly where: Sql
  readonly value: string
}

/** The rows of a part of a filter's matches; with one value for all, null, if `by` is null. Only in `Database.read`. */
export function groupRows(select: Select, { filter, arrivals }: RowsPart, by: GroupField | null): GroupRows {
  const selection = select(filter, arrivals)
  const { from } = selection
  const where = whereKinds(selection, kindsOf(filter))
  if (by === null) return { source: sql(from), where, value: 'NULL' }
  if (typeof by === 'string') return { source: sql(from), where, value: COLUMNS[by] }
  const { text, values } = leafArray(LEAF_TEXTS, by)
  return { source: sql(`${from} LEFT JOIN json_each(${text}) AS v`, ...values), where, value: 'v.value' }
}

/** The JSON array, in SQL, that a function makes of an entry's leaves at a path; null if the entry has none. */
export const leafArray = (make: string, { field, path }: LeafName): Sql =>
  sql(`${make}(e.arrival, ?)`, needleText(field, path, '', true))

/** Groups are counted by the arrays of counted entries if these have all that is needed; else SQLite sorts rows, on disk if they are many. */
export function createGroupReader({ database, contents, limits, select, rollupOf, placesOf }: EntryReads) {
  const rowsOf = (part: RowsPart, by: GroupField): GroupRows => groupRows(select, part, by)
  const read = (filter: EntryFilter, by: GroupField, { groupsMax, bucketsMax }: GroupLimits): SourceGroups => {
    const rollup = rollupOf(filter, 'facts')
    const spans = spansOf(placesOf, filter, rollup ?? rollupOf(filter, 'counts'), bucketsMax)
    if (spans === null) return NOTHING
    const countRows = (part: RowsPart, most: number) => countGroups(database, rowsOf(part, by), spans, most)
    const counted =
      rollup && countByArrays(rollup, contents, { by, spans, bytesMax: limits.countedBytesMax, countRows })
    const { rows, samples, ungrouped, more } =
      counted === null ? countByRows(filter, by, spans, groupsMax) : completed(counted, filter, by, spans, groupsMax)
    const sources = gather(contents, samples, 'row')
    return {
      intervalMs: spans.widthMs,
      spans: startsOf(spans).map(timestampOf),
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

  /** The groups with most matches, as SQLite counts them. Each match is read once. */
  const countByRows = (filter: EntryFilter, by: GroupField, spans: Spans, groupsMax: number): FoundGroups => {
    const matches = rowsOf({ filter }, by)
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

  /** Arrays have minutes only, so the times of groups are those of their matches in their first and their last minute. */
  const completed = (
    { groups, ungrouped }: NonNullable<ReturnType<typeof countByArrays>>,
    filter: EntryFilter,
    by: GroupField,
    spans: Spans,
    groupsMax: number,
  ): FoundGroups => {
    const shown = groups.slice(0, groupsMax)
    const minutes = new Set(
      shown.flatMap(({ firstMinute, lastMinute }) => [firstMinute, lastMinute]).filter(Number.isFinite),
    )
    const times = new Map(shown.map(({ value, beside }) => [value, [...beside]]))
    for (const minute of minutes) {
      const own = shown.filter(({ firstMinute, lastMinute }) => firstMinute === minute || lastMinute === minute)
      const matches = withValues(rowsOf(minuteOf(filter, minute), by), own)
      for (const row of countGroups(database, matches, spans, own.length)) times.get(row.value)?.push(row)
    }
    const rows = shown.flatMap(({ value, count, level, counts }): readonly GroupRow[] => {
      const of = times.get(value) ?? []
      // Damaged rows have other values than the arrays.
      if (of.length === 0) return []
      const first = of.map((row) => row.first).reduce((a, b) => (b < a ? b : a))
      const last = of.map((row) => row.last).reduce((a, b) => (b > a ? b : a))
      return [{ value, count, level, counts, first, last }]
    })
    const samples = rows.flatMap((row) => {
      const instant = { ...filter, from: fromNanos(row.last), to: fromNanos(row.last + 1n) }
      return lastEntries(database, withValues(rowsOf({ filter: instant }, by), [row]), [row])
    })
    return { rows, samples, ungrouped, more: groups.length > shown.length }
  }

  return {
    groups: (filter: EntryFilter, by: GroupField, most: GroupLimits) => database.read(() => read(filter, by, most)),
  }
}

/** The groups with most matches, with the arrivals of their last entries. */
interface FoundGroups {
  readonly rows: readonly GroupRow[]
  readonly samples: readonly number[]
  /** The number of matches without a value. */
  readonly ungrouped: number
  readonly more: boolean
}

/** The rows of some groups alone. */
function withValues({ source, where, value }: GroupRows, groups: readonly GroupCount[]): GroupRows {
  const values = groups.map((group) => group.value)
  return { source, where: allOf([where, sql(`${value} IN (${values.map(() => '?').join(', ')})`, ...values)]), value }
}

/** The groups with most entries, preceded by the entries without a value as one group. Each entry is read once. */
function countGroups(
  database: Database,
  { source, where, value }: GroupRows,
  spans: Spans,
  groupsMax: number,
): readonly GroupRow[] {
  return database
    .prepare(`SELECT value, sum(entries) AS count, ${digitsOf('min(first)')} AS first, ${digitsOf('max(last)')} AS last,
        max(level) AS level, group_concat(span || ':' || entries) AS spans
      FROM (SELECT ${value} AS value, e.timestamp / 1000000 / ? - ? AS span, count(*) AS entries,
          min(e.timestamp) AS first, max(e.timestamp) AS last, max(e.level) AS level
        FROM ${source.text} WHERE ${where.text} GROUP BY 1, 2)
      GROUP BY value ORDER BY value IS NOT NULL, count DESC, value LIMIT ?`)
    .all(BigInt(spans.widthMs), BigInt(spans.first), ...source.values, ...where.values, groupsMax + 1)
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
function lastEntries(
  database: Database,
  { source, where, value }: GroupRows,
  groups: readonly GroupRow[],
): readonly number[] {
  if (groups.length === 0) return []
  const times = groups.map(({ last }) => last)
  const { text, values } = allOf([where, sql(`e.timestamp IN (${times.map(() => '?').join(', ')})`, ...times)])
  // With max(), SQLite takes the bare columns from the row of the maximum.
  const found = database
    .prepare(`SELECT ${value} AS value, ${digitsOf('e.timestamp')} AS at, max(e.id), e.arrival AS arrival
      FROM ${source.text} WHERE ${text} GROUP BY 1, 2`)
    .iterate(...source.values, ...values)
  const wanted = new Set(groups.map(({ value, last }) => placeOf(value, last)))
  const arrivals = new Map<string, number>()
  for (const { value, at, arrival } of found) {
    const place = placeOf(value as Value, BigInt(String(at)))
    if (wanted.has(place)) arrivals.set(place, Number(arrival))
  }
  return groups.map(({ value, last }) => arrivals.get(placeOf(value, last)) ?? 0)
}

const placeOf = (value: Value, at: bigint): string => `${at} ${value}`

export function valueText(value: Value, by: GroupField): string {
  if (by === 'level') return levelOf(Number(value))
  return by === 'template' || by === 'exceptionGroup' ? fingerprintText(value) : String(value)
}

const levelOf = (rank: number): Level => LEVELS[rank] ?? 'Trace'

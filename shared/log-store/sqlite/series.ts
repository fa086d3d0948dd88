import { timestampOf } from '../../contract/timestamp.ts'
import type { LeafName } from '../../query/ast.ts'
import {
  type EntryFilter,
  type GroupField,
  ReadTooLargeError,
  type Series,
  type SeriesAnswer,
  type SeriesRequest,
  withLeaf,
} from '../log-store.ts'
import { type Spans, startsOf } from '../spans.ts'
import { type CountedNumber, ROUNDED_NUMBERS_MAX, type SeriesFunction, statisticOf } from '../statistics.ts'
import { LEAF_NUMBERS } from './contents.ts'
import { type Value, withinMemory } from './counted-groups.ts'
import { countNumbersByArrays, type NumberRow, type ValueCount } from './counted-numbers.ts'
import { spansOf } from './counting.ts'
import type { Database } from './database.ts'
import { type GroupRows, groupRows, leafArray, valueText } from './groups.ts'
import type { EntryReads } from './places.ts'
import type { RowsPart } from './rollup.ts'
import { allOf, type Sql, sql } from './sql.ts'

/**
 * Numbers are counted by the arrays of counted entries if these have all that is needed; else SQLite counts them, on disk if they are many, and
 * only those of one span at a time are loaded into memory here.
 */
export function createSeriesReader({ database, contents, limits, select, rollupOf, placesOf }: EntryReads) {
  const matches = (part: RowsPart, by: GroupField | null): GroupRows => groupRows(select, part, by)
  const read = (filter: EntryFilter, { fn, of, by, seriesMax, bucketsMax }: SeriesRequest): SeriesAnswer => {
    const rollup = rollupOf(filter, 'facts')
    const spans = spansOf(placesOf, filter, rollup ?? rollupOf(filter, 'counts'), bucketsMax)
    if (spans === null) return { intervalMs: 1, spans: [], series: [], more: false }
    const ranksOf = (part: RowsPart, most: number) =>
      by === null ? [] : countValues(database, matches({ ...part, filter: withLeaf(part.filter, of) }, by), most)
    const rowsOf = (part: RowsPart, shown: readonly Value[] | null) =>
      countNumbers(database, matches(part, by), of, shown, spans)
    const counted =
      rollup &&
      countNumbersByArrays(rollup, contents, { of, by, spans, bytesMax: limits.countedBytesMax, ranksOf, rowsOf })
    const ranked =
      by === null
        ? [null]
        : ((counted && withinMemory(counted.ranked)) ?? ranksOf({ filter }, seriesMax + 1).map(([value]) => value))
    const shown = ranked.slice(0, seriesMax)
    const found =
      (counted && withinMemory(() => seriesOf(counted.rows(shown), fn, spans))) ??
      seriesOf(rowsOf({ filter }, by === null ? null : shown), fn, spans)
    const empty = emptySeries(fn, spans)
    return {
      intervalMs: spans.widthMs,
      spans: startsOf(spans).map(timestampOf),
      series: shown.map((value) => ({
        value: by === null ? null : valueText(value, by),
        ...(found.get(value) ?? empty),
      })),
      more: ranked.length > seriesMax,
    }
  }
  return { series: (filter: EntryFilter, request: SeriesRequest) => database.read(() => read(filter, request)) }
}

/** The most frequent values, and how many entries have each. */
function countValues(
  database: Database,
  { source, where, value }: GroupRows,
  valuesMax: number,
): readonly ValueCount[] {
  return database
    .prepare(`SELECT value, count(*) AS count FROM (SELECT ${value} AS value FROM ${source.text} WHERE ${where.text})
      WHERE value IS NOT NULL GROUP BY value ORDER BY count(*) DESC, value LIMIT ?`)
    .all(...source.values, ...where.values, valuesMax)
    .map((row) => [row['value'] as Value, Number(row['count'])])
}

/**
 * The number of times each number occurs in a span, in the order of value, span and number; a zero per entry if no numbers are wanted. Only
 * for the values in `shown`; null for all.
 */
function* countNumbers(
  database: Database,
  { source, where, value }: GroupRows,
  of: LeafName | null,
  shown: readonly Value[] | null,
  spans: Spans,
): Iterable<NumberRow> {
  const array = of === null ? null : leafArray(LEAF_NUMBERS, of)
  const numbers: Sql = array === null ? sql('') : sql(` JOIN json_each(${array.text}) AS n`, ...array.values)
  const isShown = shown === null ? [] : [sql(`${value} IN (${shown.map(() => '?').join()})`, ...shown)]
  const { text, values } = allOf([where, ...isShown])
  const rows = database
    .prepare(`SELECT ${value} AS value, e.timestamp / 1000000 / ? - ? AS span,
        ${of === null ? '0' : 'CAST(n.value AS REAL)'} AS number, count(*) AS count
      FROM ${source.text}${numbers.text} WHERE ${text} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`)
    .iterate(BigInt(spans.widthMs), BigInt(spans.first), ...source.values, ...numbers.values, ...values)
  for (const row of rows)
    yield {
      value: row['value'] as Value,
      span: Number(row['span']),
      number: Number(row['number']),
      count: Number(row['count']),
    }
}

type Points = Omit<Series, 'value'>

const emptySeries = (fn: SeriesFunction, { count }: Spans): Points => ({
  count: 0,
  points: Array.from({ length: count }, () => statisticOf(fn, [])),
})

/** The series by value, from rows in the order of value and span. */
function seriesOf(rows: Iterable<NumberRow>, fn: SeriesFunction, spans: Spans): ReadonlyMap<Value, Points> {
  const found = new Map<Value, Points>()
  const different = new Map<Value, Set<number>>()
  for (const span of bySpan(rows)) {
    const [{ value, span: at }] = span
    const { count, points } = found.get(value) ?? emptySeries(fn, spans)
    // The time of a damaged row may be outside of the spans.
    if (!(at in points)) continue
    const ofSeries = different.get(value) ?? new Set()
    for (const { number } of span) ofSeries.add(number)
    if (ofSeries.size > ROUNDED_NUMBERS_MAX) throw tooDifferent()
    different.set(value, ofSeries)
    const numbers = span.map((row): CountedNumber => [row.number, row.count])
    const total = numbers.reduce((sum, [, entries]) => sum + entries, 0)
    found.set(value, { count: count + total, points: points.with(at, statisticOf(fn, numbers)) })
  }
  return found
}

/** The rows of each span of each value. */
function* bySpan(rows: Iterable<NumberRow>): Iterable<readonly [NumberRow, ...NumberRow[]]> {
  let span: [NumberRow, ...NumberRow[]] | undefined
  for (const row of rows) {
    if (span !== undefined && row.value === span[0].value && row.span === span[0].span) {
      if (span.push(row) > ROUNDED_NUMBERS_MAX) throw tooDifferent()
    } else {
      if (span !== undefined) yield span
      span = [row]
    }
  }
  if (span !== undefined) yield span
}

const tooDifferent = (): Error => new ReadTooLargeError('the numbers of a series are too different')

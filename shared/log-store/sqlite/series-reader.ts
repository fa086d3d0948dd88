import type { LeafName } from '../../query/ast.ts'
import {
  type EntryFilter,
  type GroupField,
  NO_SERIES,
  ReadTooLargeError,
  type Series,
  type SeriesAnswer,
  type SeriesRequest,
  withLeaf,
} from '../log-store.ts'
import { headOf, type Spans } from '../spans.ts'
import { type CountedNumber, countOf, ROUNDED_NUMBERS_MAX, type SeriesFunction, statisticOf } from '../statistics.ts'
import type { StoreContext } from './context.ts'
import { spanColumn, spansOf } from './count-reader.ts'
import type { Database } from './database.ts'
import { LEAF_NUMBERS, roundedNumbers } from './leaf-bytes.ts'
import { type Slice, wholeOf } from './scan.ts'
import { compose, sql } from './sql.ts'
import {
  bytesOfValue,
  compareValues,
  leafArray,
  memoryOf,
  notTooMany,
  ROWS_MAX,
  segmentLeaves,
  type Value,
  type ValueMatches,
  valueMatches,
  valueRows,
  valueText,
  withinMemory,
  withOneOf,
} from './values.ts'

/** Numbers are counted by segments if these have all that is needed; else SQLite counts them, on disk if they are many. */
export function series(context: StoreContext, filter: EntryFilter, request: SeriesRequest): SeriesAnswer {
  const { fn, of, by, seriesMax, bucketsMax } = request
  const { database } = context
  const spans = spansOf(context, filter, bucketsMax)
  if (spans === null) return NO_SERIES
  const wanted = { of, by, spans }
  const matches = valueMatches(context, filter, by, spans)
  const inMemory = <T>(count: (matches: ValueMatches) => T): T | null => matches && withinMemory(() => count(matches))
  const ranked =
    by === null
      ? [null]
      : (inMemory((some) => rankValues(context, wanted, some)) ??
        countValues(database, wholeOf(database, filter), wanted, seriesMax + 1).map(([value]) => value))
  const shown = ranked.slice(0, seriesMax)
  const found =
    inMemory((some) => seriesOf(numbersOf(context, wanted, some, shown), fn, spans)) ??
    seriesOf(countNumbers(database, wholeOf(database, filter), wanted, shown), fn, spans)
  const empty = emptySeries(fn, spans)
  return {
    ...headOf(spans),
    series: shown.map((value) => ({
      value: by === null ? null : valueText(value, by),
      ...(found.get(value) ?? empty),
    })),
    more: ranked.length > seriesMax,
  }
}

interface WantedNumbers {
  /** The numbers that are counted; null for a zero per entry. */
  readonly of: LeafName | null
  /** Null for all entries as one value, null. */
  readonly by: GroupField | null
  readonly spans: Spans
}

/** The number of times that a number occurs in a span among the entries with a value. */
interface NumberRow {
  readonly value: Value
  readonly span: number
  readonly number: number
  readonly count: number
}

/** The values of entries that have a leaf of the numbers, the most frequent first. Throws a `TooManyError` if there are too many. */
function rankValues(
  { database, contents, limits }: StoreContext,
  wanted: WantedNumbers,
  { forEach, valuesOf, slices }: ValueMatches,
): readonly Value[] {
  const leavesOf = wanted.of === null ? null : segmentLeaves(contents, wanted.of)
  const take = memoryOf(limits.countedBytesMax)
  const counts = new Map<Value, number>()
  const add = (value: Value, count: number): void => {
    const before = counts.get(value)
    if (before === undefined) take(bytesOfValue(value))
    counts.set(value, (before ?? 0) + count)
  }
  forEach((segment, index) => {
    if (leavesOf?.(segment, index).length === 0) return
    for (const value of valuesOf(segment, index)) if (value !== null) add(value, 1)
  })
  for (const slice of slices)
    for (const [value, count] of notTooMany(countValues(database, slice, wanted, ROWS_MAX))) add(value, count)
  return [...counts].sort(([a, x], [b, y]) => y - x || compareValues(a, b)).map(([value]) => value)
}

/** The memory of a number with its count, about. */
const BYTES_OF_A_NUMBER = 80
const ZERO = [0]

/** The numbers of some values, in the order of the values, the spans and the numbers. Throws a `TooManyError` if there are too many. */
function* numbersOf(
  { database, contents, limits }: StoreContext,
  wanted: WantedNumbers,
  { forEach, valuesOf, unit, slices }: ValueMatches,
  shown: readonly Value[],
): Iterable<NumberRow> {
  const leavesOf = wanted.of === null ? null : segmentLeaves(contents, wanted.of)
  const take = memoryOf(limits.countedBytesMax)
  /** The number of times that each number occurs, by value and span. */
  const found = new Map(shown.map((value) => [value, new Map<number, Map<number, number>>()]))
  const add = (spans: Map<number, Map<number, number>>, span: number, number: number, times: number): void => {
    const counts = spans.get(span) ?? new Map<number, number>()
    if (counts.size === 0) spans.set(span, counts)
    const before = counts.get(number)
    if (before === undefined) take(BYTES_OF_A_NUMBER)
    counts.set(number, (before ?? 0) + times)
  }
  forEach((segment, index) => {
    let numbers: readonly number[] | undefined
    for (const value of valuesOf(segment, index)) {
      const ofValue = found.get(value)
      if (ofValue === undefined) continue
      numbers ??= leavesOf === null ? ZERO : roundedNumbers(leavesOf(segment, index))
      const span = Math.floor((segment.minutes[index] ?? 0) / unit) - wanted.spans.first
      for (const number of numbers) add(ofValue, span, number, 1)
    }
  })
  for (const slice of slices)
    for (const row of countNumbers(database, slice, wanted, shown))
      add(found.get(row.value) ?? new Map(), row.span, row.number, row.count)
  for (const [value, spans] of found)
    for (const [span, counts] of inOrder(spans))
      for (const [number, count] of inOrder(counts)) yield { value, span, number, count }
}

const inOrder = <T>(entries: Iterable<readonly [number, T]>): readonly (readonly [number, T])[] =>
  [...entries].sort(([a], [b]) => a - b)

/** The most frequent values of a slice's entries that have a leaf of the numbers, and how many entries have each. */
function countValues(
  database: Database,
  slice: Slice,
  { of, by }: WantedNumbers,
  valuesMax: number,
): readonly (readonly [value: Value, count: number])[] {
  const { source, where, value } = valueRows(database, { ...slice, filter: withLeaf(slice.filter, of) }, by)
  return database
    .all(compose`SELECT value, count(*) AS count FROM (SELECT ${value} AS value FROM ${source} WHERE ${where})
      WHERE value IS NOT NULL GROUP BY value ORDER BY count(*) DESC, value LIMIT ${sql('?', valuesMax)}`)
    .map((row) => [row['value'] as Value, Number(row['count'])])
}

/** The number of times each number of a slice's entries occurs in a span, in the order of value, span and number. */
function* countNumbers(
  database: Database,
  slice: Slice,
  { of, by, spans }: WantedNumbers,
  shown: readonly Value[],
): Iterable<NumberRow> {
  const all = valueRows(database, slice, by)
  const { source, where, value } = by === null ? all : withOneOf(all, shown)
  const numbers = of === null ? '' : compose` JOIN json_each(${leafArray(LEAF_NUMBERS, of)}) AS n`
  const rows = database.iterate(
    compose`SELECT ${value} AS value, ${spanColumn(spans)},
        ${of === null ? '0' : 'CAST(n.value AS REAL)'} AS number, count(*) AS count
      FROM ${source}${numbers} WHERE ${where} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  )
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
    found.set(value, { count: count + countOf(numbers), points: points.with(at, statisticOf(fn, numbers)) })
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

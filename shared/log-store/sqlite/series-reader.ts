import type { LeafName } from '../../query/ast.ts'
import {
  type EntryFilter,
  type GroupField,
  NO_SERIES,
  ReadTooLargeError,
  type Series,
  type SeriesAnswer,
  type SeriesRequest,
} from '../log-store.ts'
import { headOf, type Spans } from '../spans.ts'
import { type CountedNumber, countOf, ROUNDED_NUMBERS_MAX, type SeriesFunction, statisticOf } from '../statistics.ts'
import type { StoreContext } from './context.ts'
import { spanColumn, spansOf } from './count-reader.ts'
import type { Database } from './database.ts'
import { type ValueGroup, valueGroups } from './group-reader.ts'
import { LEAF_NUMBERS, roundedNumbers } from './leaf-bytes.ts'
import { type Slice, wholeOf } from './scan.ts'
import { compose } from './sql.ts'
import {
  leafArray,
  memoryOf,
  segmentLeaves,
  type Value,
  type ValueMatches,
  valueMatches,
  valueRows,
  valueText,
  withinMemory,
  withOneOf,
} from './values.ts'

export function series(context: StoreContext, filter: EntryFilter, request: SeriesRequest): SeriesAnswer {
  const { fn, of, by, seriesMax, bucketsMax } = request
  const spans = spansOf(context, filter, bucketsMax)
  if (spans === null) return NO_SERIES
  const groups = by === null && of !== null ? [] : valueGroups(context, filter, by, spans, seriesMax + 1, of)
  const ranked = by === null ? [null] : groups.map(({ value }) => value).filter((value) => value !== null)
  const shown = ranked.slice(0, seriesMax)
  const found = of === null ? entriesOf(groups, shown) : numbersOf(context, filter, { fn, of, by, spans }, shown)
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

type Points = Omit<Series, 'value'>

/** The series of the numbers of entries, for these values. Damaged rows may be outside of the spans, and do not count. */
function entriesOf(groups: readonly ValueGroup[], values: readonly Value[]): ReadonlyMap<Value, Points> {
  const shown = groups.filter(({ value }) => values.includes(value))
  return new Map(
    shown.map(({ value, counts }) => [value, { count: counts.reduce((a, b) => a + b, 0), points: counts }]),
  )
}

interface WantedNumbers {
  readonly fn: SeriesFunction
  readonly of: LeafName
  /** Null for all entries as one value, null. */
  readonly by: GroupField | null
  readonly spans: Spans
}

/**
 * The series of the numbers of entries with these values. Numbers are counted by segments if these have all that is needed; else SQLite
 * counts them, on disk if they are many.
 */
function numbersOf(
  context: StoreContext,
  filter: EntryFilter,
  wanted: WantedNumbers,
  values: readonly Value[],
): ReadonlyMap<Value, Points> {
  const { database } = context
  const { fn, by, spans } = wanted
  const matches = valueMatches(context, filter, by, spans)
  return (
    (matches && withinMemory(() => seriesOf(tallyNumbers(context, wanted, matches, values), fn, spans))) ??
    seriesOf(countNumbers(database, wholeOf(database, filter), wanted, values), fn, spans)
  )
}

/** The number of times that a number occurs in a span among the entries with a value. */
interface NumberRow {
  readonly value: Value
  readonly span: number
  readonly number: number
  readonly count: number
}

/** The memory of a number with its count, about. */
const BYTES_OF_A_NUMBER = 80

/** The numbers of some values, in the order of the values, the spans and the numbers. Throws a `TooManyError` if there are too many. */
function* tallyNumbers(
  { database, contents, limits }: StoreContext,
  wanted: WantedNumbers,
  { forEach, valuesOf, unit, slices }: ValueMatches,
  shown: readonly Value[],
): Iterable<NumberRow> {
  const leavesOf = segmentLeaves(contents, wanted.of)
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
      numbers ??= roundedNumbers(leavesOf(segment, index))
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

/** The number of times each number of a slice's entries occurs in a span, in the order of value, span and number. */
function* countNumbers(
  database: Database,
  slice: Slice,
  { of, by, spans }: WantedNumbers,
  shown: readonly Value[],
): Iterable<NumberRow> {
  const all = valueRows(database, slice, by)
  const { source, where, value } = by === null ? all : withOneOf(all, shown)
  const rows = database.iterate(
    compose`SELECT ${value} AS value, ${spanColumn(spans)}, CAST(n.value AS REAL) AS number, count(*) AS count
      FROM ${source} JOIN json_each(${leafArray(LEAF_NUMBERS, of)}) AS n WHERE ${where}
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  )
  for (const row of rows)
    yield {
      value: row['value'] as Value,
      span: Number(row['span']),
      number: Number(row['number']),
      count: Number(row['count']),
    }
}

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

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
import { minutesOfSpan, planOf } from './counts.ts'
import type { Database } from './database.ts'
import { LEAF_NUMBERS, roundedNumbers } from './leaf-bytes.ts'
import type { Slice } from './scan.ts'
import { allOf, compose, sql } from './sql.ts'
import {
  bytesOfValue,
  compareValues,
  isOneOf,
  leafArray,
  memoryOf,
  notTooMany,
  ROWS_MAX,
  segmentLeaves,
  segmentValues,
  type Value,
  valueRows,
  valueText,
  withinMemory,
} from './values.ts'

/** Numbers are counted by segments if these have all that is needed; else SQLite counts them, on disk if they are many. */
export function series(
  context: StoreContext,
  filter: EntryFilter,
  { fn, of, by, seriesMax, bucketsMax }: SeriesRequest,
): SeriesAnswer {
  const spans = spansOf(context, filter, bucketsMax)
  if (spans === null) return NO_SERIES
  const wanted = { filter, of, by, spans }
  const bySegments = numbersBySegments(context, wanted)
  const answerOf = <T>(answer: (numbers: Numbers) => T): T =>
    (bySegments && withinMemory(() => answer(bySegments))) ?? answer(numbersByRows(context, wanted))
  const ranked = by === null ? [null] : answerOf((numbers) => numbers.ranked(seriesMax + 1))
  const shown = ranked.slice(0, seriesMax)
  const found = answerOf((numbers) => seriesOf(numbers.counted(shown), fn, spans))
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
  readonly filter: EntryFilter
  /** The numbers that are counted; null for a zero per entry. */
  readonly of: LeafName | null
  /** Null for all entries as one value, null. */
  readonly by: GroupField | null
  readonly spans: Spans
}

/** The numbers of a filter's matches. */
interface Numbers {
  /** The values of entries that have a leaf of the numbers, the most frequent first. */
  ranked(valuesMax: number): readonly Value[]
  /** The numbers of some values, in the order of the values, the spans and the numbers. */
  counted(shown: readonly Value[]): Iterable<NumberRow>
}

/** The number of times that a number occurs in a span among the entries with a value. */
interface NumberRow {
  readonly value: Value
  readonly span: number
  readonly number: number
  readonly count: number
}

/** The numbers as SQLite counts them; only those of one span at a time are loaded into memory here. */
const numbersByRows = ({ database }: StoreContext, wanted: WantedNumbers): Numbers => ({
  ranked: (valuesMax) => countValues(database, { filter: wanted.filter }, wanted, valuesMax).map(([value]) => value),
  counted: (shown) => countNumbers(database, { filter: wanted.filter }, wanted, shown),
})

/** The memory of a number with its count, about. */
const BYTES_OF_A_NUMBER = 80
const ZERO = [0]
const ALL = [null]

/**
 * The numbers as segments count them; null if these lack the field or if spans are narrower than a minute. Both methods throw a `TooManyError`
 * if there are too many values or numbers.
 */
function numbersBySegments(context: StoreContext, wanted: WantedNumbers): Numbers | null {
  const { database, contents, limits } = context
  const { filter, of, by, spans } = wanted
  const { matches, slices } = planOf(context, filter, 'facts')
  const valuesOf = by === null ? () => ALL : matches && segmentValues(matches, contents, by)
  const unit = minutesOfSpan(spans)
  if (matches === null || valuesOf === null || unit === null) return null
  const leavesOf = of === null ? null : segmentLeaves(contents, of)

  const ranked = (): readonly Value[] => {
    const take = memoryOf(limits.countedBytesMax)
    const counts = new Map<Value, number>()
    const add = (value: Value, count: number): void => {
      const before = counts.get(value)
      if (before === undefined) take(bytesOfValue(value))
      counts.set(value, (before ?? 0) + count)
    }
    matches.forEach((segment, index) => {
      if (leavesOf?.(segment, index).length === 0) return
      for (const value of valuesOf(segment, index)) add(value, 1)
    })
    for (const slice of slices)
      for (const [value, count] of notTooMany(countValues(database, slice, wanted, ROWS_MAX))) add(value, count)
    return [...counts].sort(([a, x], [b, y]) => y - x || compareValues(a, b)).map(([value]) => value)
  }

  const count = (shown: readonly Value[]): ReadonlyMap<Value, SpanNumbers> => {
    const take = memoryOf(limits.countedBytesMax)
    const all = new Map(shown.map((value) => [value, new Map() as SpanNumbers]))
    const add = (numbers: SpanNumbers, span: number, number: number, times: number): void => {
      let counts = numbers.get(span)
      if (counts === undefined) {
        counts = new Map()
        numbers.set(span, counts)
      }
      const before = counts.get(number)
      if (before === undefined) take(BYTES_OF_A_NUMBER)
      counts.set(number, (before ?? 0) + times)
    }
    matches.forEach((segment, index) => {
      let found: readonly number[] | undefined
      for (const value of valuesOf(segment, index)) {
        const numbers = all.get(value)
        if (numbers === undefined) continue
        found ??= leavesOf === null ? ZERO : roundedNumbers(leavesOf(segment, index))
        const at = Math.floor((segment.minutes[index] ?? 0) / unit) - spans.first
        for (const number of found) add(numbers, at, number, 1)
      }
    })
    for (const slice of slices)
      for (const { value, span, number, count: times } of countNumbers(database, slice, wanted, shown)) {
        const numbers = all.get(value)
        if (numbers !== undefined) add(numbers, span, number, times)
      }
    return all
  }

  return {
    ranked,
    counted: function* (shown) {
      const all = count(shown)
      for (const value of shown)
        for (const [span, counts] of inOrder(all.get(value) ?? []))
          for (const [number, times] of inOrder(counts)) yield { value, span, number, count: times }
    },
  }
}

/** How often each number occurs in each span. */
type SpanNumbers = Map<number, Map<number, number>>

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
  const { source, where, value } = valueRows(database, slice, by)
  const numbers = of === null ? '' : compose` JOIN json_each(${leafArray(LEAF_NUMBERS, of)}) AS n`
  const conditions = allOf([where, ...(by === null ? [] : [isOneOf(value, shown)])])
  const rows = database.iterate(
    compose`SELECT ${value} AS value, ${spanColumn(spans)},
        ${of === null ? '0' : 'CAST(n.value AS REAL)'} AS number, count(*) AS count
      FROM ${source}${numbers} WHERE ${conditions} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
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

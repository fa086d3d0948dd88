import type { LeafName } from '../../query/ast.ts'
import type { GroupField } from '../log-store.ts'
import type { Spans } from '../spans.ts'
import type { Contents } from './contents.ts'
import {
  bytesOfValue,
  compareValues,
  countedLeaves,
  countedValues,
  memoryOf,
  notTooMany,
  ROWS_MAX,
  type Value,
} from './counted-groups.ts'
import { MINUTE_MS } from './counting.ts'
import { roundedNumbers } from './leaf-bytes.ts'
import type { Rollup, RowsPart } from './rollup.ts'

/** The number of times that a number occurs in a span among the entries with a value. */
export interface NumberRow {
  readonly value: Value
  readonly span: number
  readonly number: number
  readonly count: number
}

export interface NumberCounting {
  /** The numbers that are counted; null for a zero per entry. */
  readonly of: LeafName | null
  /** Null for all entries as one value, null. */
  readonly by: GroupField | null
  readonly spans: Spans
  /** Maximum memory for the counts, about. */
  readonly bytesMax: number
  /** The values of matches that are not counted by the rollup, and how many have each. */
  ranksOf(part: RowsPart, valuesMax: number): readonly ValueCount[]
  /** The numbers of these matches, for some values or, with null, for all. */
  rowsOf(part: RowsPart, shown: readonly Value[] | null): Iterable<NumberRow>
}

/** A value, and the number of entries that have it. */
export type ValueCount = readonly [value: Value, count: number]

/** The numbers of a filter's matches. Both methods throw a `TooManyError` if there are too many values or numbers. */
export interface CountedNumbers {
  /** The values of entries that have a leaf of the numbers, the most frequent first. */
  ranked(): readonly Value[]
  /** The numbers of some values, in the order of the values, the spans and the numbers. */
  rows(shown: readonly Value[]): Iterable<NumberRow>
}

/** The memory of a number with its count, about. */
const BYTES_OF_A_NUMBER = 80
const ZERO = [0]
const ALL = [null]

/**
 * Counts the numbers of a filter's matches by the arrays of counted entries. Null if these lack the field or if spans are narrower than a
 * minute. Only in `Database.read`.
 */
export function countNumbersByArrays(
  rollup: Rollup,
  contents: Contents,
  { of, by, spans, bytesMax, ranksOf, rowsOf }: NumberCounting,
): CountedNumbers | null {
  const valuesOf = by === null ? () => ALL : countedValues(rollup, contents, by)
  if (valuesOf === null || spans.widthMs % MINUTE_MS !== 0) return null
  const leavesOf = of === null ? null : countedLeaves(contents, of)
  const unit = spans.widthMs / MINUTE_MS

  const ranked = (): readonly Value[] => {
    const take = memoryOf(bytesMax)
    const counts = new Map<Value, number>()
    const add = (value: Value, count: number): void => {
      const before = counts.get(value)
      if (before === undefined) take(bytesOfValue(value))
      counts.set(value, (before ?? 0) + count)
    }
    rollup.forEach((span, index) => {
      if (leavesOf?.(span, index).length === 0) return
      for (const value of valuesOf(span, index)) add(value, 1)
    })
    for (const part of rollup.beside)
      for (const [value, count] of notTooMany(ranksOf(part, ROWS_MAX))) add(value, count)
    return [...counts].sort(([a, x], [b, y]) => y - x || compareValues(a, b)).map(([value]) => value)
  }

  const counted = (shown: readonly Value[]): ReadonlyMap<Value, Numbers> => {
    const take = memoryOf(bytesMax)
    const all = new Map(shown.map((value) => [value, new Map() as Numbers]))
    const add = (numbers: Numbers, span: number, number: number, count: number): void => {
      let counts = numbers.get(span)
      if (counts === undefined) {
        counts = new Map()
        numbers.set(span, counts)
      }
      const before = counts.get(number)
      if (before === undefined) take(BYTES_OF_A_NUMBER)
      counts.set(number, (before ?? 0) + count)
    }
    rollup.forEach((span, index) => {
      let found: readonly number[] | undefined
      for (const value of valuesOf(span, index)) {
        const numbers = all.get(value)
        if (numbers === undefined) continue
        found ??= leavesOf === null ? ZERO : roundedNumbers(leavesOf(span, index))
        const at = Math.floor((span.minutes[index] ?? 0) / unit) - spans.first
        for (const number of found) add(numbers, at, number, 1)
      }
    })
    for (const part of rollup.beside)
      for (const { value, span, number, count } of rowsOf(part, by === null ? null : shown)) {
        const numbers = all.get(value)
        if (numbers !== undefined) add(numbers, span, number, count)
      }
    return all
  }

  return {
    ranked,
    rows: function* (shown) {
      const all = counted(shown)
      for (const value of shown)
        for (const [span, counts] of inOrder(all.get(value) ?? []))
          for (const [number, count] of inOrder(counts)) yield { value, span, number, count }
    },
  }
}

/** How often each number occurs in each span. */
type Numbers = Map<number, Map<number, number>>

const inOrder = <T>(entries: Iterable<readonly [number, T]>): readonly (readonly [number, T])[] =>
  [...entries].sort(([a], [b]) => a - b)

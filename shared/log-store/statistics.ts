import { isNumber } from '../query/sort-key.ts'

/** Functions of a span's numbers; `p95` is the smallest number that at least 95 of 100 do not exceed (nearest rank). */
export const SERIES_FUNCTIONS = ['count', 'avg', 'max', 'p50', 'p95', 'p99'] as const
export type SeriesFunction = (typeof SERIES_FUNCTIONS)[number]

/**
 * Every store counts numbers rounded to three significant digits, so that memory does not grow with their number and all stores give the
 * same answer. Each is within 0.5 % of the original, and so is a function of them, as rounding keeps their order.
 */
const SIGNIFICANT_DIGITS = 3
/** Larger numbers are left out, so that no sum becomes infinite. */
const MAGNITUDE_MAX = 1e100

/** Maximum different rounded numbers in a read: those of eleven powers of ten, with 900 each. */
export const ROUNDED_NUMBERS_MAX = 10_000

/** The value of a leaf, rounded; undefined if it is not a number as searches compare them. */
export function roundedNumber(value: string): number | undefined {
  if (!isNumber(value)) return undefined
  const number = Number(Number(value).toPrecision(SIGNIFICANT_DIGITS))
  return Math.abs(number) > MAGNITUDE_MAX ? undefined : number
}

/** A number, and how often it occurs. */
export type CountedNumber = readonly [number: number, count: number]

/** How often all the numbers occur together. */
export const countOf = (numbers: readonly CountedNumber[]): number => numbers.reduce((sum, [, count]) => sum + count, 0)

const RANKS = { p50: 50, p95: 95, p99: 99 } as const

/** The function's value for numbers in ascending order; null if there are none, except for `count`. */
export function statisticOf(fn: SeriesFunction, numbers: readonly CountedNumber[]): number | null {
  const total = countOf(numbers)
  switch (fn) {
    case 'count':
      return total
    case 'avg':
      return total === 0 ? null : numbers.reduce((sum, [number, count]) => sum + number * count, 0) / total
    case 'max':
      return numbers.at(-1)?.[0] ?? null
    default:
      return nearestRank(RANKS[fn] * total, numbers)
  }
}

/** The number at a rank in hundredths. */
function nearestRank(rank: number, numbers: readonly CountedNumber[]): number | null {
  let below = 0
  for (const [number, count] of numbers) {
    below += count
    if (below * 100 >= rank) return number
  }
  return null
}

import { isNumber } from '../query/sort-key.ts'

/** Functions of the numbers of a span; `p95` is the number that 95 of 100 do not exceed (nearest rank). */
export const SERIES_FUNCTIONS = ['count', 'avg', 'max', 'p50', 'p95', 'p99'] as const
export type SeriesFunction = (typeof SERIES_FUNCTIONS)[number]

/**
 * Numbers are counted by their value rounded to three significant digits, in every store, so that their memory does not grow with their
 * number and every store has the same answer. Each is within 0.5 % of the number, and so is a function of them: rounding keeps their order.
 */
const SIGNIFICANT_DIGITS = 3
/** Larger numbers are left out, so that no sum is infinite. */
const MAGNITUDE_MAX = 1e100

/** Most different rounded numbers of a read: those of eleven powers of ten, of which each has 900. */
export const ROUNDED_NUMBERS_MAX = 10_000

/** The value of a leaf, rounded; undefined where it is no number as searches compare them. */
export function roundedNumber(value: string): number | undefined {
  if (!isNumber(value)) return undefined
  const number = Number(Number(value).toPrecision(SIGNIFICANT_DIGITS))
  return Math.abs(number) > MAGNITUDE_MAX ? undefined : number
}

/** A number, and how often it is there. */
export type CountedNumber = readonly [number: number, count: number]

const RANKS = { p50: 50, p95: 95, p99: 99 } as const

/** The function of the numbers, which come in ascending order; null of none, but for `count`. */
export function statisticOf(fn: SeriesFunction, numbers: readonly CountedNumber[]): number | null {
  const total = numbers.reduce((sum, [, count]) => sum + count, 0)
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

/** The number of a rank in hundredths of a number. */
function nearestRank(rank: number, numbers: readonly CountedNumber[]): number | null {
  let below = 0
  for (const [number, count] of numbers) {
    below += count
    if (below * 100 >= rank) return number
  }
  return null
}

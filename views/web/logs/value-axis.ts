import { countText } from '../../flow-layout/format.ts'

/** The limits of the value axis, and its ticks at round numbers; ascending, at least two. */
export interface ValueAxis {
  readonly low: number
  readonly high: number
  readonly ticks: readonly number[]
}

/** Maximum number of intervals between ticks; rounding outwards may add one at each end. */
const STEPS = 4
/** Relative difference below which numbers count as equal, as summation rounds. */
const SAME = 1e-9
/** Numbers closer to zero are treated as 0, as too few digits are left for calculations. */
const TINY = 1e-290
/** Significant digits of ticks; further digits are floating-point noise. */
const DIGITS = 12

/**
 * The axis for these numbers; `whole` for counts. It includes zero if the numbers still use at least half of the height, and always for
 * counts.
 */
export function valueAxis(numbers: readonly number[], whole: boolean): ValueAxis {
  const least = numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const most = numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const size = Math.max(Math.abs(least), Math.abs(most))
  if (numbers.length === 0 || size < TINY) return flat(0)
  if (most - least <= SAME * size) return flat(most)
  const low = least > 0 && (whole || least <= most / 2) ? 0 : least
  const high = most < 0 && most >= least / 2 ? 0 : most
  const step = Math.max(whole ? 1 : 0, roundStep((high - low) / STEPS))
  const first = Math.floor(low / step + SAME)
  const last = Math.ceil(high / step - SAME)
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => clean((first + index) * step))
  return { low: ticks[0] ?? low, high: ticks.at(-1) ?? high, ticks }
}

/** The axis for a single number: from zero to that number. */
function flat(number: number): ValueAxis {
  const ticks = number === 0 ? [0, 1] : [0, number].sort((a, b) => a - b)
  return { low: ticks[0] ?? 0, high: ticks[1] ?? 1, ticks }
}

/** The next number of the form 1, 2 or 5 times a power of ten. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return clean(([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power)
}

const clean = (number: number): number => Number(number.toPrecision(DIGITS))

/** Larger or smaller numbers are written with an exponent. */
const LARGE = 1e15
const SMALL = 1e-4
/** From here on, ticks are abbreviated with `k`, `M` and so on. */
const SHORT = 10_000

const isPlain = (size: number): boolean => size === 0 || (size >= SMALL && size < LARGE)

const exponential = (number: number): string => (number === 0 ? '0' : number.toExponential().replace('e+', 'e'))

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: DIGITS })

/** The labels of the ticks, with enough digits to distinguish them and no unit. */
export function tickTexts({ ticks, low, high }: ValueAxis): readonly string[] {
  const size = Math.max(Math.abs(low), Math.abs(high))
  return ticks.map((tick) => {
    if (!isPlain(size)) return exponential(tick)
    return size < SHORT ? decimal(tick, DIGITS) : COMPACT.format(tick).replace('K', 'k')
  })
}

/** A number with the known precision: integers in full, others to six significant digits. */
export function numberText(number: number): string {
  if (!isPlain(Math.abs(number))) return exponential(Number(number.toPrecision(6)))
  return Number.isInteger(number) ? countText(number) : decimal(number, 6)
}

const decimal = (number: number, digits: number): string =>
  number.toLocaleString('en', { maximumSignificantDigits: digits })

/** The height of a drawing whose spans are one unit wide. */
export const PLOT_HEIGHT = 100

/** The distance of a number from the top of the drawing. */
export const heightOf = (number: number, { low, high }: ValueAxis): number =>
  (PLOT_HEIGHT * (high - number)) / (high - low)

interface SeriesPaths {
  /** Through points with neighbours. */
  readonly line: string
  /** Zero-length marks at points without neighbours. */
  readonly marks: string
}

/** The paths through the middle of each span; a span without a number interrupts the line. */
export function pathsOf(points: readonly (number | null)[], axis: ValueAxis): SeriesPaths {
  const drawn = { line: '', marks: '' }
  points.forEach((point, index) => {
    if (point === null) return
    const at = `${index + 0.5} ${Number(heightOf(point, axis).toFixed(2))}`
    const isFirst = (points[index - 1] ?? null) === null
    const isLast = (points[index + 1] ?? null) === null
    if (isFirst && isLast) drawn.marks += `M${at}h0`
    else drawn.line += (isFirst ? 'M' : 'L') + at
  })
  return drawn
}

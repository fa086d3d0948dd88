import { parseTimestamp } from '../contract/timestamp.ts'
import type { Query } from './ast.ts'

/** `-12.50e3`, as in JSON; leading zeros are accepted. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/
const MAYBE_TIME = /^\d{4}-\d\d-\d\d/
const DURATION = /^(-?\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s)$/
const DECIMALS: Readonly<Record<string, number>> = { ns: -9, us: -6, µs: -6, μs: -6, ms: -3, s: 0 }
/** A TimeSpan of .NET: `00:00:01.5`, `-1.02:03:04`. */
const TIME_SPAN = /^(-?)(?:(\d{1,8})\.)?([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d+)?$/

/** Numbers with larger exponents of 10, positive or negative, are not compared. */
const EXPONENT_MAX = 4_999
const BIAS = 5_000
/** Sorts below everything that can continue a key, and above its end. */
const JUST_ABOVE = '!'
/** Sorts above all digits. */
const END = '~'

const DIGIT_0 = 48
const DIGIT_9 = 57
const MINUS = 45

/** Whether a text begins like a comparable value. Most leaves do not, and the expressions above together take a microsecond. */
function mayHaveKey(text: string): boolean {
  const first = text.charCodeAt(0)
  return (first >= DIGIT_0 && first <= DIGIT_9) || first === MINUS
}

/** Whether a text is a number, including those whose exponents are too large to be compared. */
export const isNumber = (text: string): boolean => mayHaveKey(text) && NUMBER.test(text)

type KeyType = 'number' | 'time' | 'duration'
const MARKS = { duration: 'd', number: 'n', time: 't' } as const satisfies Record<KeyType, string>

/**
 * An ASCII text that sorts, among those of its type, like the value of a leaf's text: a number of any length, an instant (as in
 * `parseTimestamp`) or a duration. Undefined for any other text. Exact: nothing is rounded.
 */
export function sortKey(text: string): string | undefined {
  if (!mayHaveKey(text)) return undefined
  const number = NUMBER.exec(text)
  if (number !== null) {
    const [, sign = '', whole = '', fraction = '', exponent = '0'] = number
    return marked('number', decimalKey(sign, whole, fraction, Number(exponent)))
  }
  if (MAYBE_TIME.test(text)) {
    const time = parseTimestamp(text)
    // Canonical timestamps without the Z sort as they are.
    return marked('time', time?.slice(0, -1))
  }
  return marked('duration', durationKey(text))
}

const marked = (type: KeyType, key: string | undefined): string | undefined => key && MARKS[type] + key

/** The type of the value behind a key. */
export const typeOf = (key: string): KeyType =>
  key.startsWith(MARKS.number) ? 'number' : key.startsWith(MARKS.time) ? 'time' : 'duration'

function durationKey(text: string): string | undefined {
  const [, amount = '', unit = ''] = DURATION.exec(text) ?? []
  const [, sign = '', whole = '', fraction = ''] = NUMBER.exec(amount) ?? []
  if (amount !== '') return decimalKey(sign, whole, fraction, DECIMALS[unit] ?? 0)
  const span = TIME_SPAN.exec(text)
  if (span === null) return undefined
  const [, minus = '', days = '0', hours, minutes, seconds, part = ''] = span
  const total = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
  return decimalKey(minus, String(total), part.slice(1), 0)
}

/**
 * A sign, the exponent of the first digit and the digits; for a negative number the nines' complement of the latter two, so that larger
 * magnitudes sort first.
 */
function decimalKey(sign: string, whole: string, fraction: string, shift: number): string | undefined {
  const written = whole + fraction
  const digits = written.replace(/^0+/, '')
  const exponent = whole.length + shift - (written.length - digits.length)
  const kept = withoutLastZeros(digits)
  if (kept === '') return '1'
  if (Math.abs(exponent) > EXPONENT_MAX) return undefined
  const positive = String(BIAS + exponent).padStart(4, '0') + kept
  return sign === '' ? `2${positive}` : `0${complement(positive)}${END}`
}

/** Not a regular expression, which would try every run of zeros. */
function withoutLastZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

const complement = (digits: string): string => digits.replace(/\d/g, (digit) => String(9 - Number(digit)))

/** The keys between two bounds: at least `from`, and below `to`. */
export interface KeyRange {
  readonly from: string
  readonly to: string
}

/** The keys in a query's range; undefined if there can be none, as its bounds are of two types or in the wrong order. */
export function keyRange({
  from,
  to,
}: Pick<Extract<Query, { type: 'leafRange' }>, 'from' | 'to'>): KeyRange | undefined {
  const [low, high] = [from && sortKey(from.value), to && sortKey(to.value)]
  const key = low ?? high
  if (key == null || low === undefined || high === undefined || (high !== null && typeOf(high) !== typeOf(key)))
    return undefined
  const mark = MARKS[typeOf(key)]
  const first = low === null ? mark : from?.isIncluded === true ? low : low + JUST_ABOVE
  const end = high === null ? nextMark(mark) : to?.isIncluded === true ? high + JUST_ABOVE : high
  return first < end ? { from: first, to: end } : undefined
}

const nextMark = (mark: string): string => String.fromCharCode(mark.charCodeAt(0) + 1)

export const isWithin = ({ from, to }: KeyRange, key: string): boolean => key >= from && key < to

/**
 * Instants with up to nanosecond precision, from 1970 to 2261: the range of an int64 of nanoseconds since 1970, which every store can sort.
 * The canonical text is UTC, ends in `Z`, and has at least milliseconds and no more significant digits than the sender gave;
 * `compareTimestamps` orders such texts without parsing them.
 */
const SHAPE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/

const YEAR = String.raw`(?:19[7-9]\d|2[01]\d\d|22[0-5]\d|226[01])`
const DAY = String.raw`(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)`
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}(?:\d{0,5}[1-9])?`

/** Texts that are already canonical, which most are; a 29th of February is not covered. */
const CANONICAL = new RegExp(`^${YEAR}-${DAY}T${TIME}Z$`)

const YEAR_MIN = 1970
const YEAR_MAX = 2261

/**
 * The canonical text of an ISO 8601 date or date and time; without an offset it is read as UTC. Undefined for any other text, for a date
 * that does not exist, and for one outside 1970 to 2261.
 */
export function parseTimestamp(text: string): string | undefined {
  if (CANONICAL.test(text)) return text
  const match = SHAPE.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = match
  const wall = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  // Date.UTC turns a 30th of February into a day in March: a date that does not survive the round trip does not exist.
  if (new Date(wall).toISOString().slice(0, 19) !== `${year}-${month}-${day}T${hour}:${minute}:${second}`)
    return undefined
  const shift = offsetMinutes(offset)
  if (shift === undefined) return undefined
  const instant = new Date(wall - shift * 60_000)
  const instantYear = instant.getUTCFullYear()
  if (instantYear < YEAR_MIN || instantYear > YEAR_MAX) return undefined
  return `${instant.toISOString().slice(0, 19)}.${significant(fraction)}Z`
}

/** Minutes east of UTC; undefined for an offset that no clock has. */
function offsetMinutes(offset: string): number | undefined {
  if (offset === 'Z' || offset === 'z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(3).replace(':', '') || 0)
  if (hours > 23 || minutes > 59) return undefined
  return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes)
}

const ZERO = 0x30

/** The digits of a fraction without zeros at their end, but three at least. */
function significant(fraction: string): string {
  let end = fraction.length
  while (end > 3 && fraction.charCodeAt(end - 1) === ZERO) end -= 1
  return fraction.slice(0, end).padEnd(3, '0')
}

/** The canonical timestamp of milliseconds since 1970. */
export const timestampOf = (epochMs: number): string => new Date(epochMs).toISOString()

export const DAY_MS = 86_400_000
export const MINUTE_NANOS = 60_000_000_000n

/** Nanoseconds since 1970 of a canonical timestamp. */
export function toNanos(timestamp: string): bigint {
  const seconds = BigInt(Date.parse(`${timestamp.slice(0, 19)}Z`)) / 1000n
  return seconds * 1_000_000_000n + BigInt(timestamp.slice(20, -1).padEnd(9, '0'))
}

/** The canonical timestamp of nanoseconds since 1970. */
export const fromNanos = (nanos: bigint): string => fromNanoDigits(nanos.toString())

const NANO_DIGITS = 9

/** The canonical timestamp of nanoseconds since 1970 from their decimal digits, at most 20. */
export function fromNanoDigits(digits: string): string {
  const whole = digits.padStart(NANO_DIGITS + 1, '0')
  return timestampAt(Number(whole.slice(0, -NANO_DIGITS)), whole.slice(-NANO_DIGITS))
}

/** The first 2^32 nanoseconds of which some are after 2261. */
const HIGH_MAX = Number(toNanos(`${YEAR_MAX}-12-31T23:59:59.999Z`) >> 32n)
const NANOS_PER_SECOND = 1_000_000_000
const HALF = 0x10000

/**
 * The canonical timestamp of nanoseconds since 1970 from the two halves of an unsigned integer of 64 bits; undefined after 2261. The halves
 * are divided in steps that stay exact, as arithmetic with large integers takes several times as long.
 */
export function fromNanoWords(high: number, low: number): string | undefined {
  if (high >= HIGH_MAX) return undefined
  // As in a long division on paper, with digits of 16 bits.
  const first = (high % NANOS_PER_SECOND) * HALF + (low >>> 16)
  const second = (first % NANOS_PER_SECOND) * HALF + (low & (HALF - 1))
  const seconds =
    (Math.floor(high / NANOS_PER_SECOND) * HALF + Math.floor(first / NANOS_PER_SECOND)) * HALF +
    Math.floor(second / NANOS_PER_SECOND)
  return timestampAt(seconds, String(second % NANOS_PER_SECOND).padStart(NANO_DIGITS, '0'))
}

const timestampAt = (second: number, fraction: string): string => `${secondText(second)}.${significant(fraction)}Z`

let lastSecond = Number.NaN
let lastSecondText = ''

/** Seconds since 1970 as text without a fraction; cached, as many successive timestamps share a second. */
function secondText(second: number): string {
  if (second !== lastSecond) lastSecondText = new Date(second * 1_000).toISOString().slice(0, 19)
  lastSecond = second
  return lastSecondText
}

/** Negative, zero or positive if `a` is before, at or after `b`; both are canonical. */
export function compareTimestamps(a: string, b: string): number {
  const left = a.slice(0, -1)
  const right = b.slice(0, -1)
  return left < right ? -1 : left > right ? 1 : 0
}

/** The earlier of two canonical timestamps. */
export const earlier = (a: string, b: string): string => (compareTimestamps(a, b) <= 0 ? a : b)

/** The later of two canonical timestamps. */
export const later = (a: string, b: string): string => (compareTimestamps(a, b) >= 0 ? a : b)

/** The later of two canonical timestamps, or the only one. */
export const laterOf = (a: string | null, b: string | null): string | null =>
  a === null || b === null ? (a ?? b) : later(a, b)

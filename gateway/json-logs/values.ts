import { isUtf8 } from 'node:buffer'
import { numberText } from '../../shared/contract/exact-json.ts'
import type { Level } from '../../shared/contract/levels.ts'
import { fromNanos, parseTimestamp } from '../../shared/contract/timestamp.ts'
import { isObject } from '../ingest/fields.ts'
import { foreignLevel, textOf } from '../ingest/foreign-fields.ts'

/** Units of an epoch time, recognised by its size (from 1973 on): the smallest number of each unit, and its digits below a second. */
const UNITS = [
  { from: 1e17, digits: 9 },
  { from: 1e14, digits: 6 },
  { from: 1e11, digits: 3 },
  { from: 1e8, digits: 0 },
] as const
const EPOCH_MAX = 1e20

const NANO_DIGITS = 9

/**
 * The canonical timestamp of a time as loggers write it: in ISO 8601; as seconds, milliseconds, microseconds or nanoseconds since 1970, a
 * number or its text, from 1973 on; or as an object with seconds and nanoseconds. Undefined for anything else.
 */
export function timeOf(value: unknown): string | undefined {
  const text = textOf(value)
  if (text !== undefined) return /^\d+(?:\.\d+)?$/.test(text) ? timeOfEpoch(text) : parseTimestamp(text)
  if (!isObject(value)) return undefined
  const seconds = textOf(value['epochSecond'] ?? value['seconds']) ?? ''
  const nanos = textOf(value['nanoOfSecond'] ?? value['nanos']) ?? '0'
  if (!/^\d{1,11}$/.test(seconds) || !/^\d{1,9}$/.test(nanos)) return undefined
  return parseTimestamp(fromNanos(BigInt(seconds + nanos.padStart(NANO_DIGITS, '0'))))
}

function timeOfEpoch(text: string): string | undefined {
  const [whole = '', fraction = ''] = text.split('.')
  const size = Number(whole)
  const unit = UNITS.find(({ from }) => size >= from)
  if (unit === undefined || size >= EPOCH_MAX) return undefined
  const missing = NANO_DIGITS - unit.digits
  const nanos = BigInt(whole + fraction.slice(0, missing).padEnd(missing, '0'))
  // Parsed to check that a timestamp can have this year.
  return parseTimestamp(fromNanos(nanos))
}

/** The levels of syslog's severities (RFC 5424), from 0. */
const SYSLOG: readonly Level[] = [
  'Critical',
  'Critical',
  'Critical',
  'Error',
  'Warning',
  'Information',
  'Information',
  'Debug',
]

/** The smallest number of each level, the most severe level first. */
type Scale = readonly (readonly [number, Level])[]
const PINO: Scale = [
  [60, 'Critical'],
  [50, 'Error'],
  [40, 'Warning'],
  [30, 'Information'],
  [20, 'Debug'],
  [8, 'Trace'],
]
const PYTHON: Scale = [
  [50, 'Critical'],
  [40, 'Error'],
  [30, 'Warning'],
  [20, 'Information'],
  [10, 'Debug'],
  [0, 'Trace'],
]
const LOGBACK: Scale = [
  [40_000, 'Error'],
  [30_000, 'Warning'],
  [20_000, 'Information'],
  [10_000, 'Debug'],
  [1_000, 'Trace'],
]
const PINO_MAX = 99

const onScale = (scale: Scale, number: number): Level | undefined => scale.find(([least]) => number >= least)?.[1]

/** Names under which numbers have the meaning of Python or of syslog. */
const SCALE_OF_NAME: Readonly<Record<string, (number: number) => Level | undefined>> = {
  levelno: (number) => onScale(PYTHON, number),
  levelnumber: (number) => onScale(PYTHON, number),
  severity: (number) => SYSLOG[number],
  syslogseverity: (number) => SYSLOG[number],
  priority: (number) => SYSLOG[number],
}

/** The level of a number under any other name, by its size: those of syslog and GELF are the smallest, those of Logback the largest. */
const bySize = (number: number): Level | undefined =>
  SYSLOG[number] ?? onScale(number > PINO_MAX ? LOGBACK : PINO, number)

/** Terminal escape sequences, which winston and others write for colours. */
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]{0,20}m`, 'g')

/** The level that a value under this name (`Found.name`) stands for, as a name or a number; undefined if it is unknown. */
export function levelIn(value: unknown, name: string): Level | undefined {
  const text = textOf(value)?.replaceAll(COLOURS, '').trim()
  if (text === undefined) return undefined
  if (/^\d{1,6}$/.test(text)) return (SCALE_OF_NAME[name.split('.').at(-1) ?? ''] ?? bySize)(Number(text))
  // Go's slog writes a level between two of its own as INFO+2.
  return foreignLevel(text.replace(/[+-]\d{1,3}$/, ''))
}

/** The text of a list of bytes, as journald writes a text with control characters such as colours; undefined for anything else. */
export function textOfBytes(value: unknown): string | undefined {
  if (!Array.isArray(value) || !value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255))
    return undefined
  const bytes = Buffer.from(value)
  return isUtf8(bytes) ? bytes.toString() : undefined
}

/** The message that a value of any other type makes. */
export const jsonOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? undefined : (numberText(value) ?? JSON.stringify(value))

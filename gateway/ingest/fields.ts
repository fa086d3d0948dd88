import { refuse } from '../../shared/contract/errors.ts'
import { type Level, parseLevel } from '../../shared/contract/levels.ts'
import { parseTimestamp } from '../../shared/contract/timestamp.ts'

/** A JSON object of a request: nothing is known of its fields yet. */
export type Fields = Readonly<Record<string, unknown>>

export const DEFAULT_ENVIRONMENT = 'Development'

/** Most characters of a refused text that an answer repeats. */
const SHOWN_CHARACTERS_MAX = 64

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Whether a value would certainly have more bytes as JSON. It looks at no more than that takes, and so tells before a value is
 * written whether that is worth while.
 */
export const exceeds = (value: unknown, bytesMax: number): boolean => bytesLeft(value, bytesMax) < 0

/** A value has at least so many bytes as JSON. It must not be nested very deep. */
export const leastBytes = (value: unknown): number =>
  Number.MAX_SAFE_INTEGER - bytesLeft(value, Number.MAX_SAFE_INTEGER)

/** A text has at least a byte a UTF-16 unit, and quotes; any value has a byte, and a comma or bracket behind it. */
function bytesLeft(value: unknown, bytes: number): number {
  if (typeof value === 'string') return bytes - value.length - 2
  let left = bytes - 2
  if (typeof value !== 'object' || value === null) return left
  const children = value as Readonly<Record<string, unknown>>
  for (const name in children) {
    left = bytesLeft(children[name], Array.isArray(value) ? left : left - name.length - 3)
    if (left < 0) return left
  }
  return left
}

/** A required field is missing when it is absent, null or empty; blanks are something. */
export const isMissing = (value: unknown): value is undefined | null | '' =>
  value === undefined || value === null || value === ''

export const refuseNoObject = () => refuse('invalid_request', [{ path: '', message: 'must be a JSON object' }])

export const levelOf = (value: unknown): Level | undefined =>
  typeof value === 'string' ? parseLevel(value) : undefined

export function refuseLevel(value: unknown) {
  if (isMissing(value)) return refuse('invalid_log_level', null, 'level is missing or empty.')
  if (typeof value !== 'string') return refuse('invalid_log_level', null, 'level is not a string.')
  const received = value.slice(0, SHOWN_CHARACTERS_MAX)
  return refuse('invalid_log_level', { received }, `${JSON.stringify(received)} is not a recognized log level.`)
}

/** The canonical timestamp of a field that was validated, `receivedAt` where there is none; undefined where it is no timestamp. */
export const timestampOr = (value: string | null | undefined, receivedAt: string): string | undefined =>
  value === undefined || value === null ? receivedAt : parseTimestamp(value)

/** An empty text says no more than none. */
export const textOr = <Default>(value: string | null | undefined, none: Default): string | Default =>
  value === undefined || value === null || value === '' ? none : value

import { type Offender, type Problem, refuseFields } from '../../shared/contract/errors.ts'
import { SCOPE_DEPTH_MAX } from '../schemas/requests.ts'
import {
  type Fields,
  isObject,
  pointerTo,
  refuseLevel,
  refuseTimestamp,
  refuseTooLarge,
  shortened,
  type TimeForm,
  type TooLarge,
} from './fields.ts'
import { textOf } from './foreign-fields.ts'

/** An entry more than this many times larger than the largest one of ours is refused unmapped: the mapping never drops that much. */
export const SENT_PER_ENTRY_MAX = 2

/** Properties that all requests in other formats have: the Project's name, which may be non-ASCII, can become part of their records. */
export const FOREIGN_CONTEXT = { isAscii: false, isForeign: true } as const

/**
 * The names of the members that lead to the value that a field of an application log was taken from; undefined if its sender wrote none.
 * `field` is one whose value can be refused: a text that may be too long, a message, a level, a time, or scope data, whose place is its
 * first member that is nested too deeply.
 */
export type PlaceOf = (field: string) => readonly string[] | undefined

/** An entry in another format, as its sender wrote it. */
interface SentEntry {
  readonly fields: Fields
  readonly placeOf: PlaceOf
  /** How its format writes times, if not in ISO 8601. */
  readonly times?: TimeForm
}

/** The refusal of the application log that an entry became, with the names and values of the entry. */
export function inSendersNames(cause: Problem, { fields, placeOf, times }: SentEntry): Problem {
  const written = (field: string): { readonly name: string; readonly value: unknown } => {
    const path = placeOf(field) ?? []
    const value = path.reduce<unknown>((within, name) => (isObject(within) ? within[name] : undefined), fields)
    return { name: shortened(path.join('.')), value: textOf(value) ?? value }
  }
  const placed = ({ path, message }: Offender): Offender => {
    const field = path.slice(1)
    // Scope data is an object around the member that is too deep.
    const expected = field === 'scopeData' ? `must be at most ${SCOPE_DEPTH_MAX - 1} levels deep` : message
    return { path: pointerTo(placeOf(field) ?? []), message: expected }
  }
  switch (cause.code) {
    case 'invalid_log_level': {
      const { name, value } = written('level')
      return refuseLevel({ [name]: value }, name).problem
    }
    case 'invalid_timestamp': {
      const { name, value } = written('timestamp')
      return refuseTimestamp(typeof value === 'string' ? value : JSON.stringify(value), name, times).problem
    }
    case 'entry_too_large': {
      const { limit, bytes } = cause.details as TooLarge
      return refuseTooLarge(fields, limit, bytes).problem
    }
    case 'invalid_request':
      return refuseFields((cause.details as readonly Offender[]).map(placed)).problem
    default:
      return cause
  }
}

import { hash } from 'node:crypto'
import type { ApplicationLogRecord } from '../contract/records.ts'
import { type ExceptionGroup, exceptionGroupOf } from './exception-group.ts'
import { templateOf } from './template.ts'

/**
 * The id of a group: the first hexadecimal digits of a hash of what its entries share. 52 bits fit an integer of JavaScript and of SQLite,
 * and with a million groups in a Team, two share an id by chance in one of 9,000 Teams.
 */
export const FINGERPRINT_DIGITS = 13

/** Whether a text can be the id of a group. */
export const isFingerprint = (text: string): boolean => /^[\da-f]{13}$/.test(text)

/** The ids of the groups that an application log belongs to; null for none. */
interface Fingerprints {
  readonly template: string | null
  readonly exceptionGroup: string | null
}

/** The groups of an application log. */
export function fingerprintsOf(entry: Pick<ApplicationLogRecord, 'message' | 'exception' | 'scopeData'>): Fingerprints {
  const { exception } = entry
  return {
    template: idOf(templateOf(entry) ?? ''),
    exceptionGroup: idOf(exception === null ? '' : textOf(exceptionGroupOf(exception))),
  }
}

const idOf = (text: string): string | null => (text === '' ? null : hash('sha256', text).slice(0, FINGERPRINT_DIGITS))

const textOf = ({ type, frames }: ExceptionGroup): string => [type, ...frames].join('\n')

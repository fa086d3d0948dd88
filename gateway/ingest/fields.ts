import { type ErrorCode, type Problem, problemSaying, refuse, refuseFields } from '../../shared/contract/errors.ts'
import { fitsDepth, isExactNumber, numberText } from '../../shared/contract/exact-json.ts'
import { isJsonObject, type JsonObject, pointerOf } from '../../shared/contract/json-object.ts'
import { type Level, parseLevel } from '../../shared/contract/levels.ts'
import { parseTimestamp } from '../../shared/contract/timestamp.ts'

/** A JSON object of a request, its fields not checked yet. */
export type Fields = JsonObject

export const DEFAULT_ENVIRONMENT = 'Development'

/** Maximum characters of a refused text that an answer quotes. */
const QUOTED_CHARACTERS_MAX = 64

/** The beginning of a refused text. */
export const shortened = (text: string): string => text.slice(0, QUOTED_CHARACTERS_MAX)

/** The same in quotation marks. */
export const quoted = (text: string): string => JSON.stringify(shortened(text))

/** Whether the value is a JSON object, and not a number of `parseExactly`. */
export const isObject = (value: unknown): value is Fields => isJsonObject(value) && !isExactNumber(value)

/** The fields with numbers as `JSON.parse` reads them; those within the values of fields stay as they are. */
export function withPlainNumbers(fields: Fields): Fields {
  let plain: Record<string, unknown> | undefined
  for (const name in fields) {
    if (!isExactNumber(fields[name])) continue
    plain ??= { ...fields }
    plain[name] = Number(numberText(fields[name]))
  }
  return plain ?? fields
}

/**
 * Whether a value would certainly take more than `bytesMax` bytes as JSON. It stops as soon as that is certain, so that a value that is too
 * large is recognised without being serialised.
 */
export const exceeds = (value: unknown, bytesMax: number): boolean => bytesLeft(value, bytesMax) < 0

/** A lower bound of a value's bytes as JSON. The value must not be nested deeply, as this recurses. */
export const leastBytes = (value: unknown): number =>
  Number.MAX_SAFE_INTEGER - bytesLeft(value, Number.MAX_SAFE_INTEGER)

/** The JSON pointer to a value of a sender, whose names may be of any length; each is cut. */
export const pointerTo = (path: readonly string[]): string => pointerOf(...path.map(shortened))

/** Levels of objects that are searched for the largest value, and how many times the limit of an entry may be measured at each. */
const LARGEST_LEVELS = 3
const LARGEST_MEASURED_MAX = 2

/**
 * The JSON pointer to the value to shorten in an entry that takes more than `bytesMax` bytes: its largest member, or the largest one within
 * that if it takes more than half of it. In an entry that is far too large, the members that are looked at suffice.
 */
export function largestIn(entry: Fields, bytesMax: number): string {
  const path: string[] = []
  let [within, room] = [entry as unknown, bytesMax]
  while (isObject(within) && path.length < LARGEST_LEVELS) {
    let [name, most, measured] = ['', 0, 0]
    for (const each in within) {
      const bytes = each.length + bytesMax - bytesLeft(within[each], bytesMax)
      if (bytes > most) [name, most] = [each, bytes]
      measured += bytes
      if (measured > LARGEST_MEASURED_MAX * bytesMax) break
    }
    if (path.length > 0 && most <= room / 2) break
    path.push(name)
    room = most
    within = within[name]
  }
  return pointerTo(path)
}

/** A text takes at least one byte per UTF-16 unit, and quotes; any other value one byte, and a comma or bracket after it. */
function bytesLeft(value: unknown, bytes: number): number {
  if (typeof value === 'string') return bytes - value.length - 2
  let left = bytes - 2
  if (typeof value !== 'object' || value === null) return left
  // Arrays apart, as in `hasLostDigits`.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1) left = bytesLeft(value[index], left)
    return left
  }
  const children = value as Readonly<Record<string, unknown>>
  for (const name in children) {
    left = bytesLeft(children[name], left - name.length - 3)
    if (left < 0) return left
  }
  return left
}

/** A required field is missing if it is absent, null or empty; whitespace is a value. */
export const isMissing = (value: unknown): value is undefined | null | '' =>
  value === undefined || value === null || value === ''

/** Refuses an object without the field. Writers of JSON in .NET name it in PascalCase by default, so a name in another case is told. */
export function refuseMissing(code: ErrorCode, fields: Fields, name: string): { readonly problem: Problem } {
  const isSame = (other: string): boolean =>
    other !== name && other.length === name.length && other.toLowerCase() === name.toLowerCase()
  const other = Object.keys(fields).find(isSame)
  const hint = other === undefined ? '' : `: ${quoted(other)} is another name, as case matters`
  return refuse(code, null, `${name} is missing or empty${hint}.`)
}

/** Refuses what is no object; `instead` says what a sender of a list does. */
export const refuseNoObject = (sent?: unknown, instead = '') =>
  refuseFields([{ path: '', message: `must be a JSON object${Array.isArray(sent) ? instead : ''}` }])

/** The details of an entry that is too large. */
export interface TooLarge {
  /** The bytes of its record, if they were counted. */
  readonly bytes?: number | undefined
  readonly limit: number
  readonly largest: string
}

/** Refuses an entry whose record has more than `limit` bytes. */
export function refuseTooLarge(fields: Fields, limit: number, bytes?: number) {
  const details: TooLarge = { bytes, limit, largest: largestIn(fields, limit) }
  const most = `The entry may have at most ${limit} bytes${bytes === undefined ? '' : `, not ${bytes}`}.`
  const message = `${most} Shorten its largest field, ${details.largest}.`
  return { problem: problemSaying('entry_too_large', message, details) }
}

/** Refuses an object with more levels than this, by the first of its members that is nested too deeply. */
export function refuseTooDeep(object: Fields, levelsMax: number) {
  const deep = Object.keys(object).filter((name) => !fitsDepth(object[name], levelsMax - 1))
  const message = `must be at most ${levelsMax - 1} levels deep`
  return refuseFields([{ path: pointerTo(deep.slice(0, 1)), message }])
}

export const levelOf = (value: unknown): Level | undefined =>
  typeof value === 'string' ? parseLevel(value) : undefined

/** Refuses fields without a level, which the sender has in the member `name`. */
export function refuseLevel(fields: Fields, name = 'level') {
  const value = fields[name]
  if (isMissing(value)) return refuseMissing('invalid_log_level', fields, name)
  if (typeof value !== 'string') return refuse('invalid_log_level', null, `${name} is not a string.`)
  const received = shortened(value)
  return refuse('invalid_log_level', { received }, `${name} ${quoted(value)} is not a recognized log level.`)
}

/** The canonical timestamp of a checked field, or `receivedAt` if it is absent; undefined if it is not a timestamp. */
export const timestampOr = (value: string | null | undefined, receivedAt: string): string | undefined =>
  value === undefined || value === null ? receivedAt : parseTimestamp(value)

/** How a format writes the time of an entry. */
export interface TimeForm {
  readonly form: string
  readonly example: string
}

const ISO: TimeForm = {
  form: 'a date and time from 1970 to 2261 in the extended format of ISO 8601, with at most 9 digits of a second',
  example: '2026-01-31T09:30:00.123Z',
}

/** Refuses a text that is no timestamp; `name` is the member in which the sender has it. */
export function refuseTimestamp(value: unknown, name = 'timestamp', { form, example }: TimeForm = ISO) {
  const text = String(value)
  const details = { received: shortened(text) }
  const message = `${name} is not ${form}: ${quoted(text)}. Send a time such as ${example}, or leave ${name} out.`
  return { problem: problemSaying('invalid_timestamp', message, details) }
}

/** Treats an empty text like an absent one. */
export const textOr = <Default>(value: string | null | undefined, none: Default): string | Default =>
  value === undefined || value === null || value === '' ? none : value

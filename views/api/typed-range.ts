import { ProblemError } from '../../shared/contract/errors.ts'
import { compareTimestamps, DAY_MS, parseTimestamp, timestampOf } from '../../shared/contract/timestamp.ts'
import { parseTime } from '../../shared/query/time.ts'
import type { TypedRange } from '../schemas/answers.ts'
import type { Answer } from './call.ts'

const WRITTEN = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

const CLOCK = /^\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?$/

/** How many days ago the days are that have a name. */
const NAMED_DAYS = { today: 0, yesterday: 1 }
const NAMED_DAY = /^(today|yesterday)\b/i

/**
 * A typed range, converted to `from` and `to`: a time without a zone is taken in `zone`, as are the days of today and yesterday, a time
 * without a day is the latest one, or the first one after the beginning, a relative time stays relative, and an empty field leaves that end
 * open.
 */
export const readTypedRange: Answer = async ({ values }, { clock }) => {
  const now = clock.now()
  const zone = zoneOf(values.zone ?? 'UTC')
  const read = (path: 'begin' | 'end', after?: string): string | null => {
    const typed = values[path]?.trim() ?? ''
    if (typed === '') return null
    const text = typed.replace(NAMED_DAY, (name) => namedDay(name, zone, now))
    const time = CLOCK.test(text) ? timeOfDay(text, zone, now, path, after) : typedTime(text, zone, now, path)
    if (time !== undefined) return time
    throw refusal(
      path,
      WRITTEN.test(text) || CLOCK.test(text)
        ? `“${typed}” does not exist, or lies outside 1970 to 2261 in UTC.`
        : `“${typed}” is neither a time such as 2026-01-31 09:30 or yesterday 9:30 nor one such as now-2h (s, m, h, d, w).`,
    )
  }
  const from = read('begin')
  const first = from === null ? undefined : parseTime(from, now)
  const to = read('end', first)
  if (first !== undefined && compareTimestamps(parseTime(to ?? 'now', now) ?? '', first) <= 0)
    throw refusal('end', 'The end has to be later than the beginning.')
  return { from, to } satisfies TypedRange
}

/** The message is a full sentence, as it is shown beside the input. */
const refusal = (path: string, message: string) =>
  new ProblemError({ code: 'invalid_request', message, details: [{ path, message }], retryable: false })

/** The date of a day that has a name: `2026-01-31`. */
function namedDay(name: string, zone: Intl.DateTimeFormat, now: number): string {
  const ago = NAMED_DAYS[name.toLowerCase() as keyof typeof NAMED_DAYS]
  return timestampOf(now + offsetAt(zone, now) - ago * DAY_MS).slice(0, 10)
}

/** A time of day: the latest one until `now`, or the first one after a beginning (canonical timestamp) if there is one. */
function timeOfDay(
  text: string,
  zone: Intl.DateTimeFormat,
  now: number,
  end: 'begin' | 'end',
  after?: string,
): string | undefined {
  // By half days, as a day may have only 23 hours.
  const days = [0, 1, 2, 3].map((step) =>
    after === undefined ? now - (step * DAY_MS) / 2 : Date.parse(after) + (step * DAY_MS) / 2,
  )
  return days
    .map((at) => typedTime(`${timestampOf(at + offsetAt(zone, at)).slice(0, 10)} ${text}`, zone, now, end))
    .find(
      (time) =>
        time !== undefined &&
        (after === undefined ? compareTimestamps(time, timestampOf(now)) <= 0 : compareTimestamps(time, after) > 0),
    )
}

function typedTime(text: string, zone: Intl.DateTimeFormat, now: number, end: 'begin' | 'end'): string | undefined {
  const [, day, clock = '00:00', offset] = WRITTEN.exec(text) ?? []
  if (day === undefined) {
    const relative = text.replace(/^-?(?=\d+[smhdw]$)/i, 'now-')
    return /^now/i.test(relative) ? parseTime(relative, now) && relative : undefined
  }
  const whole = parseTimestamp(`${day}T${clock.replace(/^(?=\d:)/, '0')}${offset ?? 'Z'}`)
  if (whole === undefined || offset !== undefined) return whole
  const wall = Date.parse(whole)
  // The clocks may change nearby, so both offsets are tried; a day is longer than any offset or change.
  const instants = [wall - DAY_MS, wall + DAY_MS].map((at) => wall - offsetAt(zone, at))
  const actual = instants.filter((at) => at + offsetAt(zone, at) === wall)
  // When the clocks change, a local time may exist twice, or not at all: the range has all that may be meant.
  const meant = actual.length > 0 ? actual : instants
  const at = timestampOf(end === 'begin' ? Math.min(...meant) : Math.max(...meant))
  return parseTimestamp(at.slice(0, -1) + whole.slice(TO_MILLISECONDS))
}

/** Characters of a canonical timestamp before the digits below a millisecond, which `Date` has none of. */
const TO_MILLISECONDS = '2026-01-31T09:30:00.123'.length

/** How far a zone is ahead of UTC at an instant, in milliseconds. */
function offsetAt(zone: Intl.DateTimeFormat, at: number): number {
  const [, sign, hours = 0, minutes = 0] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(zone.format(at)) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

function zoneOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    throw refusal('zone', 'The zone must be one such as Europe/Berlin or UTC.')
  }
}

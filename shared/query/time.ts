import { parseTimestamp, timestampOf } from '../contract/timestamp.ts'

/** Units in either case, but for `M`: elsewhere that is a month, and here it would be a minute. */
const RELATIVE = /^[nN][oO][wW](?:([+-])(\d{1,6})([smhdwSHDW]))?$/

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Whether a time is relative to now, as `now-15m` is. */
export const isRelative = (text: string): boolean => RELATIVE.test(text)

/**
 * The canonical timestamp of an ISO 8601 text, or of a time relative to `now` (milliseconds since 1970) such as `now-15m`.
 * Undefined for anything else and for times outside 1970 to 2261.
 */
export function parseTime(text: string, now: number): string | undefined {
  const match = RELATIVE.exec(text)
  if (match === null) return parseTimestamp(text)
  const [, sign, amount = '0', unit = 's'] = match
  const distanceMs = Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0)
  return parseTimestamp(timestampOf(sign === '-' ? now - distanceMs : now + distanceMs))
}

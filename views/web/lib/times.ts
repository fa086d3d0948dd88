import { UNITS } from '../../flow-layout/times.ts'

/** A range that is offered by name; `from` is what the address and the API take. */
interface Preset {
  readonly from: string
  readonly label: string
}

/** Ranges that end now. No range at all means everything that is kept. */
export const PRESETS: readonly Preset[] = [
  { from: 'now-15m', label: 'Last 15 minutes' },
  { from: 'now-1h', label: 'Last hour' },
  { from: 'now-6h', label: 'Last 6 hours' },
  { from: 'now-24h', label: 'Last 24 hours' },
  { from: 'now-7d', label: 'Last 7 days' },
  { from: 'now-30d', label: 'Last 30 days' },
]

const RELATIVE = /^now(?:([+-])(\d{1,6})([smhdw]))?$/i
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

const ZONED = /(?:z|[+-]\d\d:?\d\d)$/i

/** Milliseconds since 1970 of `now-15m` or of an ISO 8601 time, which is UTC unless it says otherwise; undefined for anything else. */
export function timeOf(text: string, now: number): number | undefined {
  const match = RELATIVE.exec(text)
  if (match === null) {
    const ms = /^\d{4}-/.test(text) ? Date.parse(/T/i.test(text) && !ZONED.test(text) ? `${text}Z` : text) : Number.NaN
    return Number.isNaN(ms) ? undefined : ms
  }
  const [, sign, amount = '0', unit = 's'] = match
  return now + (sign === '-' ? -1 : 1) * Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0)
}

export const isRelative = (text: string): boolean => RELATIVE.test(text)

export const iso = (ms: number): string => new Date(ms).toISOString()

/** The zone that times are shown in: `UTC` or the distance from it, `+02:00`. */
export function zoneText(utc: boolean, at: number): string {
  const [, hours, minutes] = /GMT(...)(..)/.exec(String(new Date(at))) ?? []
  return utc || `${hours}${minutes}` === '+0000' ? 'UTC' : `${hours}:${minutes}`
}

/** `3 m ago`, `now` within a second, `in 3 m` for what is ahead. */
export function agoText(at: string | number, now: number): string {
  const ms = now - new Date(at).getTime()
  if (Number.isNaN(ms)) return ''
  if (Math.abs(ms) < 1_000) return 'now'
  const [name, unit] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? ['s', 1_000]
  const text = `${Math.floor(Math.abs(ms) / unit)} ${name}`
  return ms < 0 ? `in ${text}` : `${text} ago`
}

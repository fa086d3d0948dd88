import { UNITS } from '../../flow-layout/times.ts'

/** A named time range; `from` is in the format of the address and the API. */
interface Preset {
  readonly from: string
  readonly label: string
}

/** Ranges that end now. No range means everything that is stored. */
export const PRESETS: readonly Preset[] = [
  { from: 'now-15m', label: 'Last 15 minutes' },
  { from: 'now-1h', label: 'Last hour' },
  { from: 'now-6h', label: 'Last 6 hours' },
  { from: 'now-24h', label: 'Last 24 hours' },
  { from: 'now-7d', label: 'Last 7 days' },
  { from: 'now-30d', label: 'Last 30 days' },
]

export const iso = (ms: number): string => new Date(ms).toISOString()

/** The zone of displayed times: `UTC` or an offset such as `+02:00`. */
export function zoneText(utc: boolean, at: number): string {
  const [, hours, minutes] = /GMT(...)(..)/.exec(String(new Date(at))) ?? []
  return utc || `${hours}${minutes}` === '+0000' ? 'UTC' : `${hours}:${minutes}`
}

/** `3 m ago`, `now` within a second, `in 3 m` for a future time. */
export function agoText(at: string | number, now: number): string {
  const ms = now - new Date(at).getTime()
  if (Number.isNaN(ms)) return ''
  if (Math.abs(ms) < 1_000) return 'now'
  const [name, unit] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? ['s', 1_000]
  const text = `${Math.floor(Math.abs(ms) / unit)} ${name}`
  return ms < 0 ? `in ${text}` : `${text} ago`
}

/** `14:03:22.114`, in UTC or in the reader's zone. */
export const clockText = (at: string | number, utc: boolean): string => partsOf(at, utc).clock

/** `2026-01-31`, in UTC or in the reader's zone. */
export const dayText = (at: string | number, utc: boolean): string => partsOf(at, utc).day

/** `2026-01-31 14:03:22.114`, with `Z` in UTC. */
export function timeText(at: string | number, utc: boolean): string {
  const { day, clock } = partsOf(at, utc)
  return `${day} ${clock}${utc ? 'Z' : ''}`
}

/** Units of a duration in milliseconds, largest first. */
export const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** A duration in its two largest units (`2 m 3 s`, `3 d 4 h`), or in `most` of them; in milliseconds below a second. */
export function durationText(ms: number, most = 2): string {
  const size = Math.abs(ms)
  const sign = ms < 0 ? '-' : ''
  if (size < 1_000) return `${sign}${Math.round(size)} ms`
  if (size < 10_000) return `${sign}${(Math.floor(size / 100) / 10).toFixed(1)} s`
  const first = UNITS.findIndex(([, unit]) => size >= unit)
  let rest = size
  const parts = UNITS.slice(first, first + most).flatMap(([name, unit]) => {
    const count = Math.floor(rest / unit)
    rest %= unit
    return count === 0 ? [] : [`${count} ${name}`]
  })
  return sign + parts.join(' ')
}

function partsOf(at: string | number, utc: boolean): { readonly day: string; readonly clock: string } {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return { day: '', clock: String(at) }
  const shifted = utc ? time : new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  const text = shifted.toISOString()
  return { day: text.slice(0, 10), clock: text.slice(11, 23) }
}

import type { TimeScale } from './time-scale.ts'
import { clockText, dayText } from './times.ts'

/** A time on the axis; its label stands to the right of it. */
export interface Tick {
  readonly x: number
  readonly label: string
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Tick intervals in milliseconds that match clocks and calendars, up to a year. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[SECOND, MINUTE].flatMap((unit) => [1, 2, 5, 10, 15, 30].map((count) => count * unit)),
  ...[1, 2, 3, 6, 12, 24, 48, 72, 168, 336, 672, 2_184, 8_760].map((count) => count * HOUR),
]

/** Width of a label's character, and minimum gap between two labels. */
const CHARACTER_PX = 6.4
const APART_PX = 14

/** The width of a label including the gap to the next. */
const LABEL_PX = 90

/**
 * Ticks at round times of the reader's clock, plus one at the start of a stretch that contains none. A label includes the day when it
 * differs from the previous label's. Labels do not overlap.
 */
export function ticksOf(scale: Omit<TimeScale, 'unproject'>, utc: boolean): readonly Tick[] {
  const active = scale.segments.filter(({ folded }) => !folded)
  const duration = active.reduce((total, { from, to }) => total + to - from, 0)
  const width = active.reduce((total, { left, right }) => total + right - left, 0)
  const step = STEPS.find((one) => one * width >= LABEL_PX * duration) ?? 365 * DAY
  const ticks: Tick[] = []
  let day = ''
  let free = 0
  const add = (at: number): void => {
    const today = dayText(at, utc)
    const clock = clockText(at, utc).slice(0, step < SECOND ? 12 : step < MINUTE ? 8 : 5)
    const label = step >= DAY ? today : today === day ? clock : `${today.slice(5)} ${clock}`
    const x = scale.project(at)
    const end = x + label.length * CHARACTER_PX
    if (x < free || end > scale.width) return
    ticks.push({ x, label })
    day = today
    free = end + APART_PX
  }
  // The nearest whole hour or day of the reader's zone, not of UTC: the next step may lie beyond a change of its clocks.
  const round = (at: number): number => {
    const zone = utc ? 0 : new Date(at).getTimezoneOffset() * MINUTE
    return Math.round((at - zone) / step) * step + zone
  }
  for (const { from, to } of active) {
    let at = round(from)
    if (at < from) at = round(at + step)
    if (at > to) add(from)
    for (; at <= to; at = round(at + step)) add(at)
  }
  return ticks
}

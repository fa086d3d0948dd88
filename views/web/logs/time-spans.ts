import { iso } from '../lib/times.ts'

/** Consecutive spans of equal width, as drawn from left to right by a histogram or chart. */
export interface Spans {
  /** The start of each span. */
  readonly starts: readonly string[]
  /** Their width in milliseconds. */
  readonly interval: number
}

/** The span at a fraction of the drawing's width, from 0 to 1. */
export const spanAt = ({ starts }: Spans, part: number): number =>
  Math.max(0, Math.min(starts.length - 1, Math.floor(part * starts.length)))

/** The range of two spans and all between them, in either order, as `from` (inclusive) and `to` (exclusive). */
export function rangeOf(
  { starts, interval }: Spans,
  one: number,
  other: number,
): { readonly from: string; readonly to: string } | undefined {
  const first = starts[Math.min(one, other)]
  const last = starts[Math.max(one, other)]
  if (first === undefined || last === undefined) return undefined
  return { from: first, to: iso(Date.parse(last) + interval) }
}

/** A time label below the drawing; `part` is its position in the width, from 0 to 1. */
export interface TimeTick {
  readonly at: number
  readonly part: number
}

/** Maximum number of time labels, and the share of the width that the last one needs. */
const TICKS_MAX = 6
const LABEL_PART = 0.1

/** Evenly spaced time labels; none after `now` (milliseconds since 1970), and none that would overflow. */
export function ticksOf({ starts }: Spans, now: number): readonly TimeTick[] {
  const every = Math.ceil(starts.length / TICKS_MAX)
  return starts
    .map((from, index) => ({ at: Date.parse(from), part: index / starts.length }))
    .filter(({ at, part }, index) => index % every === 0 && at <= now && part <= 1 - LABEL_PART)
}

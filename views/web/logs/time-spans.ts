import { iso } from '../lib/times.ts'

/** Spans of one width that follow each other, as a histogram and a chart draw them from left to right. */
export interface Spans {
  /** The beginning of each. */
  readonly starts: readonly string[]
  /** Their width in milliseconds. */
  readonly interval: number
}

/** The span at a part of the drawing's width, from 0 to 1. */
export const spanAt = ({ starts }: Spans, part: number): number =>
  Math.max(0, Math.min(starts.length - 1, Math.floor(part * starts.length)))

/** The range of the spans between two, in either order, as `from` (inclusive) and `to` (exclusive). */
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

/** A time below the drawing: its span's place in the width, from 0 to 1. */
export interface TimeTick {
  readonly at: number
  readonly part: number
}

/** Most times below the drawing, and the part of its width that the last one needs. */
const TICKS_MAX = 6
const LABEL_PART = 0.1

/** Times below the drawing, evenly apart; none ahead of `now`, in milliseconds since 1970, and none that would stick out. */
export function ticksOf({ starts }: Spans, now: number): readonly TimeTick[] {
  const every = Math.ceil(starts.length / TICKS_MAX)
  return starts
    .map((from, index) => ({ at: Date.parse(from), part: index / starts.length }))
    .filter(({ at, part }, index) => index % every === 0 && at <= now && part <= 1 - LABEL_PART)
}

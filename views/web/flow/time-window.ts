import { activeMs } from './gaps.ts'
import type { Segment } from './time-scale.ts'

/** The part of a flow that is shown, in milliseconds since 1970. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** The shortest time that can be zoomed into. */
export const WINDOW_MIN_MS = 1

/**
 * Zooming and panning count active time only: in it a folded stretch has no length, so that a window grows and moves evenly and
 * never ends within what is not drawn.
 */
export function zoomWindow(
  segments: readonly Segment[],
  { from, to }: TimeWindow,
  factor: number,
  around: number,
): TimeWindow {
  const start = toActive(segments, from)
  const end = toActive(segments, to)
  const length = Math.max(WINDOW_MIN_MS, (end - start) * factor)
  const share = end > start ? (toActive(segments, around) - start) / (end - start) : 0.5
  const centre = start + share * (end - start)
  return place(segments, centre - share * length, length)
}

/** The window moved by so much of its own length. */
export function panWindow(segments: readonly Segment[], { from, to }: TimeWindow, share: number): TimeWindow {
  const start = toActive(segments, from)
  const length = toActive(segments, to) - start
  return place(segments, start + share * length, length)
}

/** The window that two times make in either order, its ends moved out of folded stretches; undefined where it holds it all. */
export function windowBetween(segments: readonly Segment[], a: number, b: number): TimeWindow | undefined {
  const start = toActive(segments, Math.min(a, b))
  const end = toActive(segments, Math.max(a, b))
  const length = Math.max(WINDOW_MIN_MS, end - start)
  const window = place(segments, (start + end - length) / 2, length)
  return isWhole(segments, window) ? undefined : window
}

export function isWhole(segments: readonly Segment[], { from, to }: TimeWindow): boolean {
  const whole = wholeOf(segments)
  return from <= whole.from && to >= whole.to
}

export const wholeOf = (segments: readonly Segment[]): TimeWindow => ({
  from: segments[0]?.from ?? 0,
  to: segments.at(-1)?.to ?? 0,
})

/** The segments within the window, the outer ones cut to it. */
export const clipSegments = (segments: readonly Segment[], { from, to }: TimeWindow): readonly Segment[] =>
  segments
    .filter((segment) => (segment.folded ? segment.from >= from && segment.to <= to : overlaps(segment, from, to)))
    .map((segment) => ({ ...segment, from: Math.max(from, segment.from), to: Math.min(to, segment.to) }))

const overlaps = (segment: Segment, from: number, to: number): boolean => segment.to >= from && segment.from <= to

/** A window of so much active time; kept within the flow. */
function place(segments: readonly Segment[], start: number, length: number): TimeWindow {
  const total = activeMs(segments)
  if (length >= total) return wholeOf(segments)
  const from = Math.min(Math.max(0, start), total - length)
  return { from: toTime(segments, from, 'from'), to: toTime(segments, from + length, 'to') }
}

/** How much active time has passed at a time. */
function toActive(segments: readonly Segment[], at: number): number {
  return activeMs(segments.map(({ from, to, folded }) => ({ from, to: Math.max(from, Math.min(to, at)), folded })))
}

/** The time at which so much active time has passed. At a fold it is the fold's end for a beginning and its start for an end. */
function toTime(segments: readonly Segment[], active: number, edge: keyof TimeWindow): number {
  let passed = 0
  for (const { from, to, folded } of segments) {
    if (folded) continue
    const next = passed + to - from
    if (edge === 'from' ? active < next : active <= next) return from + active - passed
    passed = next
  }
  return segments.at(-1)?.to ?? 0
}

import type { Segment, TimeScale } from '../../flow-layout/time-scale.ts'

/** The visible part of a flow, in milliseconds since 1970. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** The minimum length of a window, in milliseconds. */
export const WINDOW_MIN_MS = 10

/**
 * Windows are zoomed and moved on `fit`, the scale of the whole flow: folded stretches are short there, so that a window grows and moves
 * evenly. Undefined stands for the whole flow.
 */
export function windowAt(fit: TimeScale, x0: number, x1: number): TimeWindow | undefined {
  const [first, last] = [fit.project(Number.NEGATIVE_INFINITY), fit.project(Number.POSITIVE_INFINITY)]
  if (x1 - x0 >= last - first) return undefined
  const left = Math.min(Math.max(first, x0), last - (x1 - x0))
  const [from, to] = [fit.unproject(left), fit.unproject(left + x1 - x0)]
  const short = Math.max(0, WINDOW_MIN_MS - (to - from)) / 2
  return { from: from - short, to: to + short }
}

/** The window scaled around a time that keeps its position. */
export function zoomed(
  fit: TimeScale,
  { from, to }: TimeWindow,
  factor: number,
  around: number,
): TimeWindow | undefined {
  const centre = fit.project(around)
  return windowAt(fit, centre - (centre - fit.project(from)) * factor, centre + (fit.project(to) - centre) * factor)
}

/** The window moved by a share of its own length. */
export function panned(fit: TimeScale, { from, to }: TimeWindow, share: number): TimeWindow | undefined {
  const [x0, x1] = [fit.project(from), fit.project(to)]
  const way = share * (x1 - x0)
  return windowAt(fit, x0 + way, x1 + way)
}

/** The segments within the window, active ones clipped to it; a folded one is kept whole or omitted. */
export const clipSegments = (segments: readonly Segment[], window: TimeWindow | undefined): readonly Segment[] => {
  if (window === undefined) return segments
  const clipped = segments
    .filter(({ from, to, folded }) =>
      folded ? from >= window.from && to <= window.to : from <= window.to && to >= window.from,
    )
    .map(({ from, to, folded }) => ({ folded, from: Math.max(window.from, from), to: Math.min(window.to, to) }))
  return clipped.length > 0 ? clipped : [{ ...window, folded: false }]
}

/** A stretch of a flow's time, in milliseconds since 1970. A folded one is idle and is drawn with a fixed width. */
export interface Segment {
  readonly from: number
  readonly to: number
  readonly folded: boolean
}

interface PlacedSegment extends Segment {
  /** Its edges in pixels, and those of the area where time is drawn: an active segment has margins. */
  readonly x0: number
  readonly x1: number
  readonly left: number
  readonly right: number
}

/**
 * Maps time to pixels and back, linearly within each segment. Both directions are monotone; `unproject(project(at))` is `at` for every time
 * from the first segment to the last, and times beyond are drawn at the ends.
 */
export interface TimeScale {
  readonly width: number
  readonly segments: readonly PlacedSegment[]
  project(at: number): number
  unproject(x: number): number
}

/** The width of a folded segment if there is room for it. */
export const FOLDED_PX = 48

/** Margin at both ends of an active segment, so that its first and last marks do not touch its edges. */
const MARGIN_PX = 12

/** Places segments side by side over the width. There is at least one, and they follow one another without a gap. */
export function createTimeScale(segments: readonly Segment[], width: number): TimeScale {
  const folds = segments.filter(({ folded }) => folded).length
  const active = segments.length - folds
  const foldPx = Math.min(FOLDED_PX, (width * 0.5) / (folds || 1))
  const marginPx = Math.min(MARGIN_PX, (width * 0.1) / active)
  const free = width - folds * foldPx - active * 2 * marginPx
  const total = activeMs(segments)
  let x1 = 0
  const placed = segments.map((segment): PlacedSegment => {
    // If no segment has a duration, they share the room equally.
    const share = total > 0 ? (segment.to - segment.from) / total : 1 / active
    const margin = segment.folded ? 0 : marginPx
    const x0 = x1
    x1 += segment.folded ? foldPx : 2 * margin + free * share
    return { ...segment, x0, x1, left: x0 + margin, right: x1 - margin }
  })
  const last = placed.at(-1) as PlacedSegment
  return {
    width,
    segments: placed,
    project: (at) => {
      // A time on the border of two segments belongs to the active one.
      const { from, to, left, right } = placed.find((one) => (one.folded ? at < one.to : at <= one.to)) ?? last
      return from === to ? (left + right) / 2 : between(left, right, (at - from) / (to - from))
    },
    unproject: (x) => {
      const { from, to, left, right } = placed.find((one) => x < one.x1) ?? last
      return right === left ? from : between(from, to, (x - left) / (right - left))
    },
  }
}

/** The unfolded time, in milliseconds. */
export const activeMs = (segments: readonly Segment[]): number =>
  segments.reduce((total, { from, to, folded }) => total + (folded ? 0 : to - from), 0)

const between = (from: number, to: number, share: number): number =>
  from + Math.min(1, Math.max(0, share)) * (to - from)

/** A stretch of a flow's time, in milliseconds since 1970. A folded one is idle and is drawn with a fixed width. */
export interface Segment {
  readonly from: number
  readonly to: number
  readonly folded: boolean
}

export interface PlacedSegment extends Segment {
  /** Its left and right edge in pixels. */
  readonly x0: number
  readonly x1: number
}

/**
 * From time to pixels and back, linear within each segment. Both directions are monotone; `unproject(project(at))` is `at` for
 * every time from the first segment to the last, and times beyond are drawn at the ends.
 */
export interface TimeScale {
  readonly width: number
  readonly segments: readonly PlacedSegment[]
  project(at: number): number
  unproject(x: number): number
}

/** The width of a folded segment where there is room for it. */
export const FOLDED_PX = 48

/** Room at both ends of an active segment, so that its first and last mark do not stand on its edge. */
const PAD_PX = 12

/** Places segments, which follow one another without a gap, side by side over the width. */
export function createTimeScale(segments: readonly Segment[], width: number): TimeScale {
  const folds = segments.filter(({ folded }) => folded).length
  const active = segments.length - folds
  const foldPx = folds === 0 ? 0 : Math.min(FOLDED_PX, (width * 0.5) / folds)
  const padPx = Math.min(PAD_PX, (width * 0.2) / (2 * Math.max(1, active)))
  const free = width - folds * foldPx - active * 2 * padPx
  const total = sum(segments.filter(({ folded }) => !folded).map(({ from, to }) => to - from))

  let x = 0
  const placed = segments.map((segment): PlacedSegment => {
    // Where no time passes in any segment, they share the room alike.
    const share = total > 0 ? (segment.to - segment.from) / total : 1 / active
    const x0 = x
    x += segment.folded ? foldPx : 2 * padPx + free * share
    return { ...segment, x0, x1: x }
  })
  const inner = ({ folded, x0, x1 }: PlacedSegment): readonly [number, number] =>
    folded ? [x0, x1] : [x0 + padPx, x1 - padPx]

  return {
    width,
    segments: placed,
    project: (at) => {
      // A time on the border of two segments belongs to the active one.
      const segment =
        placed.find(({ from, to, folded }) => (folded ? at > from && at < to : at >= from && at <= to)) ??
        (at < (placed[0]?.from ?? 0) ? placed[0] : placed.at(-1))
      if (segment === undefined) return width / 2
      const [left, right] = inner(segment)
      const { from, to } = segment
      return from === to ? (left + right) / 2 : left + clamp((at - from) / (to - from)) * (right - left)
    },
    unproject: (x) => {
      const segment = placed.find(({ x1 }) => x < x1) ?? placed.at(-1)
      if (segment === undefined) return 0
      const [left, right] = inner(segment)
      const { from, to } = segment
      return right === left ? from : from + clamp((x - left) / (right - left)) * (to - from)
    },
  }
}

const clamp = (share: number): number => Math.min(1, Math.max(0, share))

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

import { LEVELS, type Level } from '../../../shared/contract/levels.ts'
import type { Histogram } from '../../schemas/answers.ts'

/** A part of a bar: entries of one level. */
export interface Segment {
  readonly level: Level
  readonly y: number
  readonly height: number
}

/** The height of the drawing, which is that of the tallest bar. */
export const HEIGHT = 100
/** Minimum height of a bar, and of its most severe segments, so that a single error among thousands is visible; 1.6 pixels. */
const LEAST = 2.5
/** From this many times the middle one on, the tallest bar would leave nothing of the others to be compared. */
const UNEVEN = 10
/** Bars that are enlarged stay so down to this many times, so that a live list does not switch to and fro. */
const STILL_UNEVEN = 5

interface Bars {
  /** The segments of each bucket; the most severe level is at the bottom, where it is easiest to compare. */
  readonly bars: readonly (readonly Segment[])[]
  /** Whether bars are as high as the square roots of their counts, which shows both a burst and the bars beside it. */
  readonly areEnlarged: boolean
}

export function barsOf({ buckets }: Histogram, wereEnlarged = false): Bars {
  const totals = buckets.flatMap(({ total }) => (total > 0 ? [total] : [])).sort((a, b) => a - b)
  const tallest = totals.at(-1) ?? 1
  const areEnlarged = tallest > (wereEnlarged ? STILL_UNEVEN : UNEVEN) * (totals[totals.length >> 1] ?? 1)
  const heightOf = (total: number): number => HEIGHT * (total / tallest) ** (areEnlarged ? 0.5 : 1)
  return { bars: buckets.map((bucket) => barOf(bucket, Math.max(LEAST, heightOf(bucket.total)))), areEnlarged }
}

/** A bar of this height, in which small segments are enlarged at the expense of those of less severe levels. */
function barOf({ levels, total }: Histogram['buckets'][number], whole: number): readonly Segment[] {
  let y = HEIGHT
  return LEVELS.toReversed().flatMap((level) => {
    const count = levels[level] ?? 0
    const left = y - (HEIGHT - whole)
    const height = count === 0 ? 0 : Math.min(left, Math.max(LEAST, (count / total) * whole))
    y -= height
    return height === 0 ? [] : [{ level, y, height }]
  })
}

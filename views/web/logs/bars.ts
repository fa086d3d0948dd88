import type { LevelCounts } from '../../../shared/contract/levels.ts'
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
/** Minimum height of a segment, so that a single error among thousands is visible. */
const LEAST = 3

/** The segments of each bucket; the most severe level is at the bottom, where it is easiest to compare. */
export function barsOf({ buckets }: Histogram): readonly (readonly Segment[])[] {
  const tallest = Math.max(1, ...buckets.map(({ total }) => total))
  return buckets.map(({ levels }) => barOf(levels, tallest))
}

function barOf(levels: LevelCounts, tallest: number): readonly Segment[] {
  const counted = LEVELS.toReversed().flatMap((level) => {
    const count = levels[level] ?? 0
    return count > 0 ? [{ level, height: Math.max(LEAST, (count / tallest) * HEIGHT) }] : []
  })
  // Enlarged segments must not push the bar beyond the drawing.
  const over = Math.max(0, counted.reduce((sum, { height }) => sum + height, 0) - HEIGHT)
  const largest = counted.toSorted((a, b) => b.height - a.height)[0]
  let y = HEIGHT
  return counted.map((segment) => {
    const height = segment.height - (segment === largest ? over : 0)
    y -= height
    return { ...segment, y, height }
  })
}

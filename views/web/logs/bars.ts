import type { LevelCounts } from '../../../shared/contract/levels.ts'
import { LEVELS, type Level } from '../../../shared/contract/levels.ts'
import type { Histogram } from '../../schemas/answers.ts'
import { iso } from '../lib/times.ts'

/** A part of a bar: entries of one level. */
export interface Segment {
  readonly level: Level
  readonly y: number
  readonly height: number
}

/** The height of the drawing; the tallest bar has it. */
export const HEIGHT = 100
/** The least height of a segment, so that a single error among thousands is seen. */
const LEAST = 3

/** The segments of each bucket, the most severe at the foot of its bar, where they can be compared. */
export function barsOf({ buckets }: Histogram): readonly (readonly Segment[])[] {
  const tallest = Math.max(1, ...buckets.map(({ total }) => total))
  return buckets.map(({ levels }) => barOf(levels, tallest))
}

function barOf(levels: LevelCounts, tallest: number): readonly Segment[] {
  const counted = LEVELS.toReversed().flatMap((level) => {
    const count = levels[level] ?? 0
    return count > 0 ? [{ level, height: Math.max(LEAST, (count / tallest) * HEIGHT) }] : []
  })
  // Segments that are drawn larger than they are must not make the bar larger than the drawing.
  const over = Math.max(0, counted.reduce((sum, { height }) => sum + height, 0) - HEIGHT)
  const largest = counted.toSorted((a, b) => b.height - a.height)[0]
  let y = HEIGHT
  return counted.map((segment) => {
    const height = segment.height - (segment === largest ? over : 0)
    y -= height
    return { ...segment, y, height }
  })
}

/** The bucket at a part of the drawing's width, from 0 to 1. */
export const bucketAt = ({ buckets }: Histogram, part: number): number =>
  Math.max(0, Math.min(buckets.length - 1, Math.floor(part * buckets.length)))

/** The range of the buckets between two, in either order, as `from` (inclusive) and `to` (exclusive). */
export function rangeOf(
  { buckets, interval }: Histogram,
  one: number,
  other: number,
): { readonly from: string; readonly to: string } | undefined {
  const first = buckets[Math.min(one, other)]
  const last = buckets[Math.max(one, other)]
  if (first === undefined || last === undefined) return undefined
  return { from: first.from, to: iso(Date.parse(last.from) + interval) }
}

/** A time below the drawing: its bucket's place in the width, from 0 to 1. */
export interface TimeTick {
  readonly at: number
  readonly part: number
}

/** Most times below the drawing, and the part of its width that the last one needs. */
const TICKS_MAX = 6
const LABEL_PART = 0.1

/** Times below the drawing, evenly apart; none ahead of `now`, in milliseconds since 1970, and none that would stick out. */
export function ticksOf({ buckets }: Histogram, now: number): readonly TimeTick[] {
  const every = Math.ceil(buckets.length / TICKS_MAX)
  return buckets
    .map(({ from }, index) => ({ at: Date.parse(from), part: index / buckets.length }))
    .filter(({ at, part }, index) => index % every === 0 && at <= now && part <= 1 - LABEL_PART)
}

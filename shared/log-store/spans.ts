import { LEVELS, type Level } from '../contract/levels.ts'
import { timestampOf } from '../contract/timestamp.ts'
import type { Groups, Histogram } from './log-store.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NANOS = 1_000_000n

/** Widths that people read easily, in milliseconds. */
const WIDTHS_MS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 30, 90, 180, 365].map((days) => days * DAY),
]

/** Equal spans, whose bounds are multiples of their width since 1970. */
export interface Spans {
  readonly widthMs: number
  /** The number of the first span, counted from 1970. */
  readonly first: number
  readonly count: number
}

/**
 * The narrowest spans that cover the instants from `from` up to but not including `to` (nanoseconds since 1970), at most `countMax` of
 * them.
 */
export function spansOver(from: bigint, to: bigint, countMax: number): Spans {
  for (let index = 0; ; index += 1) {
    const widthMs = widthAt(index)
    const width = BigInt(widthMs) * NANOS
    const first = from / width
    const count = (to - 1n) / width - first + 1n
    if (count <= BigInt(countMax)) return { widthMs, first: Number(first), count: Number(count) }
  }
}

/** The width at an index. Beyond the list, each is twice the previous one, so that some width covers everything in a single span. */
function widthAt(index: number): number {
  const last = WIDTHS_MS.length - 1
  return (WIDTHS_MS[Math.min(index, last)] ?? DAY) * 2 ** Math.max(0, index - last)
}

/** The beginning of each span, in milliseconds since 1970. */
export const startsOf = ({ widthMs, first, count }: Spans): readonly number[] =>
  Array.from({ length: count }, (_, index) => (first + index) * widthMs)

/** The part of an answer that tells its spans. */
export const headOf = (spans: Spans): Pick<Groups, 'intervalMs' | 'spans'> => ({
  intervalMs: spans.widthMs,
  spans: startsOf(spans).map(timestampOf),
})

/** The entries of a level in the span with an index. */
export interface LevelCount {
  readonly span: number
  readonly level: Level
  readonly count: number
}

/** The histogram of counts that come in any order; those outside of the spans, as of a damaged entry, are left out. */
export function histogramOf(spans: Spans, counts: Iterable<LevelCount>): Histogram {
  const sums = Array.from({ length: spans.count }, () => new Map<Level, number>())
  for (const { span, level, count } of counts) {
    const levels = sums[span]
    levels?.set(level, (levels.get(level) ?? 0) + count)
  }
  const { intervalMs, spans: starts } = headOf(spans)
  const buckets = starts.map((from, index) => {
    const levels = LEVELS.flatMap((level) => {
      const count = sums[index]?.get(level)
      return count === undefined ? [] : [[level, count] as const]
    })
    return { from, total: levels.reduce((sum, [, count]) => sum + count, 0), levels: Object.fromEntries(levels) }
  })
  return { intervalMs, buckets, total: buckets.reduce((sum, { total }) => sum + total, 0) }
}

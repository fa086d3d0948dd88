import type { Segment } from './time-scale.ts'

/** A time without any log, in milliseconds since 1970. */
export interface Gap {
  readonly from: number
  readonly to: number
}

/** No shorter gap is idle time, whatever the rhythm of the flow. */
export const IDLE_MIN_MS = 60_000

/** How much longer than the flow's median gap, and how large a share of what is drawn, a gap must be to be idle time. */
const MEDIANS = 10
const SHARE = 0.1

/**
 * The idle times between ascending times: gaps of more than a minute, of more than ten times the median gap, and of at least a
 * tenth of the time that is left to draw once the longer ones are folded. In order of time.
 */
export function findGaps(times: readonly number[]): readonly Gap[] {
  const gaps = times.slice(1).map((to, index): Gap => ({ from: times[index] ?? to, to }))
  const lengths = gaps.map(lengthOf).sort((a, b) => a - b)
  const idle = Math.max(IDLE_MIN_MS, MEDIANS * median(lengths))
  let left = (times.at(-1) ?? 0) - (times[0] ?? 0)
  const found: Gap[] = []
  for (const gap of gaps.filter((one) => lengthOf(one) > idle).sort((a, b) => lengthOf(b) - lengthOf(a))) {
    if (lengthOf(gap) < SHARE * left) break
    left -= lengthOf(gap)
    found.push(gap)
  }
  return found.sort((a, b) => a.from - b.from)
}

/** The whole of a flow's time, cut at these idle times, which are folded. */
export function segmentsOf(first: number, last: number, folds: readonly Gap[]): readonly Segment[] {
  const starts = [first, ...folds.map(({ to }) => to)]
  return starts.flatMap((from, index) => {
    const fold = folds[index]
    const active = { from, to: fold?.from ?? last, folded: false }
    return fold === undefined ? [active] : [active, { from: fold.from, to: fold.to, folded: true }]
  })
}

const lengthOf = ({ from, to }: Gap): number => to - from

function median(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}

import type { Segment } from './time-scale.ts'

/** A time without any log, in milliseconds since 1970. */
export interface Gap {
  readonly from: number
  readonly to: number
}

/** Shorter gaps are never idle time, whatever the rhythm of the flow. */
export const IDLE_MIN_MS = 60_000

/** An idle gap is at least this many times the flow's median gap, and this share of the drawn time. */
const MEDIANS = 10
const SHARE = 0.1

/**
 * The idle times between ascending times: gaps longer than a minute and ten times the median gap, and at least a tenth of the time that is
 * left to draw once longer ones are folded. In order of time.
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

/** The time of a whole flow, split at these idle times, which are folded. */
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

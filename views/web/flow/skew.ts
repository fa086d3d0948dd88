import type { FlowLog } from './flow-log.ts'

/** Received so long before it was written, a log comes from a clock that is ahead; less may be the gateway's own. */
export const SKEW_MIN_MS = 3_000

/** How far ahead a log's clock was, in milliseconds; 0 where it was not. */
export function skewOf({ written, received }: FlowLog): number {
  const ahead = written - received
  return ahead > SKEW_MIN_MS ? ahead : 0
}

export interface Skew {
  /** Logs received before they were written. */
  readonly count: number
  /** The largest distance in milliseconds. */
  readonly most: number
}

export function skewOfFlow(logs: readonly FlowLog[]): Skew {
  const skews = logs.map(skewOf).filter((skew) => skew > 0)
  return { count: skews.length, most: skews.reduce((a, b) => Math.max(a, b), 0) }
}

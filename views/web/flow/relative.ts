import type { FlowLog, TimeOrder } from './flow-log.ts'

/** A log's distance from others, in milliseconds. */
export interface Relative {
  readonly sinceStart: number
  /** From the log before it in its lane; undefined for the first. */
  readonly sincePrevious: number | undefined
}

/** The distances of logs that are in order of time. */
export function relativeTimes(logs: readonly FlowLog[], order: TimeOrder): ReadonlyMap<FlowLog, Relative> {
  const start = logs[0]?.[order] ?? 0
  const before = new Map<string, number>()
  return new Map(
    logs.map((log) => {
      const at = log[order]
      const previous = before.get(log.lane)
      before.set(log.lane, at)
      return [log, { sinceStart: at - start, sincePrevious: previous === undefined ? undefined : at - previous }]
    }),
  )
}

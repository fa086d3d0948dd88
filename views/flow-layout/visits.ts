import type { FlowLog } from './flow-log.ts'

/** A stay in one Step: its logs between two of other Steps of the same Event. Times in milliseconds since 1970. */
export interface Visit {
  readonly lane: string
  readonly from: number
  readonly to: number
}

/**
 * The visits to Steps, by their first log. Logs of other Events, of Projects and of the Event itself interrupt none: they come
 * from elsewhere at the same time.
 */
export function visitsOf(logs: readonly FlowLog[]): readonly Visit[] {
  const visits: Visit[] = []
  const current = new Map<string, number>()
  for (const { at, group, lane, entry } of logs) {
    if (lane === group || entry.kind === 'application') continue
    const index = current.get(group) ?? -1
    const visit = visits[index]
    if (visit?.lane === lane) visits[index] = { ...visit, to: at }
    else current.set(group, visits.push({ lane, from: at, to: at }) - 1)
  }
  return visits
}

import type { FlowLog } from './flow-log.ts'

/** A stay in one Step: its logs up to the next log of another Step of the same Event. Times in milliseconds since 1970. */
export interface Visit {
  readonly lane: string
  readonly from: number
  readonly to: number
}

/**
 * The visits to Steps, ordered by first log. Logs of other Events, of Projects and of the Event itself do not end a visit: they come from
 * concurrent work.
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

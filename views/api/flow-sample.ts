import { compareTimestamps, timestampOf } from '../../shared/contract/timestamp.ts'
import {
  type Flow,
  type FlowCursor,
  type FlowFilter,
  type LogStoreReader,
  PAGE_GROUPS_MAX,
} from '../../shared/log-store/log-store.ts'
import type { Durations } from '../schemas/answers.ts'

/** Maximum number of flows whose logs are counted for statistics. */
export const FLOWS_SAMPLED_MAX = 1_000
/** Sampling stops after the page that reaches this many groups. */
const GROUPS_SAMPLED_MAX = 5 * PAGE_GROUPS_MAX

/** A part of the flows in the order of their latest activity: those after a place, as long as they were active after `until`. */
export interface Stretch {
  readonly after: FlowCursor | null
  readonly until: string
}

const ALL: readonly Stretch[] = [{ after: null, until: '' }]
/** A prime, so that the ends of the stretches are at different times of the day, whatever the number of days. */
const STRETCHES = 23

/** Equal parts of the time from `from` to `to`, canonical timestamps, for a sample that does not consist of the latest flows alone. */
export function stretchesOf(from: string, to: string): readonly Stretch[] {
  const [begin, end] = [Date.parse(from), Date.parse(to)]
  const at = (part: number): string => timestampOf(Math.round(end - ((end - begin) * part) / STRETCHES))
  return Array.from({ length: STRETCHES }, (_, part) => ({
    after: part === 0 ? null : { rank: 0, lastAt: at(part), correlationKey: '' },
    until: part === STRETCHES - 1 ? '' : at(part + 1),
  }))
}

/**
 * Calls `each` for up to `flowsMax` of the matching flows: about as many from each stretch as it has, those with the latest activity first.
 * Returns how many there were, and whether there are more.
 */
export async function sampleFlows(
  store: LogStoreReader,
  filter: FlowFilter,
  flowsMax: number,
  signal: AbortSignal,
  each: (flow: Flow) => void,
  stretches: readonly Stretch[] = ALL,
): Promise<{ readonly sampled: number; readonly more: boolean }> {
  const share = Math.ceil(flowsMax / stretches.length)
  let sampled = 0
  let groups = 0
  /** Samples a page of a stretch; returns what is left of it. A function of its own, as a loop would keep the page while it waits for the next. */
  const samplePage = async ({ after, until }: Stretch): Promise<readonly Stretch[]> => {
    const page = { limit: Math.min(share, flowsMax - sampled), sort: 'latest', after } as const
    // Without this bound, a search that finds few flows would go on through the stretches after this one.
    const within = until === '' ? filter : { ...filter, from: until }
    const { flows, next } = await store.searchFlows(within, page, signal)
    const own = flows.filter(({ lastAt }) => compareTimestamps(lastAt, until) > 0)
    for (const flow of own) {
      each(flow)
      groups += flow.groups.length
    }
    sampled += own.length
    return next !== null && own.length === flows.length ? [{ after: next, until }] : []
  }
  let rest = stretches
  while (rest.length > 0) {
    const going: Stretch[] = []
    for (const stretch of rest) {
      if (sampled >= flowsMax || groups >= GROUPS_SAMPLED_MAX) return { sampled, more: true }
      going.push(...(await samplePage(stretch)))
    }
    rest = going
  }
  return { sampled, more: false }
}

/** Percentiles by the nearest-rank method, so each is one of the times. Null when there are none. */
export function durationsOf(times: readonly number[]): Durations | null {
  const sorted = times.toSorted((a, b) => a - b)
  const percentile = (percent: number): number => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0
  return sorted.length === 0 ? null : { count: sorted.length, p50: percentile(50), p95: percentile(95) }
}

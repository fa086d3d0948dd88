import {
  type Flow,
  type FlowCursor,
  type FlowFilter,
  type LogStoreReader,
  PAGE_GROUPS_MAX,
} from '../../shared/log-store/log-store.ts'
import type { Durations } from '../schemas/answers.ts'

/** Maximum number of flows that statistics are computed from. */
export const FLOWS_SAMPLED_MAX = 1_000
/** Sampling stops after the page that reaches this many groups. */
const GROUPS_SAMPLED_MAX = 5 * PAGE_GROUPS_MAX

/**
 * Calls `each` for the matching flows, most recently active first, up to `flowsMax`. Returns how many there were, and whether there are
 * more.
 */
export async function sampleFlows(
  store: LogStoreReader,
  filter: FlowFilter,
  flowsMax: number,
  signal: AbortSignal,
  each: (flow: Flow) => void,
): Promise<{ readonly sampled: number; readonly more: boolean }> {
  let sampled = 0
  let groups = 0
  let after: FlowCursor | null = null
  do {
    const page = { limit: flowsMax - sampled, sort: 'latest', after } as const
    const { flows, next } = await store.searchFlows(filter, page, signal)
    for (const flow of flows) {
      each(flow)
      groups += flow.groups.length
    }
    sampled += flows.length
    after = next
  } while (after !== null && sampled < flowsMax && groups < GROUPS_SAMPLED_MAX)
  return { sampled, more: after !== null }
}

/** Percentiles by the nearest-rank method, so each is one of the times. Null when there are none. */
export function durationsOf(times: readonly number[]): Durations | null {
  const sorted = times.toSorted((a, b) => a - b)
  const percentile = (percent: number): number => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0
  return sorted.length === 0 ? null : { count: sorted.length, p50: percentile(50), p95: percentile(95) }
}

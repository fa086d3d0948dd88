import { useEffect, useState } from 'preact/hooks'
import { get, type Params, type Problem } from '../api/client.ts'
import type { FlowSummary, Page } from '../api/types.ts'
import { useEvery } from '../ui/use-every.ts'
import { useFetch } from '../ui/use-fetch.ts'

/** How often the latest flows are asked for while the page is looked at. */
const REFRESH_MS = 5_000
const PAGE = 50

export interface Flows {
  /** Latest activity first; undefined before the first answer. */
  readonly flows: readonly FlowSummary[] | undefined
  readonly problem: Problem | undefined
  /** Reads older ones; undefined where there are none. */
  readonly more: (() => void) | undefined
}

/** The flows that the parameters select: the latest ones as they change, and older ones when asked for. */
export function useFlows(params: Params): Flows {
  const query = { ...params, limit: PAGE }
  const { data, problem, reload } = useFetch<Page<FlowSummary>>('/api/flows', query)
  const [older, setOlder] = useState<Page<FlowSummary>>()
  useEffect(() => setOlder(undefined), [JSON.stringify(params)])
  useEvery(REFRESH_MS, reload)

  const { nextCursor: cursor } = older ?? data ?? { nextCursor: null }
  const more = async (): Promise<void> => {
    const next = await get<Page<FlowSummary>>('/api/flows', { ...query, cursor })
    if (next.ok) setOlder({ ...next.data, items: [...(older?.items ?? []), ...next.data.items] })
  }
  // A flow that logs again is among the latest, and then no longer among the older ones.
  const flows = new Map<string, FlowSummary>()
  for (const flow of [...(data?.items ?? []), ...(older?.items ?? [])])
    if (!flows.has(flow.correlationKey)) flows.set(flow.correlationKey, flow)
  return {
    flows: data && [...flows.values()],
    problem,
    more: cursor === null ? undefined : () => void more(),
  }
}

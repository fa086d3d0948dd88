import { useState } from 'preact/hooks'
import type { Params, Problem } from '../api/client.ts'
import type { FlowSummary, Page } from '../api/types.ts'
import { useEvery } from '../ui/use-every.ts'
import { useFetch } from '../ui/use-fetch.ts'

/** How often the flows are asked for while the page is looked at. */
const REFRESH_MS = 5_000
const FIRST = 50
/** As many as one answer of the API has. */
export const FLOWS_MAX = 1_000

export interface Flows {
  /** Latest activity first; undefined before the first answer. */
  readonly flows: readonly FlowSummary[] | undefined
  readonly problem: Problem | undefined
  /** Whether there are more, older ones. */
  readonly areMore: boolean
  /** Reads them; undefined where there are too many to be shown at once. */
  readonly more: (() => void) | undefined
}

/**
 * The flows that the parameters select, as they change. All that are shown come in one answer: flows move to the top as they log, so
 * that parts which were read at different times would not fit together.
 */
export function useFlows(params: Params): Flows {
  const key = JSON.stringify(params)
  const [asked, setAsked] = useState({ key, limit: FIRST })
  const limit = asked.key === key ? asked.limit : FIRST
  const { data, problem, loading, reload } = useFetch<Page<FlowSummary>>('/api/flows', { ...params, limit })
  useEvery(REFRESH_MS, reload, !loading)
  return {
    flows: data?.items,
    problem,
    areMore: !!data?.nextCursor,
    more: limit < FLOWS_MAX ? () => setAsked({ key, limit: Math.min(2 * limit, FLOWS_MAX) }) : undefined,
  }
}

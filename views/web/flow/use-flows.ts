import { useEffect, useState } from 'preact/hooks'
import { get, type Params } from '../api/client.ts'
import type { FlowSummary, Page } from '../api/types.ts'
import { type Fetched, useFetch } from '../ui/use-fetch.ts'

/** How often the latest flows are asked for while the page is looked at. */
const REFRESH_MS = 5_000
const PAGE = 50

export interface Flows {
  /** Latest activity first; undefined before the first answer. */
  readonly flows: readonly FlowSummary[] | undefined
  readonly state: Fetched<Page<FlowSummary>>
  readonly more: (() => void) | undefined
}

/** The flows that the parameters select: the first page as it changes, and further ones when asked for. */
export function useFlows(params: Params): Flows {
  const state = useFetch<Page<FlowSummary>>('/api/flows', { ...params, limit: PAGE })
  const [older, setOlder] = useState<Page<FlowSummary>>()
  const selection = JSON.stringify(params)
  useEffect(() => setOlder(undefined), [selection])
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && state.reload(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [state.reload])

  const cursor = older === undefined ? state.data?.nextCursor : older.nextCursor
  const more = async (): Promise<void> => {
    const next = await get<Page<FlowSummary>>('/api/flows', { ...params, limit: PAGE, cursor })
    if (next.ok) setOlder({ ...next.data, items: [...(older?.items ?? []), ...next.data.items] })
  }
  // A flow that logs again moves up into the first page.
  const latest = state.data?.items
  const keys = new Set(latest?.map(({ correlationKey }) => correlationKey))
  const flows = latest && [...latest, ...(older?.items ?? []).filter(({ correlationKey }) => !keys.has(correlationKey))]
  return { flows, state, more: cursor ? () => void more() : undefined }
}

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { get, type Problem, type Result } from '../api/client.ts'
import type { Entry, FlowDetail } from '../api/types.ts'
import { useFetch } from '../ui/use-fetch.ts'
import { useLive } from '../ui/use-live.ts'
import { apiOf } from './flow-address.ts'
import { type FlowLog, flowLogOf } from './flow-log.ts'

/** Most logs that are read at first, and that are drawn at all. */
export const LOGS_MAX = 5_000

/** Logs of one answer, and of each "load more" beyond the first ones. */
const PAGE = 1_000

/** What arrived is shown so often at most, and what depends on all of it is asked for again after so long. */
const FLUSH_MS = 250
const BRIEF_MS = 1_000
/** How long a difference between what was read and what there is may last before everything is read again. */
const RECONCILE_MS = 2_000
/** How often a flow that is not there yet is asked for. */
const UNKNOWN_MS = 5_000

export interface FlowData {
  /** The flow without its logs, as it was last told; undefined before, and where there is no such flow. */
  readonly brief: FlowDetail | undefined
  readonly problem: Problem | undefined
  /** Those read so far, in no order. */
  readonly logs: readonly FlowLog[]
  /** Whether the flow has logs that were not read; `more` reads some. */
  readonly partial: boolean
  readonly loading: boolean
  readonly live: 'off' | 'connecting' | 'live' | 'away'
  more(): void
}

type Known = ReadonlyMap<string, FlowLog>

/**
 * A flow with its logs, as it grows. The tail is opened before the list is read, and what comes twice is dropped by id. Where the
 * flow still has more than was read, after a tail that skipped or broke, the list is read again.
 */
export function useFlow(correlationKey: string, follow: boolean): FlowData {
  const tail = apiOf(correlationKey, '/tail')
  const { path, params } = apiOf(correlationKey)
  const arrived = useRef<Entry[]>([])
  const [known, setKnown] = useState<Known>(new Map())
  const [cursor, setCursor] = useState<string | null>()
  const [loading, setLoading] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const [generation, setGeneration] = useState(0)
  const timers = useRef<{ flush?: number | undefined; brief?: number | undefined }>({})

  const live = useLive(follow ? tail.path : null, tail.params, {
    onEntry: (entry) => {
      arrived.current.push(entry)
      timers.current.flush ??= window.setTimeout(flush, FLUSH_MS)
    },
    onSkipped: () => askAgain(),
  })
  const brief = useFetch<FlowDetail>(path, { ...params, limit: 1 })
  const exists = brief.data !== undefined
  const partial = typeof cursor === 'string'

  const add = (entries: readonly Entry[]): void => setKnown((before) => merged(before, entries))
  const flush = (): void => {
    timers.current.flush = undefined
    // Between what was read and what arrives now there may be others; the drawing would show a gap that is none.
    if (!partial) add(arrived.current)
    arrived.current = []
    askAgain()
  }
  const askAgain = (): void => {
    timers.current.brief ??= window.setTimeout(() => {
      timers.current.brief = undefined
      brief.reload()
    }, BRIEF_MS)
  }
  const read = async (from: string | undefined, most: number, signal?: AbortSignal): Promise<void> => {
    setLoading(true)
    let next: string | null | undefined = from
    for (let count = 0; count < most && next !== null; count += PAGE) {
      const page: Result<FlowDetail> = await get<FlowDetail>(path, { ...params, limit: PAGE, cursor: next }, signal)
      if (signal?.aborted) return
      setProblem(page.ok ? undefined : page.problem)
      if (!page.ok) break
      add(page.data.items)
      next = page.data.nextCursor
      setCursor(next)
    }
    setLoading(false)
  }

  useEffect(() => {
    if (!exists) return
    const controller = new AbortController()
    void read(undefined, LOGS_MAX, controller.signal)
    return () => controller.abort()
  }, [exists, generation])

  // The tail may have opened after the list was read: what came between is then missing.
  useEffect(() => {
    if (live === 'live') askAgain()
  }, [live])

  const total = brief.data?.summary.total ?? 0
  useEffect(() => {
    if (loading || partial || total <= known.size) return
    const timer = setTimeout(() => setGeneration((count) => count + 1), RECONCILE_MS)
    return () => clearTimeout(timer)
  }, [brief.data, known, loading, partial])

  const unknown = brief.problem?.code === 'not_found'
  useEffect(() => {
    if (!unknown) return
    const timer = setInterval(brief.reload, UNKNOWN_MS)
    return () => clearInterval(timer)
  }, [unknown, brief.reload])

  useEffect(() => () => Object.values(timers.current).forEach(clearTimeout), [])

  return {
    brief: brief.data,
    problem: brief.problem ?? problem,
    logs: useMemo(() => [...known.values()], [known]),
    partial,
    loading: loading || brief.loading,
    live,
    more: () => void read(cursor ?? undefined, PAGE),
  }
}

function merged(known: Known, entries: readonly Entry[]): Known {
  const fresh = entries.filter(({ id }) => !known.has(id))
  return fresh.length === 0
    ? known
    : new Map([...known, ...fresh.map((entry) => [entry.id, flowLogOf(entry)] as const)])
}

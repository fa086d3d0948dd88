import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Entry, Flow, FlowPage } from '../../schemas/answers.ts'
import { get, type Params, type Problem, type Result, type StreamHandlers, stream, urlOf } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { queue } from '../logs/rows.ts'
import { useEvery } from '../ui/use-every.ts'
import { apiOf } from './flow-address.ts'

/** Maximum number of logs loaded at first, and of logs drawn. */
export const LOGS_MAX = 5_000

/** Logs per request, and per "read more" beyond the first ones. */
const PAGE = 1_000

/** Minimum interval between redraws for arriving logs, and between reads of the summary; in milliseconds. */
const FLUSH_MS = 250
const ASK_MS = 1_000
/** Poll interval for a flow that does not exist yet or whose summary lags behind its logs, in milliseconds. */
const BEHIND_MS = 5_000

export interface FlowData {
  /** The flow without its logs; undefined before the first answer, and if there is no such flow. */
  readonly brief: Flow | undefined
  readonly problem: Problem | undefined
  /** Reads the summary again. */
  reload(): void
  /** Whether the Team has no log with the key. */
  readonly unknown: boolean
  /** The logs loaded so far, unordered. */
  readonly entries: readonly Entry[]
  /** Loads more; undefined once all are loaded. */
  readonly more: (() => void) | undefined
  readonly loading: boolean
  readonly live: 'off' | 'connecting' | 'live' | 'away'
}

/**
 * A flow with its logs, kept up to date. Logs are read again whenever the tail opens or skips some, and entries that the tail delivers
 * meanwhile are queued: no log is lost between the two, and duplicates are dropped by id.
 */
export function useFlow(correlationKey: string, follow: boolean): FlowData {
  const tail = apiOf(correlationKey, '/tail')
  const { data, unknown, ...brief } = useBrief(correlationKey)
  const { known, add, cursor, readAll, ...logs } = useLogs(correlationKey)
  const [ticks, setTicks] = useState(0)
  const [stale, setStale] = useState(false)
  const arrived = useRef<Entry[]>([])
  const live = useLive(follow ? tail.path : null, tail.params, {
    onEntry: (entry) => {
      queue(arrived.current, entry)
      if (arrived.current.length === 1) setTimeout(() => setTicks((count) => count + 1), FLUSH_MS)
    },
    onSkipped: readAll,
  })

  useEffect(() => {
    setStale(true)
    if (logs.loading) return
    // While pages are missing, newly arrived logs are dropped: the drawing would show a false gap before them.
    if (cursor === null && arrived.current.length > 0) add(arrived.current)
    arrived.current = []
  }, [ticks, logs.loading, live])
  useEffect(() => {
    if (data !== undefined && (live === 'live' || cursor === undefined)) readAll()
  }, [data === undefined, live])
  useEffect(() => {
    // Without a tail, only the summary's counts reveal new logs.
    if (live === 'away' && cursor === null && data !== undefined && known.size < data.summary.total) readAll()
  }, [data])
  useEvery(BEHIND_MS, readAll, logs.problem !== undefined)
  // A running flow may stall without any new log.
  const isBehind = data === undefined || known.size > data.summary.total || data.summary.state === 'running'
  useEvery(
    stale ? ASK_MS : BEHIND_MS,
    () => {
      setStale(false)
      brief.reload()
    },
    !brief.loading && (stale || isBehind),
  )

  const problem = brief.problem ?? logs.problem
  return {
    brief: data,
    problem,
    reload: brief.reload,
    unknown,
    entries: useMemo(() => [...known.values()], [known]),
    more: logs.more,
    loading: logs.loading && problem === undefined && !unknown,
    live,
  }
}

/** The flow's summary, Steps and Projects, without its logs. */
function useBrief(correlationKey: string) {
  const { path, params } = apiOf(correlationKey)
  // Requested by its path, a missing flow would be an error, also in the browser's console.
  const found = useFetch<FlowPage>('/api/flows', { correlationKey: correlationKey.toWellFormed() })
  const isThere = found.data?.items.length === 1
  const brief = useFetch<Flow>(isThere ? path : null, { ...params, limit: 1 })
  return { ...(isThere ? brief : found), data: brief.data, unknown: found.data !== undefined && !isThere }
}

/** The loaded logs; reads run one at a time. */
function useLogs(correlationKey: string) {
  const { path, params } = apiOf(correlationKey)
  const [known, setKnown] = useState<ReadonlyMap<string, Entry>>(new Map())
  const [cursor, setCursor] = useState<string | null>()
  const [loading, setLoading] = useState(true)
  const [problem, setProblem] = useState<Problem>()
  const last = useRef(Promise.resolve())
  const isWaiting = useRef(false)
  const add = (entries: readonly Entry[]): void =>
    setKnown((before) => new Map([...before, ...entries.map((entry) => [entry.id, entry] as const)]))

  const read = async (from: string | undefined, most: number): Promise<void> => {
    await last.current
    isWaiting.current = false
    setLoading(true)
    let next: string | null | undefined = from
    for (let count = 0; count < most && next !== null; count += PAGE) {
      const page: Result<Flow> = await get<Flow>(path, { ...params, limit: PAGE, cursor: next })
      setProblem(page.ok ? undefined : page.problem)
      if (!page.ok) break
      add(page.data.items)
      next = page.data.nextCursor
    }
    if (next !== undefined) setCursor(next)
    setLoading(false)
  }
  const readAll = (): void => {
    // A read that is still waiting will cover this one.
    if (isWaiting.current) return
    isWaiting.current = true
    last.current = read(undefined, Math.max(LOGS_MAX, known.size))
  }
  const readMore = (from: string) => (): void => {
    last.current = read(from, PAGE)
  }
  return {
    known,
    add,
    cursor,
    loading,
    problem,
    readAll,
    more: typeof cursor === 'string' ? readMore(cursor) : undefined,
  }
}

/** Follows a tail unless the path is null; restarts when the path or parameters change. */
function useLive(
  path: string | null,
  params: Params,
  handlers: Omit<StreamHandlers, 'onState'>,
): 'off' | 'connecting' | 'live' | 'away' {
  const [state, setState] = useState<'off' | 'connecting' | 'live' | 'away'>('off')
  const latest = useRef(handlers)
  latest.current = handlers
  useEffect(() => {
    if (path === null) return setState('off')
    return stream(path, params, {
      onEntry: (entry) => latest.current.onEntry(entry),
      onSkipped: (count) => latest.current.onSkipped?.(count),
      onState: setState,
    })
  }, [path === null ? null : urlOf(path, params)])
  return state
}

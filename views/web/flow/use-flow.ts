import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Entry, Flow, FlowPage } from '../../schemas/answers.ts'
import { get, type Problem, type Result } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { type TailState, useTail } from '../logs/use-tail.ts'
import { useEvery } from '../ui/use-every.ts'
import { apiOf } from './flow-address.ts'

/** Maximum number of logs loaded at first, and of logs drawn. */
export const LOGS_MAX = 5_000

/** Maximum number of logs that are kept while a tail is followed: each batch of it copies and sorts them all. */
const KEPT_MAX = 20_000

/** Logs per request, and per "read more" beyond the first ones. */
const PAGE = 1_000

/** Minimum interval between reads of the summary, in milliseconds. */
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
  readonly live: TailState
}

/**
 * A flow with its logs, kept up to date. Logs are read again whenever the tail opens or skips some, and entries that the tail delivers
 * meanwhile are queued: no log is lost between the two, and duplicates are dropped by id.
 */
export function useFlow(correlationKey: string, follow: boolean): FlowData {
  const { path, params } = apiOf(correlationKey, '/tail')
  const { data, unknown, ...brief } = useBrief(correlationKey)
  const { known, absorb, cursor, readAll, ...logs } = useLogs(correlationKey)
  const [stale, setStale] = useState(false)
  const tail = useTail(follow ? path : null, params, {
    isWaiting: () => logs.loading,
    absorb,
    onEntry: () => setStale(true),
    onSkipped: readAll,
  })
  const live = tail.state

  useEffect(() => {
    setStale(true)
    tail.flush()
  }, [logs.loading, live])
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

/** The cursor of what came after followed logs: only the API makes cursors, and it has read none of these. */
const FROM_START = ''

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
    last.current = read(from, from === FROM_START ? known.size + PAGE : PAGE)
  }
  const absorb = (entries: readonly Entry[]): void => {
    // While pages are missing, newly arrived logs are dropped: the drawing would show a false gap before them.
    if (cursor !== null) return
    if (known.size < KEPT_MAX) add(entries)
    else setCursor(FROM_START)
  }
  return {
    known,
    absorb,
    cursor,
    loading,
    problem,
    readAll,
    more: typeof cursor === 'string' ? readMore(cursor) : undefined,
  }
}

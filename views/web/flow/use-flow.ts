import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { get, type Problem, type Result } from '../api/client.ts'
import type { Entry, FlowDetail } from '../api/types.ts'
import { useEvery } from '../ui/use-every.ts'
import { useFetch } from '../ui/use-fetch.ts'
import { useLive } from '../ui/use-live.ts'
import { apiOf } from './flow-address.ts'

/** Most logs that are read at first, and that are drawn at all. */
export const LOGS_MAX = 5_000

/** Logs of one answer, and of each "read more" beyond the first ones. */
const PAGE = 1_000

/** What arrived is shown so often at most, and what depends on all of it is asked for again after so long. */
const FLUSH_MS = 250
const ASK_MS = 1_000
/** How often a flow that is not there yet is asked for. */
const UNKNOWN_MS = 5_000

export interface FlowData {
  /** The flow, with its logs apart; undefined before it was read, and where there is no such flow. */
  readonly brief: FlowDetail | undefined
  readonly problem: Problem | undefined
  /** Those read so far, in no order. */
  readonly entries: readonly Entry[]
  /** Reads more; undefined where all were read. */
  readonly more: (() => void) | undefined
  readonly loading: boolean
  readonly live: 'off' | 'connecting' | 'live' | 'away'
}

/**
 * A flow with its logs, as it grows. The tail is opened before the list is read, and what comes twice is dropped by id. Where the
 * flow had more than was read, after a tail that skipped or broke, the list is read again.
 */
export function useFlow(correlationKey: string, follow: boolean): FlowData {
  const { path, params } = apiOf(correlationKey)
  const tail = apiOf(correlationKey, '/tail')
  const [known, setKnown] = useState<ReadonlyMap<string, Entry>>(new Map())
  const [cursor, setCursor] = useState<string | null>()
  const [loading, setLoading] = useState(true)
  const [problem, setProblem] = useState<Problem>()
  const arrived = useRef<Entry[]>([])
  const missed = useRef(0)
  const reading = useRef(false)
  const [ticks, setTicks] = useState(0)

  const live = useLive(follow ? tail.path : null, tail.params, {
    onEntry: (entry) => {
      if (arrived.current.push(entry) === 1) setTimeout(() => setTicks((count) => count + 1), FLUSH_MS)
    },
  })
  const brief = useFetch<FlowDetail>(path, { ...params, limit: 1 })
  const { data } = brief

  const add = (entries: readonly Entry[]): void =>
    setKnown((before) => new Map([...before, ...entries.map((entry) => [entry.id, entry] as const)]))
  const read = async (from: string | undefined, most: number): Promise<void> => {
    if (reading.current) return
    reading.current = true
    setLoading(true)
    let next: string | null | undefined = from
    for (let count = 0; count < most && next !== null; count += PAGE) {
      const page: Result<FlowDetail> = await get<FlowDetail>(path, { ...params, limit: PAGE, cursor: next })
      setProblem(page.ok ? undefined : page.problem)
      if (!page.ok) break
      add(page.data.items)
      next = page.data.nextCursor
      setCursor(next)
    }
    reading.current = false
    setLoading(false)
  }

  useEffect(() => {
    // Between what was read and what arrives now there may be others; the drawing would show a gap that is none.
    if (cursor === null) add(arrived.current)
    arrived.current = []
    const timer = setTimeout(brief.reload, ASK_MS)
    return () => clearTimeout(timer)
    // A tail may have opened only after the list was read: what came between is then asked for.
  }, [ticks, live])
  useEffect(() => {
    const total = data?.summary.total ?? 0
    const missing = cursor === null && known.size < total
    // What is missing twice, a while apart, does not come by the tail any more: it skipped it, or opened too late.
    if (data !== undefined && (cursor === undefined || (missing && missed.current === total)))
      void read(undefined, LOGS_MAX)
    else if (missing) setTimeout(brief.reload, ASK_MS)
    missed.current = missing && missed.current !== total ? total : 0
  }, [data])
  useEvery(UNKNOWN_MS, brief.reload, brief.problem?.code === 'not_found')

  return {
    brief: data,
    problem: brief.problem ?? problem,
    entries: useMemo(() => [...known.values()], [known]),
    more: typeof cursor === 'string' ? () => void read(cursor, PAGE) : undefined,
    loading: loading && brief.problem === undefined,
    live,
  }
}

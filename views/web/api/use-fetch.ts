import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createStore, useStore } from '../ui/store.ts'
import { useEvery } from '../ui/use-every.ts'
import { useLatest } from '../ui/use-latest.ts'
import { connection, get, type Params, type Problem, urlOf } from './client.ts'

export interface Fetched<T> {
  /** The last answer; kept while the next one is loading or has failed, as `loading` and `problem` tell. */
  readonly data: T | undefined
  readonly problem: Problem | undefined
  readonly loading: boolean
  /** How long the last answer took, in milliseconds. */
  readonly tookMs: number | undefined
  reload(): void
}

const epoch = createStore(0)

/** Repeats every fetch on the page: the server is back, or the user has signed in again. */
export const reloadAll = (): void => epoch.set(epoch.get() + 1)

connection.subscribe(() => {
  if (connection.get() === 'up') reloadAll()
})

/** Fetches an API path (null for none), again whenever the path or parameters change, and after a failure when the server says so. */
export function useFetch<T>(path: string | null, params: Params = {}): Fetched<T> {
  const url = path === null ? null : urlOf(path, params)
  const everyone = useStore(epoch)
  const [own, setOwn] = useState(0)
  const [state, setState] = useState<Omit<Fetched<T>, 'reload'>>({ ...NOTHING, loading: url !== null })
  const wanted = useLatest(url)
  useEffect(() => {
    if (path === null) return setState(NOTHING)
    const controller = new AbortController()
    const began = performance.now()
    setState((before) => ({ ...before, loading: true }))
    void get<T>(path, params, controller.signal).then((result) => {
      // Effects run after the browser has painted: for that long, the request for an earlier URL is not aborted yet.
      if (controller.signal.aborted || wanted.current !== url) return
      const tookMs = performance.now() - began
      setState(({ data }) =>
        result.ok
          ? { data: result.data, problem: undefined, loading: false, tookMs }
          : { data, problem: result.problem, loading: false, tookMs },
      )
    })
    return () => controller.abort()
  }, [url, everyone, own])
  const reload = (): void => setOwn((count) => count + 1)
  const retryAfter = state.problem?.retryAfter ?? 0
  useEvery(retryAfter * 1_000, reload, retryAfter > 0 && !state.loading)
  return useMemo(() => ({ ...state, reload }), [state])
}

/** Whether the data answers the question, given the same object or text while only its requests are repeated, and not an earlier one. */
export function useAnswers(data: unknown, question: unknown): boolean {
  const answered = useRef({ data, question })
  if (answered.current.data !== data) answered.current = { data, question }
  return answered.current.question === question
}

const NOTHING = { data: undefined, problem: undefined, loading: false, tookMs: undefined } as const

import { type Dispatch, type StateUpdater, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import type { EntryPage, QueryReading } from '../../schemas/answers.ts'
import { get, type Params, type Problem } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { toast } from '../ui/toast.tsx'
import { folderOf } from './facts.ts'
import { type AddressParams, filterOf, selectionOf } from './filters.ts'
import {
  type Followed,
  follow,
  NOTHING_FOLLOWED,
  type Order,
  type Rows,
  readAgain,
  released,
  withPage,
} from './rows.ts'
import { type TailState, useTail } from './use-tail.ts'

/** Entries read at a time. */
const PAGE = 100
/** The most that the API gives at a time. */
const FIRST_MAX = 1_000

export interface LogRows extends Followed {
  readonly reading: QueryReading | undefined
  readonly problem: Problem | undefined
  /** Whether the list is being read anew. */
  readonly loading: boolean
  /** Whether there has been an answer. */
  readonly answered: boolean
  /** Whether more rows are being read. */
  readonly fetching: boolean
  /** When the list was asked for, in milliseconds since 1970, and what it was asked with. */
  readonly askedAt: number
  readonly filter: Filter
  /** When the same question was answered again; 0 where it was not. */
  readonly answeredAgainAt: number
  /** How long the last answer took, in milliseconds; undefined before the first. */
  readonly tookMs: number | undefined
  readonly live: TailState
  /** How many entries the server has left out of the tail since the list was read. */
  readonly skipped: number
  /** How many entries the tail has brought since then. */
  readonly arrived: number
  readonly fetchMore: () => void
  readonly reload: () => void
  /** Shows what is held back. */
  readonly release: () => void
}

type Filter = Readonly<Record<string, string | undefined>>
type SetFollowed = Dispatch<StateUpdater<Followed>>

/** The parameters of the list, one object for as long as none of them changes. */
interface Question {
  readonly key: string
  readonly path: string
  readonly order: Order
  readonly askedAt: number
  readonly filter: Filter
  /** The parameters of each page. */
  readonly asked: Params
  /** How many rows to ask for first. */
  readonly first: number
}

const NO_COUNTS = { skipped: 0, arrived: 0, answeredAgainAt: 0 }

/**
 * The rows of a list, and the tail that goes on from them. The tail is open before the list is read, and what it brings meanwhile
 * waits, so that no entry falls between the two; what comes twice is dropped by its id.
 */
export function useRows(kind: EntryKind, params: AddressParams, fields: string, paused: boolean): LogRows {
  const [generation, setGeneration] = useState(0)
  const [state, setState] = useState(NOTHING_FOLLOWED)
  const question = useQuestion(kind, params, generation, fields, state.rows.entries.length)
  const { key, path, order, filter, asked } = question
  const [counts, setCounts] = useState(NO_COUNTS)
  const isLive = params['live'] === '1'
  const selected = { ...selectionOf(params), fields }
  const tail = useTail(isLive ? `${path}/tail` : null, selected, {
    absorb: (entries) => {
      setState((before) => follow(before, entries, paused, filter['from']))
      setCounts((before) => ({ ...before, arrived: before.arrived + entries.length }))
    },
    onSkipped: (count) => setCounts((before) => ({ ...before, skipped: before.skipped + count })),
    onReturn: () => void catchUp(question, paused, setState),
  })
  const first = useFetch<EntryPage>(isLive && !tail.opened ? null : path, { ...asked, limit: question.first })
  const tookMs = useDuration(first.loading)
  const answered = useRef<Question>()
  const [fetching, setFetching] = useState(false)
  const fetchMore = async (): Promise<void> => {
    const { next } = state.rows
    const of = answered.current
    if (next === null || fetching) return
    setFetching(true)
    const answer = await get<EntryPage>(path, { ...asked, limit: PAGE, ...next })
    setFetching(false)
    if (of !== answered.current) return
    if (!answer.ok) return toast(`More logs could not be read. ${answer.problem.message}`, 'bad')
    const { items, nextCursor } = answer.data
    // Where the list was read anew meanwhile, it goes on from somewhere else.
    setState((before) =>
      before.rows.next === next ? { ...before, rows: withPage(before.rows, items, nextOf(nextCursor, next)) } : before,
    )
  }

  const loading = first.loading || (isLive && !tail.opened)

  useEffect(() => {
    if (first.data === undefined) return
    const { items, nextCursor } = first.data
    const again = answered.current === question
    setState((before) =>
      again
        ? readAgain(before, items, nextOf(nextCursor), paused, filter['from'])
        : { ...NOTHING_FOLLOWED, rows: { entries: items, order, next: nextOf(nextCursor) } },
    )
    answered.current = question
    setCounts({ ...NO_COUNTS, answeredAgainAt: again ? systemClock.now() : 0 })
  }, [first.data])
  useEffect(() => {
    if (loading) tail.wait()
    // Rows that answer another question, as this one's could not be read, are none that the tail goes on from.
    else if (answered.current === question) tail.go()
  }, [loading, key])

  const reload = (): void => {
    setGeneration((count) => count + 1)
    first.reload()
  }
  const release = (): void => {
    const next = released(state)
    if (next === undefined) reload()
    else setState(next)
  }
  useEffect(() => {
    if (!paused && state.heldCount > 0) release()
  }, [paused])

  return {
    ...state,
    ...counts,
    fetching,
    fetchMore: () => void fetchMore(),
    reading: first.data?.query,
    problem: first.problem,
    loading,
    answered: first.data !== undefined,
    askedAt: question.askedAt,
    filter,
    tookMs,
    live: tail.state,
    reload,
    release,
  }
}

/** The parameters of the page after the one that was asked with these. */
const nextOf = (cursor: string | null, asked: Rows['next'] = {}): Rows['next'] =>
  cursor === null ? null : { ...asked, cursor }

function useQuestion(
  kind: EntryKind,
  params: AddressParams,
  generation: number,
  fields: string,
  shown: number,
): Question {
  const isLive = params['live'] === '1'
  const order = params['order'] === 'asc' && !isLive ? 'asc' : 'desc'
  const path = `/api/${folderOf(kind)}`
  const logs = JSON.stringify([selectionOf(params), params['from'], params['to'], order, isLive, generation])
  const key = `${logs} ${fields}`
  const before = useRef(logs)
  return useMemo(() => {
    const askedAt = systemClock.now()
    // The same logs with other values: who has gone down keeps the place.
    const first = before.current === logs ? Math.min(FIRST_MAX, Math.max(PAGE, shown)) : PAGE
    before.current = logs
    const filter = filterOf(params, askedAt)
    return { key, path, order, askedAt, filter, asked: { ...filter, fields, order }, first }
  }, [key])
}

/** After a tail was away: what came meanwhile, or, where that was more than a page, the word that the list has to be read again. */
async function catchUp({ path, filter, asked }: Question, paused: boolean, setState: SetFollowed): Promise<void> {
  const answer = await get<EntryPage>(path, { ...asked, limit: PAGE })
  if (!answer.ok) return
  const { items, nextCursor } = answer.data
  setState((before) => readAgain(before, items, nextOf(nextCursor), paused, filter['from']))
}

/** How long it was on the last time, in milliseconds. */
function useDuration(on: boolean): number | undefined {
  const [ms, setMs] = useState<number>()
  const began = useRef<number>()
  useEffect(() => {
    if (on) began.current = performance.now()
    else if (began.current !== undefined) setMs(performance.now() - began.current)
  }, [on])
  return ms
}

import { type Dispatch, type StateUpdater, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import type { EntryPage, QueryReading } from '../../schemas/answers.ts'
import { get, type Params, type Problem } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { toast } from '../ui/toast.tsx'
import { rowsToReturn } from '../ui/use-address.ts'
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

/** Entries per page. */
const PAGE = 100
/** The API's maximum per request. */
const FIRST_MAX = 1_000

export interface LogRows extends Followed {
  readonly reading: QueryReading | undefined
  readonly problem: Problem | undefined
  /** Whether the list is being reloaded. */
  readonly loading: boolean
  /** The answer that the rows come from; undefined until it has arrived. */
  readonly answer: EntryPage | undefined
  /** Whether more rows are being read. */
  readonly fetching: boolean
  /** When the list was requested, in milliseconds since 1970, and with which parameters. */
  readonly askedAt: number
  readonly filter: Filter
  /** When the same request was answered again, in milliseconds since 1970; 0 if it was not. */
  readonly answeredAgainAt: number
  /** Duration of the last request in milliseconds; undefined before the first answer. */
  readonly tookMs: number | undefined
  readonly live: TailState
  /** How many entries the server has skipped in the tail since the list was read. */
  readonly skipped: number
  /** How many entries the tail has delivered since then. */
  readonly arrived: number
  readonly fetchMore: () => void
  readonly reload: () => void
  /** Shows the entries held back. */
  readonly release: () => void
}

type Filter = Readonly<Record<string, string | undefined>>
type SetFollowed = Dispatch<StateUpdater<Followed>>

/** The parameters of the list; the same object as long as none of them changes. */
interface Question {
  readonly key: string
  readonly path: string
  readonly order: Order
  readonly askedAt: number
  readonly filter: Filter
  /** The parameters of every page. */
  readonly asked: Params
  /** The number of rows in the first request. */
  readonly first: number
}

const NO_COUNTS = { skipped: 0, arrived: 0, answeredAgainAt: 0 }

/**
 * The rows of a list, and the tail that continues them. The tail opens before the list is read, and its entries are queued meanwhile, so
 * that no entry is lost between the two; duplicates are dropped by id.
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
    onReturn: () => void catchUp(question, paused, (change) => answered.current === question && setState(change)),
  })
  const first = useFetch<EntryPage>(isLive && !tail.opened ? null : path, { ...asked, limit: question.first })
  const tookMs = useDuration(first.loading)
  const answered = useRef<Question>()
  /** The page that is being read; a page of an earlier list does not keep this list from being read on. */
  const [fetched, setFetched] = useState<Rows['next']>(null)
  const fetching = fetched !== null && fetched === state.rows.next
  const fetchMore = async (): Promise<void> => {
    const { next } = state.rows
    const of = answered.current
    if (next === null || fetching) return
    setFetched(next)
    const answer = await get<EntryPage>(path, { ...asked, limit: PAGE, ...next })
    setFetched((before) => (before === next ? null : before))
    if (of !== answered.current) return
    if (!answer.ok) return toast(`More logs could not be read. ${answer.problem.message}`, 'bad')
    const { items, nextCursor } = answer.data
    // If the list was reloaded meanwhile, this page does not continue it.
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
    // If this request failed, the rows still belong to an earlier one, and the tail must not continue them.
    else if (answered.current === question) tail.go()
  }, [loading, key])

  const reload = (): void => {
    setGeneration((count) => count + 1)
    first.reload()
  }
  const release = (): void => {
    if (released(state) === undefined) reload()
    // Entries may have arrived since the list was drawn.
    else setState((before) => released(before) ?? before)
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
    answer: answered.current === question ? first.data : undefined,
    askedAt: question.askedAt,
    filter,
    tookMs: first.problem === undefined ? tookMs : undefined,
    live: tail.state,
    reload,
    release,
  }
}

/** The parameters of the next page, given those of the current one. */
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
    // Only the requested values changed: reloads as many rows as are shown, so that the reader's position is kept.
    const kept = before.current === logs ? shown : 0
    // A reader who returns finds a page more, as further entries may have arrived.
    const first = Math.min(FIRST_MAX, Math.max(PAGE + rowsToReturn(), kept))
    before.current = logs
    const filter = filterOf(params, askedAt)
    return { key, path, order, askedAt, filter, asked: { ...filter, fields, order }, first }
  }, [key])
}

/** After a tail was away: adds missed entries or, if they exceed a page, marks the list as incomplete. */
async function catchUp({ path, filter, asked }: Question, paused: boolean, setState: SetFollowed): Promise<void> {
  const answer = await get<EntryPage>(path, { ...asked, limit: PAGE })
  if (!answer.ok) return toast(`Logs of the outage could not be read. ${answer.problem.message}`, 'bad')
  const { items, nextCursor } = answer.data
  setState((before) => readAgain(before, items, nextOf(nextCursor), paused, filter['from']))
}

/** Duration of the last phase in which `on` was true, in milliseconds. */
function useDuration(on: boolean): number | undefined {
  const [ms, setMs] = useState<number>()
  const began = useRef<number>()
  useEffect(() => {
    if (on) began.current = performance.now()
    else if (began.current !== undefined) setMs(performance.now() - began.current)
  }, [on])
  return ms
}

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { plural } from '../../flow-layout/format.ts'
import type { EntryPage, QueryReading } from '../../schemas/answers.ts'
import { get, type Params, type Problem } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { createStore, useStore } from '../ui/store.ts'
import { toast } from '../ui/toast.tsx'
import { rowsToReturn } from '../ui/use-address.ts'
import { folderOf } from './facts.ts'
import { type AddressParams, filterOf, selectionOf } from './filters.ts'
import {
  FOLLOWED_MAX,
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
const READ_MAX = 1_000
/** Maximum number of rows read for a reader who returns to a place among them. */
const RETURN_MAX = 10_000

/** The question that the parameters of a list ask. */
interface Question {
  /** The same for questions that one answer answers; another one once the list is to be read anew. */
  readonly key: string
  /** The parameters that select the logs, as a text. */
  readonly logs: string
  readonly path: string
  readonly order: Order
  /** When it was asked, in milliseconds since 1970. */
  readonly askedAt: number
  readonly filter: Readonly<Record<string, string | undefined>>
  /** The parameters of every page. */
  readonly asked: Params
  /** The number of rows to read at first. */
  readonly wanted: number
}

/** The rows that were loaded, and all that is known about them. A new question replaces them, but only once its answer is there. */
interface Loaded extends Followed {
  /** The question that the rows answer; undefined before the first answer. */
  readonly question: Question | undefined
  /** When the same question was answered again, in milliseconds since 1970; 0 if it was not. */
  readonly answeredAgainAt: number
  /** The `next` of the rows whose page is being read; it may be that of earlier rows, which keeps none from being read on. */
  readonly beingRead: Rows['next']
  /** How many entries the server has skipped in the tail. */
  readonly skipped: number
  /** How many entries the tail has delivered. */
  readonly arrived: number
}

const NOT_READ: Loaded = {
  ...NOTHING_FOLLOWED,
  question: undefined,
  answeredAgainAt: 0,
  beingRead: null,
  skipped: 0,
  arrived: 0,
}

export interface LogRows
  extends Omit<Loaded, 'question' | 'beingRead'>,
    Pick<Question, 'order' | 'askedAt' | 'filter'> {
  readonly reading: QueryReading | undefined
  readonly problem: Problem | undefined
  /** Whether the list is being reloaded. */
  readonly loading: boolean
  /** The answer that the rows come from; undefined until it has arrived. */
  readonly answer: EntryPage | undefined
  /** Whether more rows are being read. */
  readonly fetching: boolean
  /** Duration of the last request in milliseconds; undefined before the first answer. */
  readonly tookMs: number | undefined
  readonly live: TailState
  readonly fetchMore: () => void
  readonly reload: () => void
  /** Shows the entries held back. */
  readonly release: () => void
}

/**
 * The rows of a list, and the tail that continues them. The tail opens before the list is read, and its entries wait for the answer, so that
 * no entry is lost between the two; duplicates are dropped by id. The first page is read again whenever entries may have been missed.
 * Rows that are not shown are not read: only how the search is read, and whether the store answers, is asked for.
 */
export function useRows(
  kind: EntryKind,
  params: AddressParams,
  fields: string,
  paused: boolean,
  isShown: boolean,
): LogRows {
  const [store] = useState(() => createStore(NOT_READ))
  const list = useStore(store)
  const [generation, setGeneration] = useState(0)
  const question = useQuestion(kind, params, fields, generation, list)
  const { path, order, asked, askedAt, filter } = question
  const isAnswered = list.question?.key === question.key
  const isListed = isShown || isAnswered
  const isLive = params['live'] === '1'
  const tail = useTail(
    isLive ? `${path}/tail` : null,
    { ...selectionOf(params), fields },
    {
      // If the request failed, the rows still answer an earlier question, and the tail must not continue them.
      isWaiting: () => isListed && (loading || !isAnswered),
      absorb: (entries) => {
        const before = store.get()
        const now = { ...before, arrived: before.arrived + entries.length }
        store.set(isListed ? follow(now, entries, paused) : now)
      },
      onSkipped: (count) => store.set({ ...store.get(), skipped: store.get().skipped + count }),
      onReturn: () => first.reload(),
    },
  )
  const limit = isListed ? Math.min(READ_MAX, question.wanted) : 1
  const first = useFetch<EntryPage>(isLive && !tail.opened ? null : path, { ...asked, limit })
  const loading = first.loading || (isLive && !tail.opened)
  /** The first page is there, and further ones up to the place of a reader who returns are not. */
  const isReadingOn = isListed && !isAnswered && first.data !== undefined && first.problem === undefined

  useEffect(() => {
    const page = first.data
    if (page === undefined || !isListed) return
    const show = (all: EntryPage): void => store.set(answered(store.get(), question, all, paused))
    if (isAnswered || page.nextCursor === null || page.items.length >= question.wanted) return show(page)
    const controller = new AbortController()
    void withFurther(page, question, controller.signal).then((all) => {
      if (!controller.signal.aborted) show(all)
    })
    return () => controller.abort()
  }, [first.data])
  useEffect(tail.flush, [loading, isAnswered])

  const fetchMore = async (): Promise<void> => {
    const before = store.get()
    const { next } = before.rows
    if (next === null || before.beingRead === next) return
    store.set({ ...before, beingRead: next })
    const page = await get<EntryPage>(path, { ...asked, limit: PAGE, ...next })
    const now = store.get()
    // Other rows, which this page does not continue, may be there meanwhile.
    if (now.rows.next !== next) return
    const rows = page.ok ? withPage(now.rows, page.data.items, nextOf(page.data.nextCursor, next)) : now.rows
    store.set({ ...now, rows, beingRead: null })
    if (!page.ok) toast(`More logs could not be read. ${page.problem.message}`, 'bad')
  }
  const reload = (): void => {
    setGeneration((count) => count + 1)
    first.reload()
  }
  const release = (): void => {
    const shown = released(store.get())
    if (shown === undefined) reload()
    else store.set(shown)
  }
  useEffect(() => {
    if (!paused && list.heldCount > 0) release()
  }, [paused])

  return {
    ...list,
    order,
    askedAt,
    filter,
    loading: loading || isReadingOn,
    reload,
    release,
    fetching: list.beingRead !== null && list.beingRead === list.rows.next,
    fetchMore: () => void fetchMore(),
    reading: first.data?.query,
    problem: first.problem,
    answer: isAnswered ? first.data : undefined,
    tookMs: first.problem === undefined ? first.tookMs : undefined,
    live: tail.state,
  }
}

function useQuestion(
  kind: EntryKind,
  params: AddressParams,
  fields: string,
  generation: number,
  list: Loaded,
): Question {
  const isLive = params['live'] === '1'
  const order = params['order'] === 'asc' && !isLive ? 'asc' : 'desc'
  const logs = JSON.stringify([selectionOf(params), params['from'], params['to'], order, isLive, generation])
  return useMemo(() => {
    const askedAt = systemClock.now()
    // Only the requested values changed: reloads as many rows as are shown, so that the reader's position is kept.
    const kept = list.question?.logs === logs ? list.rows.entries.length : 0
    // A reader who returns finds a page more, as further entries may have arrived.
    const wanted = Math.min(isLive ? FOLLOWED_MAX : RETURN_MAX, Math.max(PAGE + rowsToReturn(), kept))
    const filter = filterOf(params, askedAt)
    const asked = { ...filter, fields, order }
    const key = JSON.stringify([asked, generation])
    return { key, logs, path: `/api/${folderOf(kind)}`, order, askedAt, filter, asked, wanted }
  }, [logs, fields])
}

/** The first page with further ones, up to the number of rows that are wanted; says so if a place to return to is beyond them. */
async function withFurther(
  page: EntryPage,
  { path, asked, wanted }: Question,
  signal: AbortSignal,
): Promise<EntryPage> {
  let all = page
  for (let read = 1; read < RETURN_MAX / READ_MAX && all.nextCursor !== null && all.items.length < wanted; read += 1) {
    const next = await get<EntryPage>(path, { ...asked, limit: READ_MAX, cursor: all.nextCursor }, signal)
    if (signal.aborted || !next.ok) break
    all = { ...next.data, items: [...all.items, ...next.data.items] } as EntryPage
  }
  const count = all.items.length
  if (!signal.aborted && all.nextCursor !== null && count < rowsToReturn())
    toast(`Where you were is below the first ${plural(count, 'log')}, and has not been read again.`, 'bad')
  return all
}

/** The state after the answer to a question, the first one or a further one. */
function answered(before: Loaded, question: Question, page: EntryPage, paused: boolean): Loaded {
  const { items: entries, nextCursor } = page
  const next = nextOf(nextCursor)
  const { order, filter } = question
  return before.question?.key === question.key
    ? { ...readAgain(before, entries, next, paused), answeredAgainAt: systemClock.now() }
    : { ...NOT_READ, question, rows: { entries, order, from: filter['from'], next } }
}

/** The parameters of the next page, given those of the current one. */
const nextOf = (cursor: string | null, asked: Rows['next'] = {}): Rows['next'] =>
  cursor === null ? null : { ...asked, cursor }

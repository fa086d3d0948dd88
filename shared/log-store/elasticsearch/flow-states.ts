import { levelRank } from '../../contract/levels.ts'
import type { FlowPlace, FlowState, FlowStates } from '../log-store.ts'
import { allOf, anyOf, type Clause, term } from './query-dsl.ts'

/** For each state, the clause that finds its flows. The Events occur once in each, as the number of a query's clauses is limited. */
export function stateClauses({ lately, ends, waits }: FlowStates): Readonly<Record<FlowState, Clause>> {
  const logsLately = logsAfter(lately)
  const waiting = new Set(waits.map(({ event }) => event))
  const knownExpects = anyOf(ends.filter(({ event }) => waiting.has(event)).map(expectsMore))
  const isOverdue = anyOf(
    waits.flatMap((wait) =>
      ends.filter(({ event }) => event === wait.event).map((end) => allOf([expectsMore(end), loggedTooLongAgo(wait)])),
    ),
  )
  const othersExpect = anyOf(ends.filter(({ event }) => !waiting.has(event)).map(expectsMore))
  // Without an Event or a Step, nothing shows whether more will come.
  const isOpenEnd = anyOf([not(exists('events')), not(exists('steps'))])
  return {
    failed: FAILED,
    running: allOf([
      NOT_FAILED,
      anyOf([
        allOf([knownExpects, not(isOverdue)]),
        allOf([not(knownExpects), anyOf([othersExpect, isOpenEnd]), logsLately]),
      ]),
    ]),
    stalled: allOf([NOT_FAILED, anyOf([isOverdue, allOf([not(knownExpects), othersExpect, not(logsLately)])])]),
    finished: allOf([NOT_FAILED, not(knownExpects), not(othersExpect), not(allOf([isOpenEnd, logsLately]))]),
  }
}

const expectsMore = ({ event, steps }: FlowStates['ends'][number]): Clause =>
  allOf([term('events', event), not({ terms: { steps } })])

/** The last place that the flow has seen is one of these (or it has seen none), and the flow has not logged since the place's deadline. */
function loggedTooLongAgo({ lately, places }: FlowStates['waits'][number]): Clause {
  const seenNone = (later: readonly FlowPlace[]): Clause => not({ terms: { steps: later.map(({ step }) => step) } })
  return anyOf([
    allOf([seenNone(places), not(logsAfter(lately))]),
    ...places.map((place, index) =>
      allOf([term('steps', place.step), seenNone(places.slice(index + 1)), not(logsAfter(place.lately))]),
    ),
  ])
}

const logsAfter = (time: string): Clause => ({ range: { lastAt: { gt: time } } })

const not = (clause: Clause): Clause => ({ bool: { must_not: clause } })
const exists = (field: string): Clause => ({ exists: { field } })

/** Summaries from earlier releases do not say whether they failed. */
const UNTOLD = allOf([not(exists('failed')), { range: { worstLevel: { gte: levelRank('Error') } } }])
const FAILED = anyOf([{ term: { failed: true } }, UNTOLD])
const NOT_FAILED = not(FAILED)

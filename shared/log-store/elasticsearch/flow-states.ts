import { levelRank } from '../../contract/levels.ts'
import type { FlowPlace, FlowState, FlowStates } from '../log-store.ts'
import { allOf, anyOf, type Clause, term } from './query-dsl.ts'

/** For each state the clause that finds the flows in it. */
export function stateClauses({ lately, ends, waits }: FlowStates): Readonly<Record<FlowState, Clause>> {
  const logsLately = logsAfter(lately)
  const expects = anyOf(ends.map(expectsMore))
  const placesOf = new Map(waits.map(({ event, places }) => [event, places]))
  const isOverdue = anyOf([
    allOf([anyOf(ends.filter(({ event }) => !placesOf.has(event)).map(expectsMore)), not(logsLately)]),
    ...ends.flatMap((end) => {
      const places = placesOf.get(end.event) ?? []
      return places.map((place, index) =>
        allOf([expectsMore(end), ...isAt(place, places.slice(index + 1)), not(logsAfter(place.lately))]),
      )
    }),
  ])
  // Without an Event or a Step nobody can tell whether more will come.
  const isOpenEnd = allOf([not(expects), anyOf([not(exists('events')), not(exists('steps'))]), logsLately])
  return {
    failed: FAILED,
    running: allOf([NOT_FAILED, anyOf([allOf([expects, not(isOverdue)]), isOpenEnd])]),
    stalled: allOf([NOT_FAILED, isOverdue]),
    finished: allOf([NOT_FAILED, not(expects), not(isOpenEnd)]),
  }
}

const expectsMore = ({ event, steps }: FlowStates['ends'][number]): Clause =>
  allOf([term('events', event), not({ terms: { steps } })])

/** The furthest place of a flow is this one: it has seen none of the later ones. */
const isAt = ({ step }: FlowPlace, later: readonly FlowPlace[]): readonly Clause[] => [
  ...(step === null ? [] : [term('steps', step)]),
  not({ terms: { steps: later.map((place) => place.step).filter((name) => name !== null) } }),
]

const logsAfter = (time: string): Clause => ({ range: { lastAt: { gt: time } } })

const not = (clause: Clause): Clause => ({ bool: { must_not: clause } })
const exists = (field: string): Clause => ({ exists: { field } })

/** Summaries that a release before wrote do not say whether they failed. */
const UNTOLD = allOf([not(exists('failed')), { range: { worstLevel: { gte: levelRank('Error') } } }])
const FAILED = anyOf([{ term: { failed: true } }, UNTOLD])
const NOT_FAILED = not(FAILED)

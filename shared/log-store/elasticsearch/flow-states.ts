import { levelRank } from '../../contract/levels.ts'
import type { FlowState, FlowStates } from '../log-store.ts'
import { allOf, anyOf, type Clause, term } from './query-dsl.ts'

/** For each state the clause that finds the flows in it. */
export function stateClauses({ lately, ends }: FlowStates): Readonly<Record<FlowState, Clause>> {
  const logsLately = { range: { lastAt: { gt: lately } } }
  const expects =
    ends.length === 0
      ? { match_none: {} }
      : anyOf(ends.map(({ event, steps }) => allOf([term('events', event), not({ terms: { steps } })])))
  // Without an Event or a Step nobody can tell whether more will come.
  const isOpenEnd = anyOf([not(exists('events')), not(exists('steps'))])
  return {
    failed: FAILED,
    running: allOf([NOT_FAILED, anyOf([expects, isOpenEnd]), logsLately]),
    stalled: allOf([NOT_FAILED, expects, not(logsLately)]),
    finished: allOf([NOT_FAILED, not(expects), not(allOf([isOpenEnd, logsLately]))]),
  }
}

const not = (clause: Clause): Clause => ({ bool: { must_not: clause } })
const exists = (field: string): Clause => ({ exists: { field } })

/** Summaries that a release before wrote do not say whether they failed. */
const UNTOLD = allOf([not(exists('failed')), { range: { worstLevel: { gte: levelRank('Error') } } }])
const FAILED = anyOf([{ term: { failed: true } }, UNTOLD])
const NOT_FAILED = not(FAILED)

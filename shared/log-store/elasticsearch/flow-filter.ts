import { KEYWORD_BYTES } from '../../contract/keyword.ts'
import { levelRank } from '../../contract/levels.ts'
import type { FlowFilter, FlowPlace, FlowState, FlowStates } from '../log-store.ts'
import { foldKey } from './flow-summary.ts'
import { allOf, anyOf, type Clause, term } from './query-dsl.ts'

/** A flow's field for each filter on one of its values. */
const FLOW_FIELDS = { environment: 'environments', event: 'events', step: 'steps', project: 'projects' } as const

export function compileFlowFilter(filter: FlowFilter): Clause {
  const clauses: Clause[] = [term('team', filter.team)]
  if (filter.from !== null) clauses.push({ range: { lastAt: { gte: filter.from } } })
  if (filter.to !== null) clauses.push({ range: { firstAt: { lt: filter.to } } })
  if (filter.levelMin !== null) clauses.push({ range: { worstLevel: { gte: levelRank(filter.levelMin) } } })
  for (const name of ['environment', 'event', 'step', 'project'] as const) {
    const value = filter[name]
    if (value !== null) clauses.push(term(FLOW_FIELDS[name], value))
  }
  if (filter.state !== null) clauses.push(stateClauses(filter.state)[filter.state.is])
  if (filter.keyPart !== null && filter.keyPart !== '') clauses.push(containsKeyPart(filter.keyPart))
  return allOf(clauses)
}

/**
 * A regular expression, as the automaton of a wildcard query is limited to 10,000 units of work, and a repetitive part of 150 letters takes
 * more. The part of the longest key takes the square of its length.
 */
const containsKeyPart = (part: string): Clause =>
  part.length > KEYWORD_BYTES.correlationKey
    ? { match_none: {} }
    : {
        regexp: {
          keyFolded: {
            value: `.*${literal(foldKey(part))}.*`,
            flags: 'NONE',
            max_determinized_states: KEYWORD_BYTES.correlationKey ** 2,
          },
        },
      }

/** The text, escaped so that a regular expression takes it literally. */
const literal = (text: string): string => text.replace(/[!-/:-@[-`{-~]/g, '\\$&')

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

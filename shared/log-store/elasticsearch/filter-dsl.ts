import { KEYWORD_BYTES } from '../../contract/keyword.ts'
import { levelRank } from '../../contract/levels.ts'
import type { EntryFilter, FlowFilter } from '../log-store.ts'
import { stateClauses } from './flow-states.ts'
import { foldKey } from './flow-summary.ts'
import { allOf, type Clause, categoryOrBelow, compileQuery, term } from './query-dsl.ts'

const EXACT = ['environment', 'correlationKey', 'event', 'step', 'project', 'template', 'exceptionGroup'] as const

/** A filter as one clause. The Team always comes first: no search runs without it. */
export function compileFilter(filter: EntryFilter, ...more: readonly Clause[]): Clause {
  const clauses: Clause[] = [term('team', filter.team)]
  if (filter.from !== null) clauses.push({ range: { timestamp: { gte: filter.from } } })
  if (filter.to !== null) clauses.push({ range: { timestamp: { lt: filter.to } } })
  if (filter.levelMin !== null) clauses.push({ range: { level: { gte: levelRank(filter.levelMin) } } })
  if (filter.levelMax !== null) clauses.push({ range: { level: { lte: levelRank(filter.levelMax) } } })
  for (const field of EXACT) {
    const value = filter[field]
    if (value !== null) clauses.push(term(field, value))
  }
  if (filter.category !== null) {
    clauses.push(categoryOrBelow(filter.category))
  }
  if (filter.query.type !== 'all') clauses.push(compileQuery(filter.query))
  return allOf([...clauses, ...more])
}

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

import { searchText } from '../../shared/contract/keyword.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import type { EntryFilter, FlowFilter, FlowStates } from '../../shared/log-store/log-store.ts'
import type { QueryReading } from '../../shared/query/ast.ts'
import { withoutLastDot } from '../../shared/query/clause.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import type { Call } from './call.ts'
import type { Values } from './parameters.ts'

/** The filter of a Team's entries of these kinds that the parameters ask for, and the reading of the search text. */
export function entryFilter(
  { team, values, names }: Pick<Call, 'team' | 'values' | 'names'>,
  kinds: readonly EntryKind[],
): { readonly filter: EntryFilter; readonly reading: QueryReading } {
  const { query, reading } = parseQuery(values.q ?? '')
  const { from, to, level, levelMax, project } = values
  const filter = {
    team,
    kinds,
    query: names.inQuery(query, kinds),
    from,
    to,
    levelMin: level,
    levelMax,
    environment: searched(values.environment),
    correlationKey: searched(values.correlationKey),
    event: searched(values.event),
    step: searched(values.step),
    project,
    template: values.template,
    exceptionGroup: values.exceptionGroup,
    category: values.category === null ? null : searched(withoutLastDot(values.category)),
  }
  return { filter, reading }
}

/**
 * The filter of a Team's flows that the parameters ask for, with the facts of a moment that their states follow from; `q` is a part of the
 * correlationKey here, not a search.
 */
export function flowFilter(team: string, values: Values, states: FlowStates | null): FlowFilter {
  const { from, to, level, project, state } = values
  return {
    team,
    keyPart: searched(values.q),
    from,
    to,
    levelMin: level,
    environment: searched(values.environment),
    event: searched(values.event),
    step: searched(values.step),
    project,
    state: state === null || states === null ? null : { ...states, is: state },
  }
}

/**
 * A value in the form in which stored values are searched. It is not cut: one longer than any that was accepted finds nothing,
 * where its beginning might find what was not asked for.
 */
const searched = (value: string | null): string | null => (value === null ? null : searchText(value))

import { searchText } from '../../shared/contract/keyword.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import type { EntryFilter, FlowFilter, FlowStates } from '../../shared/log-store/log-store.ts'
import type { QueryReading } from '../../shared/query/ast.ts'
import { withoutLastDot } from '../../shared/query/clause.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import type { Call, EntryCall } from './call.ts'
import type { Values } from './parameters.ts'

type Asked = Pick<Call, 'team' | 'values' | 'names'>

/** The entries of one kind that the parameters select. */
export const filterOf = (asked: Asked & Pick<EntryCall, 'kind'>): EntryFilter => entryFilter(asked, [asked.kind]).filter

/** Builds the entry filter that the parameters ask for, and reports how the search text was read. */
export function entryFilter(
  { team, values, names }: Asked,
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
 * Builds the flow filter that the parameters ask for, with the facts from which states are derived. Here `q` is a part of the
 * correlationKey, not a search.
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
 * Normalises a value the way stored values are. It is not truncated: a value longer than any accepted one finds nothing, while its prefix
 * might match unrelated entries.
 */
const searched = (value: string | null): string | null => (value === null ? null : searchText(value))

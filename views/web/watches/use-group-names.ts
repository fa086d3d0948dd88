import { cut } from '../../flow-layout/format.ts'
import type { Groups } from '../../schemas/answers.ts'
import type { Condition } from '../../schemas/watches.ts'
import type { NameOf } from '../api/names.ts'
import { useFetch } from '../api/use-fetch.ts'
import { GROUP_PARAMETERS, type Grouping } from '../logs/texts.ts'

type Params = Extract<Condition, { readonly params: object }>['params']

/** Maximum length of a group's label, in characters. */
const LABEL_MAX = 200

/** The time in which a group's label is looked for: counting all logs of many groups would take the time of other reads. */
const LOOKED_FROM = 'now-7d'

/**
 * Adds the names of the groups that these parameters select, as the groups' list has them; for a group without a log in the last week, the
 * value itself stands.
 */
export const useGroupNames = (params: Params, nameOf: NameOf): NameOf =>
  useGroupName('exception', params, useGroupName('template', params, nameOf))

function useGroupName(by: Grouping, params: Params, nameOf: NameOf): NameOf {
  const name = GROUP_PARAMETERS[by]
  const value = params[name]
  const path = value === undefined ? null : '/api/application-logs/groups'
  const { data, problem } = useFetch<Groups>(path, { by, [name]: value, groups: 1, from: LOOKED_FROM })
  const label = data === undefined && problem === undefined ? '…' : data?.items[0]?.label
  return (parameter, id) => (parameter === name && label ? cut(label, LABEL_MAX).text : nameOf(parameter, id))
}

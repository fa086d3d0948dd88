import type { EntryKind } from '../../shared/contract/records.ts'

/** Parameters of a list's address that select logs. */
export const SELECTING = [
  ...(['q', 'level', 'levelMax', 'environment', 'event', 'step', 'project', 'category'] as const),
  ...(['template', 'exceptionGroup'] as const),
] as const

/** Parameters of a list's address that a saved search keeps; the last ones are those of flows alone. */
export const SEARCH_PARAMETERS = [
  ...SELECTING,
  ...(['from', 'to', 'order', 'columns', 'group', 'chart', 'value', 'by'] as const),
  ...(['state', 'sort', 'view'] as const),
] as const

/** The fields that logs of each kind are grouped by, the usual one first; of a family as `<key>`. The search has most under the same names. */
export const GROUPED_BY = {
  event: ['event', 'step', 'project', 'environment', 'level', 'correlationKey', 'payload.<key>'],
  application: [
    ...['template', 'exception', 'category', 'project', 'level', 'environment', 'correlationKey'],
    ...['eventName', 'eventId', 'trace', 'span', 'scope.<key>'],
  ],
} as const satisfies Readonly<Record<EntryKind, readonly string[]>>

import type { EntryKind } from '../../shared/contract/records.ts'

/** Parameters of a list's address that select logs. */
export const SELECTING = [
  ...(['q', 'level', 'levelMax', 'environment', 'event', 'step', 'project', 'category'] as const),
  ...(['template', 'exceptionGroup'] as const),
] as const

/** Parameters of a list's address that a saved search keeps; the last ones apply to flows only. */
export const SEARCH_PARAMETERS = [
  ...SELECTING,
  ...(['from', 'to', 'order', 'columns', 'group', 'chart', 'value', 'by', 'before'] as const),
  ...(['state', 'sort', 'view'] as const),
] as const

/** The fields to group logs of each kind by, default first; `<key>` stands for any name. Searches use most of these names too. */
export const GROUPED_BY = {
  event: ['event', 'step', 'project', 'environment', 'level', 'correlationKey', 'payload.<key>'],
  application: [
    ...['template', 'exception', 'category', 'project', 'level', 'environment', 'correlationKey'],
    ...['eventName', 'eventId', 'trace', 'span', 'scope.<key>'],
  ],
} as const satisfies Readonly<Record<EntryKind, readonly string[]>>

import type { FlowSort, FlowState } from '../../../shared/log-store/log-store.ts'

/** The words of the list of flows. */
export const FLOWS = {
  title: 'Flows',
  find: 'Part of a correlationKey, or all of it and Enter',
  level: 'Worst level',
  allLevels: 'All levels',
  event: 'Event',
  allEvents: 'All Events',
  sort: 'Sort',
  state: 'State',
  older: 'Load more flows',
  noMatch: ['No flow matches', 'No flow has all of this in this time.'],
  none: [
    'No log has a correlationKey yet',
    'All logs with the same correlationKey, such as the number of an order, are drawn here as one flow.',
  ],
  showAll: 'Show all flows',
} as const

/** The tabs, in the order in which they are looked through for trouble. */
export const TABS: readonly (readonly [state: FlowState | '', name: string])[] = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['stalled', 'Stalled'],
  ['running', 'Running'],
  ['finished', 'Finished'],
]

export const SORTS: readonly (readonly [sort: FlowSort, name: string])[] = [
  ['latest', 'Latest activity'],
  ['longest', 'Longest first'],
  ['worst', 'Worst level first'],
]

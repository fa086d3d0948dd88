import type { FlowSort, FlowState } from '../../../shared/log-store/log-store.ts'

export const FLOWS = {
  title: 'Flows',
  view: 'View',
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
  searchLogs: 'Search the logs for it',
} as const

/** The states that need attention, in their colours. */
export const BADGES: Readonly<Record<string, string>> = { failed: 'bad', stalled: 'warn' }

/** The tabs, ordered by urgency. */
export const TABS: readonly (readonly [state: FlowState | '', name: string])[] = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['stalled', 'Stalled'],
  ['running', 'Running'],
  ['finished', 'Finished'],
]

/** The order that no address has to name. */
export const USUAL_SORT: FlowSort = 'latest'

export const SORTS: readonly (readonly [sort: FlowSort, name: string])[] = [
  ['latest', 'Latest activity'],
  ['longest', 'Longest first'],
  ['worst', 'Worst level first'],
]

/** The views of the flows page: the list and the statistics. */
export const VIEWS = [
  ['', 'Flows'],
  ['steps', 'Steps'],
] as const

/** The texts of the statistics of flows, and of a flow's Steps compared with the usual ones. */
export const STEPS = {
  title: 'Steps',
  step: 'Step',
  reached: 'Reached by',
  half: 'Half within',
  most: '95 % within',
  share: 'Part of the time',
  stalled: 'Stalled before',
  none: ['No flow of an Event in this time', 'Statistics are made of flows with logs of an Event or its Steps.'],
  toggle: 'Steps, with the time that each usually takes',
  took: 'Took',
  usual: 'Usually',
  other: 'Other flow',
  difference: 'Difference',
  compare: 'Compare with a flow that succeeded',
  with: 'Or with a correlationKey',
  noOther: 'No other flow of this Event has finished.',
  stop: 'Compare no more',
} as const

/** How a Step differs from that of the other flow. */
export const DIFFERENCES = { missing: 'missing', added: 'only here', failed: 'failed', slower: 'slower' } as const

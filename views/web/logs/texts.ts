import type { EntryKind } from '../../../shared/contract/records.ts'
import { countText, plural } from '../../flow-layout/format.ts'
import type { Absence } from '../../schemas/answers.ts'
import { agoText } from '../lib/times.ts'

/** The fields by which the page groups logs, and the parameters that select one group. */
export const GROUP_PARAMETERS = { template: 'template', exception: 'exceptionGroup', step: 'step' } as const
export type Grouping = keyof typeof GROUP_PARAMETERS

/** The views of the logs: one by one, in groups, or as numbers over time. */
type View = Grouping | 'list' | 'chart'
const LIST = ['list', 'List'] as const
const CHART_VIEW = ['chart', 'Chart'] as const

export const VIEWS: Readonly<Record<EntryKind, readonly (readonly [View, string])[]>> = {
  event: [LIST, ['step', 'Steps'], CHART_VIEW],
  application: [LIST, ['template', 'Templates'], ['exception', 'Exceptions'], CHART_VIEW],
}

/** Whether a parameter selects one group by a value that says nothing to people. */
export const isGroup = (name: string): boolean => name === 'template' || name === 'exceptionGroup'

export const isGrouping = (text: string | undefined): text is Grouping => text !== undefined && text in GROUP_PARAMETERS

/** The groups in an address, where logs of the kind have them. */
export const groupingOf = (kind: EntryKind, text: string | undefined): Grouping | undefined =>
  isGrouping(text) && VIEWS[kind].some(([view]) => view === text) ? text : undefined

export const groupsName = (by: Grouping): string => `Groups by ${by}`

/** The orders of groups. */
export const GROUP_SORT = 'Sort'
export const GROUP_SORTS = [
  ['', 'Most logs first'],
  ['first', 'Newest first'],
] as const

/** The texts about a group in the time before. */
export const EARLIER = {
  count: (count: number, time: string): string => `${countText(count)} in the ${time} before`,
  fresh: 'new',
  none: (time: string): string => `none in the ${time} before`,
} as const

export const FURTHER_GROUPS = 'These are the groups with most logs. A narrower search shows others.'

/** The reason why some logs are in no group. */
export function ungroupedText(by: Grouping, count: number): string {
  const logs = plural(count, 'log')
  if (by === 'step') return `${logs} of an Event, and of none of its Steps.`
  if (by === 'exception') return `${logs} without an exception, or stored before there were groups.`
  return `${logs} in no group: without a text, or stored before there were groups.`
}

/** The label of a chosen parameter, where its own name would be unclear. */
export const chosenName = (name: string): string => (name === 'exceptionGroup' ? 'exception' : name)

/** The heading of an empty list, and the reason; `now` is in milliseconds since 1970. */
export function emptyTexts(
  kind: EntryKind,
  { newestAt, conditions }: Absence,
  now: number,
): readonly [title: string, reason: string] {
  if (newestAt === null)
    return ['Nothing matches', `No ${kind} log of any time matches ${conditions.length > 1 ? 'all of these' : 'this'}.`]
  const newest = conditions.length === 0 ? 'The newest log' : 'The newest log that matches'
  const isAhead = Date.parse(newestAt) > now
  return ['Nothing in this time', `${newest} is ${isAhead ? 'ahead of this clock' : `from ${agoText(newestAt, now)}`}.`]
}

/** The label of a suggested change for an empty list. */
export function wayText({ kind, value, params }: Absence['ways'][number]): string {
  if (kind === 'newest') return 'Go to the newest log'
  if (kind === 'since') return 'Everything since then'
  if (kind === 'beginning') return 'Search for'
  const [name = ''] = Object.keys(params)
  return value === null ? 'Remove all' : `Remove ${name === 'q' ? 'the search' : chosenName(name)}`
}

/** The value that such a change takes away; null for an id, which says nothing, as the value's name is shown above the list. */
export const wayValue = ({ value, params }: Absence['ways'][number]): string | null =>
  ['project', 'template', 'exceptionGroup'].some((name) => name in params) ? null : value

export const LEVEL_BAR = {
  name: 'Levels',
  all: 'Show all levels',
  only: (level: string): string => `Only ${level}`,
  above: 'and above',
} as const

/** The export formats of a list. */
export const EXPORT = {
  ndjson: 'Export as NDJSON',
  csv: 'Export as CSV, all columns',
  shown: 'Export as CSV, the columns shown',
} as const

export const COLUMNS = {
  name: 'Columns',
  density: 'Height of the rows',
  densities: [
    ['comfortable', 'Comfortable'],
    ['compact', 'Compact'],
  ],
  left: (column: string): string => `Move ${column} to the left`,
  right: (column: string): string => `Move ${column} to the right`,
  other: 'Another value of the logs',
  add: 'Add',
  unfit: (family: string): string => `Write a name such as ${family}order.id, without a comma.`,
  full: 'There is no room for more columns. Take one away first.',
  usual: 'Usual columns',
  show: 'Show as a column',
  showAs: (name: string): string => `Show ${name} as a column`,
} as const

/** The button that shows a drawing's data as a table. */
export const AS_TABLE = (isOpen: boolean): string => (isOpen ? 'Hide the table' : 'As a table')

export const SHOW_CHART = {
  show: 'Chart over time',
  showOf: (name: string): string => `Chart ${name} over time`,
  values: 'Count its values over time',
  valuesOf: (name: string): string => `Count the values of ${name} over time`,
} as const

export const SEARCHES = {
  menu: 'Saved',
  title: 'Searches that the Team has saved',
  none: 'Nobody in the Team has saved a search yet.',
  saveAs: 'Save this search for the Team as',
  save: 'Save',
  rename: 'Rename',
  newName: 'New name',
  delete: 'Delete',
  deleteIt: (name: string): string => `Delete “${name}” for all members of the Team?`,
  cancel: 'Cancel',
  watch: 'Watch this search',
} as const

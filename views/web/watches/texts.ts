import { countText } from '../../flow-layout/format.ts'
import { durationText } from '../../flow-layout/times.ts'
import type { Condition, Format, Outcome, Watch } from '../../schemas/watches.ts'
import type { NameOf } from '../api/names.ts'
import { chosenName } from '../logs/texts.ts'

export const WATCHES = {
  title: 'Watches',
  about: 'A watch looks at the logs twice a minute and posts to a webhook when its condition becomes true.',
  add: 'New watch',
  none: 'The Team has no watch yet.',
  noneAbout: 'Make one here, or open “Saved” above a list of logs and choose “Watch this search”.',
  create: 'Create the watch',
  save: 'Save',
  show: 'See what matches now',
  edit: 'Edit',
  pause: 'Pause',
  resume: 'Resume',
  test: 'Send a test',
  testing: 'Sending…',
  delete: 'Delete',
  deleteIt: (name: string): string => `Delete “${name}” with its history, for all members of the Team?`,
  deleted: 'The watch was deleted.',
  newSecret: 'Make a new secret, and show it once',
  history: 'History',
  noHistory: 'Nothing has happened yet.',
  never: 'not evaluated yet',
  evaluated: (ago: string): string => `evaluated ${ago}`,
  undelivered: 'not delivered',
  gaveUp: 'gave up',
  givenUp: (ago: string): string =>
    `The last message was given up ${ago}, after a day of attempts: nobody got it. Its reasons are in the history; a test shows whether the webhook answers now.`,
  delivery: (attempts: number, next: string): string =>
    `A message is on its way: ${attempts === 1 ? '1 attempt' : `${attempts} attempts`} so far, the next ${next}.`,
  lastFailure: (reason: string): string => `The last one failed: ${reason}`,
  name: 'Name',
  type: 'Fires when',
  list: 'Logs',
  search: 'Search',
  searchHint: 'As above the list; left empty: all logs.',
  level: 'Level',
  anyLevel: 'Any level',
  also: 'Also selected by',
  withoutAlso: 'Select by nothing else',
  more: 'More logs than',
  minutes: 'Within minutes',
  state: 'Flows that',
  event: 'Event',
  anyEvent: 'Any Event',
  by: 'New',
  url: 'Webhook',
  urlHint: 'https://… Private addresses are refused unless the operator allows their network.',
  format: 'Form of the message',
} as const

export const TYPES: readonly (readonly [Condition['type'], string])[] = [
  ['count', 'there are more logs than a number'],
  ['flows', 'a flow fails or stalls'],
  ['newGroup', 'an exception or a message is new'],
]

export const LISTS = [
  ['event-logs', 'Event logs'],
  ['application-logs', 'Application logs'],
] as const

export const FLOW_STATES = [
  ['failed', 'fail'],
  ['stalled', 'stall'],
] as const

export const BY = [
  ['exception', 'exception'],
  ['template', 'message'],
] as const

export const FORMATS: readonly (readonly [Format, string])[] = [
  ['json', 'JSON'],
  ['slack', 'Slack'],
  ['teams', 'Microsoft Teams'],
]

interface StateTexts {
  readonly name: string
  readonly look: '' | 'good' | 'warn' | 'bad'
}

export const STATES: Readonly<Record<Watch['state'], StateTexts>> = {
  new: { name: 'new', look: '' },
  waiting: { name: 'watching', look: 'good' },
  met: { name: 'met', look: 'warn' },
  error: { name: 'error', look: 'bad' },
  paused: { name: 'paused', look: '' },
}

export const OUTCOMES: Readonly<Record<Outcome['outcome'], StateTexts>> = {
  fired: { name: 'fired', look: 'warn' },
  delivered: { name: 'delivered', look: 'good' },
  failed: { name: 'failed', look: 'bad' },
  gave_up: { name: 'gave up', look: 'bad' },
  error: { name: 'error', look: 'bad' },
  recovered: { name: 'recovered', look: 'good' },
}

/** Summarises a condition. */
export function conditionText(condition: Condition, nameOf: NameOf): string {
  switch (condition.type) {
    case 'count': {
      const list = condition.list === 'event-logs' ? 'event logs' : 'application logs'
      return `More than ${countText(condition.more)} ${list} in ${durationText(condition.minutes * 60_000)}${selectionText(condition.params, nameOf)}`
    }
    case 'flows':
      return `A flow ${condition.state === 'failed' ? 'fails' : 'stalls'}${condition.event === null ? '' : `: ${nameOf('event', condition.event)}`}`
    case 'newGroup':
      return `A new ${condition.by === 'exception' ? 'exception' : 'message'}${selectionText(condition.params, nameOf)}`
  }
}

/** The parameters that select logs, as text. */
export const paramsText = (params: Readonly<Record<string, string>>, nameOf: NameOf): string =>
  Object.entries(params)
    .map(([name, value]) => {
      if (name === 'q') return value
      if (name === 'level') return `${value} or worse`
      if (name === 'levelMax') return `nothing worse than ${value}`
      return `${chosenName(name)} ${nameOf(name, value)}`
    })
    .join(', ')

const selectionText = (params: Readonly<Record<string, string>>, nameOf: NameOf): string =>
  Object.keys(params).length === 0 ? '' : `: ${paramsText(params, nameOf)}`

export const NEW_SECRET = {
  title: 'The secret of this watch',
  about:
    'Its messages are signed with it, as Standard Webhooks has it. It is shown this once. A receiver that checks no signature does not need it.',
  copy: 'Copy the secret',
  done: 'Done',
} as const

import { countText } from '../../flow-layout/format.ts'
import type { ActionKind, Field, List, TeamLists } from '../../schemas/team.ts'

/** The texts for the lists of the Team's settings and their changes. The API refers to each only by its kind. */
interface ListTexts {
  readonly title: string
  readonly columns: readonly [name: string, time: string]
  /** Shown when the list is empty. */
  readonly empty: string
}

export const LISTS: Readonly<Record<List['kind'], ListTexts>> = {
  entities: {
    title: 'Events and Steps',
    columns: ['Name', 'Last seen'],
    empty: 'An Event is a process, such as an order; Steps are what happens in it. Logs are sent to either.',
  },
  projects: {
    title: 'Projects',
    columns: ['Name', 'Last seen'],
    empty: 'A Project gathers the application logs of one program.',
  },
  keys: { title: 'Keys', columns: ['Begins with', 'Issued'], empty: 'There is no key.' },
}

/** The Team's quota. */
export const QUOTA = {
  title: 'Quota',
  about:
    'An operator of this installation can change it. What is beyond it is refused, and sent again later by most clients.',
  shadow: 'only counted',
  shadowAbout: 'Nothing is refused for it yet.',
  last: 'last',
} as const

/** The quota in words; undefined if there is no limit. */
export function quotaText({ entriesPerSecond, bytesPerSecond, burstSeconds }: TeamLists['limits']): string | undefined {
  const parts = [
    ...(entriesPerSecond === null ? [] : [`${countText(entriesPerSecond)} entries`]),
    ...(bytesPerSecond === null ? [] : [`${countText(bytesPerSecond)} bytes`]),
  ]
  if (parts.length === 0) return undefined
  const rate = `${parts.join(' and ')} a second`
  return entriesPerSecond === 0 || bytesPerSecond === 0
    ? `${rate}: nothing is taken.`
    : `${rate}. A burst may be as large as ${burstSeconds} s of that.`
}

/** The recent refusals beyond the quota, and the time of the last one. */
export function limitedOf(refused: TeamLists['refused']): {
  readonly text: string
  readonly lastAt: string | undefined
} {
  if (refused === null) return { text: 'Whether something was refused for it is not known yet.', lastAt: undefined }
  const limited = refused.filter(({ code }) => code === 'rate_limited')
  const count = limited.reduce((sum, one) => sum + one.count, 0)
  if (count === 0) return { text: 'Nothing was refused for it in 24 h.', lastAt: undefined }
  const lastAt = limited
    .map((one) => one.lastAt)
    .sort()
    .at(-1)
  return { text: `${countText(count)} request${count === 1 ? ' was' : 's were'} refused for it in 24 h,`, lastAt }
}

/** How often something was seen recently. */
export const seenText = (lastDay: number | null): string =>
  lastDay === null ? 'not known' : lastDay === 0 ? 'not in 24 h' : `${lastDay} in 24 h`

interface ActionTexts {
  /** The label of the button that starts the change. */
  readonly name: string
  readonly title: string
  /** The explanation in the dialog; without it and without fields, there is no dialog. */
  readonly text?: string
  /** The label of the button that performs the change. */
  readonly confirm: string
  /** The toast afterwards. */
  readonly done: string
  /** The reason why the change would be refused now. */
  readonly refused?: string
}

const creation = (what: string): ActionTexts => ({
  name: `New ${what}`,
  title: `New ${what}`,
  confirm: `Create the ${what}`,
  done: `${what} created.`,
})

const ACTIONS: Readonly<Record<Exclude<ActionKind, 'revoke'>, ActionTexts>> = {
  newEvent: creation('Event'),
  newStep: creation('Step'),
  newProject: creation('Project'),
  defaultProject: {
    name: 'Unknown services',
    title: 'Logs of unknown services',
    text: 'OpenTelemetry and other clients name a Project by the name of their service. Where no Project has that name, their logs go here.',
    confirm: 'Save',
    done: 'Saved: logs of unknown services go by it from now on.',
  },
  rename: {
    name: 'Rename',
    title: 'Rename',
    confirm: 'Rename',
    done: 'Renamed, for the logs that are stored too.',
  },
  archive: {
    name: 'Archive',
    title: 'Archive',
    text: 'New logs of it, or of the Steps of an Event, are refused until it is restored. Stored logs stay.',
    confirm: 'Archive it',
    done: 'Archived: its logs are refused from now on.',
  },
  restore: { name: 'Restore', title: 'Restore', confirm: 'Restore', done: 'Restored.' },
  newKey: {
    name: 'New key',
    title: 'New key',
    text: 'The present key stays live until you revoke it, so that clients can change over.',
    confirm: 'Make a key',
    done: 'The key was made.',
    refused: 'Two keys are live, the most there may be.',
  },
  replaceKeys: {
    name: 'Replace all',
    title: 'Replace all keys',
    text: 'All present keys end at once, and every client is refused until it has the new one.',
    confirm: 'Replace all keys',
    done: 'All keys were replaced.',
  },
}

/** The texts of a change; `id` is that of the affected line. */
export const actionTexts = (kind: ActionKind, id = ''): ActionTexts =>
  kind === 'revoke'
    ? {
        name: `Revoke ${id}`,
        title: `Revoke the key ${id}…`,
        text: 'Clients that still have it are refused from now on, for good. If you signed in with it, your session ends as well.',
        confirm: 'Revoke it',
        done: `The key ${id}… was revoked.`,
      }
    : ACTIONS[kind]

interface FieldTexts {
  readonly label: string
  readonly hint?: string
  /** The option for an empty value. */
  readonly none?: string
}

export const fieldTexts = ({ name, required }: Field): FieldTexts => {
  switch (name) {
    case 'identifier':
      return { label: 'Identifier', hint: 'Clients send it, such as order-placed; it cannot be changed later.' }
    case 'name':
      return { label: 'Name', ...(!required && { hint: 'Left empty: the identifier.' }) }
    case 'id':
      return { label: 'Id', hint: 'A GUID; left empty: a new one.' }
    case 'defaultProject':
      return { label: 'Project', none: 'None, unless the Team has only one' }
    case 'event':
      return { label: 'Event', none: 'None, it stands alone' }
  }
}

export const NEW_KEY = {
  title: 'Your new key',
  about: 'It is shown this once and kept nowhere. Copy it to where your clients read it.',
  copy: 'Copy the key',
  hint: 'Until this tab is loaded anew, the snippets that you copy here have it in them.',
  done: 'I have copied it',
} as const

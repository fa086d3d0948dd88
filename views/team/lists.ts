import { LIVE_KEYS_MAX } from '../../shared/registry/plan-keys.ts'
import type { Kind } from './changes.ts'
import type { settingsOf } from './settings.ts'
import type { Action, Field, Line, List, TeamLists } from './types.ts'

type Settings = Omit<ReturnType<typeof settingsOf>, 'gateway'>
type Owned = Settings['events'][number] | Settings['steps'][number] | Settings['projects'][number]

const NAMES = { event: 'Event', step: 'Step', project: 'Project' } as const

/** Everything that `GET /api/team/lists` tells: what the Team owns, each with the changes that can be made to it. */
export const listsOf = (settings: Settings): TeamLists => ({
  lists: [entityList(settings), projectList(settings), keyList(settings)],
  targets: targetsOf(settings),
})

function entityList({ events, steps }: Settings): List {
  const inUse = events.filter(isInUse)
  return {
    title: 'Events and Steps',
    columns: ['Name', 'Last seen'],
    empty: 'An Event is a process, such as an order; Steps are what happens in it. Logs are sent to either.',
    lines: [
      ...events.flatMap((event) => [
        lineOf('event', event, isInUse(event) ? ['newStep', 'rename', 'archive'] : ['rename', 'restore']),
        // A Step of an archived Event comes back with it.
        ...event.steps.map((step) => lineOf('step', step, isInUse(event) ? changesOf(step) : ['rename'], true)),
      ]),
      ...steps.map((step) => lineOf('step', step, changesOf(step))),
    ],
    changes: { ...CHANGES, newStep: creationOf('step', 'id') },
    actions: [creationOf('event'), creationOf('step')],
    options: { event: [['', 'None, it stands alone'], ...inUse.map((one) => [one.identifier, one.name] as const)] },
  }
}

const projectList = ({ projects }: Settings): List => ({
  title: 'Projects',
  columns: ['Name', 'Last seen'],
  empty: 'A Project gathers the application logs of one program.',
  lines: projects.map((project) => lineOf('project', project, changesOf(project))),
  changes: CHANGES,
  actions: [creationOf('project')],
  options: {},
})

function targetsOf({ events, steps, projects }: Settings): TeamLists['targets'] {
  const [project, event, step] = [projects.find(isInUse), events.find(isInUse), steps.find(isInUse)]
  const application = project && pathOf('project', project.id, '/snippets')
  const entity = event
    ? pathOf('event', event.identifier, '/snippets')
    : step && pathOf('step', step.identifier, '/snippets')
  return { event: entity ?? null, application: application ?? null, flow: entity ?? application ?? null }
}

const isInUse = ({ archivedAt }: { readonly archivedAt: string | null }): boolean => archivedAt === null

const changesOf = (owned: Owned): readonly string[] => ['rename', isInUse(owned) ? 'archive' : 'restore']

/** Where the API has it. Clients take `.` and `..` out of a path, so these two are given as a parameter. */
export const pathOf = (kind: Kind, id: string, below = ''): string =>
  /^\.{1,2}$/.test(id)
    ? `/api/team/${kind}s/-${below}?identifier=${id}`
    : `/api/team/${kind}s/${encodeURIComponent(id)}${below}`

function lineOf(kind: Kind, owned: Owned, changes: readonly string[], below = false): Line {
  const { name, lastSeenAt, lastDay } = owned
  const id = 'id' in owned ? owned.id : owned.identifier
  return {
    id,
    name,
    path: pathOf(kind, id),
    below,
    state: isInUse(owned) ? 'live' : 'archived',
    at: lastSeenAt,
    about: lastDay === null ? 'not known' : lastDay === 0 ? 'not in 24 h' : `${lastDay} in 24 h`,
    snippets: isInUse(owned),
    changes,
  }
}

const archiving = (name: string, archived: boolean, done: string): Action => ({
  name,
  title: name,
  action: name,
  method: 'PATCH',
  body: { archived },
  done,
})

/** The changes that can be made to Events, Steps and Projects alike. */
const CHANGES: List['changes'] = {
  rename: {
    name: 'Rename',
    title: 'Rename',
    action: 'Rename',
    method: 'PATCH',
    fields: [{ name: 'name', label: 'Name', from: 'name', required: true }],
    done: 'Renamed, for the logs that are stored too.',
  },
  archive: archiving('Archive', true, 'Archived: its logs are refused from now on.'),
  restore: archiving('Restore', false, 'Restored.'),
}

/** The fields of a new one; of a Step the Event may be the line's. */
function creationOf(kind: Kind, event?: Field['from']): Action {
  const name = { name: 'name', label: 'Name' }
  const identifier = {
    name: 'identifier',
    label: 'Identifier',
    hint: 'What clients send, such as order-placed; it cannot be changed later.',
    required: true,
  }
  const ofEvent: Field = { name: 'event', label: 'Event', ...(event && { from: event }) }
  return {
    name: `New ${NAMES[kind]}`,
    title: `New ${NAMES[kind]}`,
    action: `Create the ${NAMES[kind]}`,
    method: 'POST',
    path: `/api/team/${kind}s`,
    fields:
      kind === 'project'
        ? [
            { ...name, required: true },
            { name: 'id', label: 'Id', hint: 'A GUID; left empty: a new one.' },
          ]
        : [identifier, { ...name, hint: 'Left empty: the identifier.' }, ...(kind === 'step' ? [ofEvent] : [])],
    done: `${NAMES[kind]} created.`,
  }
}

function keyList({ keys }: Settings): List {
  const live = keys.filter(({ revokedAt }) => revokedAt === null)
  const path = '/api/team/keys'
  const create: Action = {
    name: 'New key',
    title: 'New key',
    action: 'Make a key',
    method: 'POST',
    path,
    body: { revokeOld: false },
    text: 'The present key stays live until you revoke it, so that clients can change over.',
    ...(live.length >= LIVE_KEYS_MAX && { refused: 'Two keys are live, the most there may be.' }),
    done: 'The key was made.',
  }
  const replace: Action = {
    name: 'Replace all',
    title: 'Replace all keys',
    action: 'Replace all keys',
    method: 'POST',
    path,
    body: { revokeOld: true },
    text: 'All present keys end at once, and every client is refused until it has the new one.',
    isDanger: true,
    done: 'All keys were replaced.',
  }
  const revoke = (prefix: string): Action => ({
    name: `Revoke ${prefix}`,
    title: `Revoke the key ${prefix}…`,
    action: 'Revoke it',
    method: 'DELETE',
    text: 'Clients that still have it are refused from now on, for good. If you signed in with it, your session ends as well.',
    isDanger: true,
    done: `The key ${prefix}… was revoked.`,
  })
  return {
    title: 'Keys',
    columns: ['Begins with', 'Issued'],
    empty: 'There is no key.',
    lines: [...live, ...keys.filter(({ revokedAt }) => revokedAt !== null)].map(({ prefix, createdAt, revokedAt }) => ({
      id: prefix,
      name: null,
      path: `${path}/${encodeURIComponent(prefix)}`,
      below: false,
      state: revokedAt === null ? 'live' : 'revoked',
      at: createdAt,
      about: createdAt,
      snippets: false,
      // The last live key stays: without it nobody could sign in.
      changes: revokedAt === null && live.length > 1 ? [prefix] : [],
    })),
    changes: Object.fromEntries(live.map(({ prefix }) => [prefix, revoke(prefix)])),
    actions: [create, replace],
    options: {},
  }
}

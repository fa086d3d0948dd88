import { LIVE_KEYS_MAX } from '../../shared/registry/plan-keys.ts'
import type { Kind } from './changes.ts'
import type { settingsOf } from './settings.ts'
import type { Action, Field, Line, List, TeamLists } from './types.ts'

type Settings = Omit<ReturnType<typeof settingsOf>, 'gateway'>
type Owned = Settings['events'][number] | Settings['steps'][number] | Settings['projects'][number]
type Event = Settings['events'][number]

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
        lineOf('event', event, isInUse(event) ? [creationOf('step', inUse, event.identifier)] : []),
        ...event.steps.map((step) => lineOf('step', step, [], event)),
      ]),
      ...steps.map((step) => lineOf('step', step)),
    ],
    actions: [creationOf('event'), creationOf('step', inUse)],
  }
}

const projectList = ({ projects }: Settings): List => ({
  title: 'Projects',
  columns: ['Name', 'Last seen'],
  empty: 'A Project gathers the application logs of one program.',
  lines: projects.map((project) => lineOf('project', project)),
  actions: [creationOf('project')],
})

function targetsOf({ events, steps, projects }: Settings): TeamLists['targets'] {
  const [project] = projects.filter(isInUse).map(({ id }) => pathOf('project', id, '/snippets'))
  const [entity] = [
    ...events.filter(isInUse).map(({ identifier }) => pathOf('event', identifier, '/snippets')),
    ...steps.filter(isInUse).map(({ identifier }) => pathOf('step', identifier, '/snippets')),
  ]
  return { event: entity ?? null, application: project ?? null, flow: entity ?? project ?? null }
}

const isInUse = ({ archivedAt }: { readonly archivedAt: string | null }): boolean => archivedAt === null

/** Where the API has it. Clients take `.` and `..` out of a path, so these two are given as a parameter. */
export const pathOf = (kind: Kind, id: string, below = ''): string =>
  /^\.{1,2}$/.test(id)
    ? `/api/team/${kind}s/-${below}?identifier=${id}`
    : `/api/team/${kind}s/${encodeURIComponent(id)}${below}`

function lineOf(kind: Kind, owned: Owned, more: readonly Action[] = [], event?: Event): Line {
  const { name, lastSeenAt, lastDay } = owned
  const id = 'id' in owned ? owned.id : owned.identifier
  const path = pathOf(kind, id)
  const rename: Action = {
    name: 'Rename',
    title: `Rename the ${NAMES[kind]}`,
    action: 'Rename',
    method: 'PATCH',
    path,
    fields: [{ name: 'name', label: 'Name', value: name, required: true }],
    done: 'Renamed, for the logs that are stored too.',
  }
  const inUse = isInUse(owned)
  const archiving = inUse ? 'Archive' : 'Restore'
  const archive: Action = {
    name: archiving,
    title: archiving,
    action: archiving,
    method: 'PATCH',
    path,
    body: { archived: inUse },
    done: `${NAMES[kind]} ${inUse ? 'archived: its logs are refused from now on' : 'restored'}.`,
  }
  return {
    id,
    name,
    below: event !== undefined,
    state: inUse ? 'live' : 'archived',
    at: lastSeenAt,
    about: lastDay === null ? 'not known' : lastDay === 0 ? 'not in 24 h' : `${lastDay} in 24 h`,
    snippets: inUse ? pathOf(kind, id, '/snippets') : null,
    // A Step of an archived Event comes back with it.
    actions: [...more, rename, ...(event === undefined || isInUse(event) ? [archive] : [])],
  }
}

/** What is asked for a new one; a Step can belong to an Event that is in use. */
function creationOf(kind: Kind, events: readonly Event[] = [], event = ''): Action {
  const name = { name: 'name', label: 'Name' }
  const identifier = {
    name: 'identifier',
    label: 'Identifier',
    hint: 'What clients send, such as order-placed; it cannot be changed later.',
    required: true,
  }
  const ofEvent: Field = {
    name: 'event',
    label: 'Event',
    value: event,
    options: [['', 'None, it stands alone'], ...events.map((one) => [one.identifier, one.name] as const)],
  }
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
    path: `${path}/${encodeURIComponent(prefix)}`,
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
      below: false,
      state: revokedAt === null ? 'live' : 'revoked',
      at: createdAt,
      about: createdAt,
      snippets: null,
      // The last live key stays: without it nobody could sign in.
      actions: revokedAt === null && live.length > 1 ? [revoke(prefix)] : [],
    })),
    actions: [create, replace],
  }
}

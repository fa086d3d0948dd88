import { compareTimestamps } from '../../shared/contract/timestamp.ts'
import { describeTeam, type TeamDescription } from '../../shared/registry/describe.ts'
import { LIVE_KEYS_MAX } from '../../shared/registry/plan-keys.ts'
import { isInUse, type Registry, type Team } from '../../shared/registry/registry.ts'
import type { Action, ActionKind, Field, Line, List, TeamLists, TeamSettings } from '../schemas/team.ts'
import type { Kind } from './changes.ts'
import type { LastSeen, TargetKind } from './last-seen.ts'

/** Maximum number of revoked keys in an answer; the most recently revoked ones are kept. */
const REVOKED_MAX = 50

/** The answer of `GET /api/team`. */
export function settingsOf(
  registry: Registry,
  team: Team,
  { lastSeen, ...known }: { readonly lastSeen: LastSeen } & Pick<TeamSettings, 'limits' | 'refused' | 'gateway'>,
): TeamSettings {
  const { id, name, defaultProject, keys, ...own } = describeTeam(registry, team)
  const seen = (kind: TargetKind, target: string) => {
    const found = lastSeen.seen[kind].get(target)
    return { lastSeenAt: found?.at ?? null, lastDay: found?.count ?? (lastSeen.complete ? 0 : null) }
  }
  const stepOf = (step: TeamDescription['steps'][number]) => ({ ...step, ...seen('step', step.identifier) })
  return {
    team: { id, name, defaultProject },
    keys: shownKeys(keys),
    events: own.events.map(({ steps, ...event }) => ({
      ...event,
      ...seen('event', event.identifier),
      steps: steps.map(stepOf),
    })),
    steps: own.steps.map(stepOf),
    projects: own.projects.map((project) => ({ ...project, ...seen('project', project.id) })),
    ...known,
  }
}

/** The valid keys and the most recently revoked ones, in order of creation. */
function shownKeys(keys: TeamDescription['keys']): TeamDescription['keys'] {
  const revoked = keys
    .flatMap((key) => (key.revokedAt === null ? [] : [{ key, at: key.revokedAt }]))
    .sort((a, b) => compareTimestamps(a.at, b.at))
  const left = new Set(revoked.slice(0, -REVOKED_MAX).map(({ key }) => key))
  return keys.filter((key) => !left.has(key))
}

type Settings = Omit<TeamSettings, 'gateway'>
type Owned = Settings['events'][number] | Settings['steps'][number] | Settings['projects'][number]

/** The answer of `GET /api/team/lists`: everything the Team owns, with the possible changes. */
export const listsOf = (settings: Settings): TeamLists => ({
  lists: [entityList(settings), projectList(settings), keyList(settings)],
  limits: settings.limits,
  refused: settings.refused,
  targets: targetsOf(settings),
})

function entityList({ events, steps }: Settings): List {
  return {
    kind: 'entities',
    lines: [
      ...events.flatMap((event) => [
        lineOf('event', event, isInUse(event) ? ['newStep', 'rename', 'archive'] : ['rename', 'restore']),
        // A Step of an archived Event is restored with it.
        ...event.steps.map((step) => lineOf('step', step, isInUse(event) ? changesOf(step) : ['rename'], true)),
      ]),
      ...steps.map((step) => lineOf('step', step, changesOf(step))),
    ],
    changes: { ...CHANGES, newStep: creationOf('step', 'id') },
    actions: [creationOf('event'), creationOf('step')],
    options: { event: events.filter(isInUse).map(({ identifier, name }) => [identifier, name]) },
  }
}

const projectList = ({ team: { defaultProject }, projects }: Settings): List => ({
  kind: 'projects',
  lines: projects.map((project) => ({
    ...lineOf('project', project, changesOf(project)),
    ...(project.id === defaultProject && { isDefault: true }),
  })),
  changes: CHANGES,
  actions: [
    {
      kind: 'defaultProject',
      method: 'PATCH',
      path: '/api/team',
      body: { defaultProject: null },
      fields: [{ name: 'defaultProject', ...(defaultProject !== null && { value: defaultProject }) }],
    },
    creationOf('project'),
  ],
  options: { defaultProject: projects.filter(isInUse).map(({ id, name }) => [id, name]) },
})

function keyList({ keys }: Settings): List {
  const live = keys.filter(({ revokedAt }) => revokedAt === null)
  const path = '/api/team/keys'
  return {
    kind: 'keys',
    lines: [...live, ...keys.filter(({ revokedAt }) => revokedAt !== null)].map(({ prefix, createdAt, revokedAt }) => ({
      kind: 'key',
      id: prefix,
      name: null,
      path: `${path}/${encodeURIComponent(prefix)}`,
      below: false,
      state: revokedAt === null ? 'live' : 'revoked',
      at: createdAt,
      lastDay: null,
      snippets: false,
      // The last valid key cannot be revoked: without it nobody could sign in.
      changes: revokedAt === null && live.length > 1 ? ['revoke'] : [],
    })),
    changes: { revoke: { kind: 'revoke', method: 'DELETE', isDanger: true } },
    actions: [
      {
        kind: 'newKey',
        method: 'POST',
        path,
        body: { revokeOld: false },
        ...(live.length >= LIVE_KEYS_MAX && { isRefused: true }),
      },
      { kind: 'replaceKeys', method: 'POST', path, body: { revokeOld: true }, isDanger: true },
    ],
    options: {},
  }
}

function targetsOf({ events, steps, projects }: Settings): TeamLists['targets'] {
  const [project, event, step] = [projects.find(isInUse), events.find(isInUse), steps.find(isInUse)]
  const application = project && pathOf('project', project.id, '/snippets')
  const entity = event
    ? pathOf('event', event.identifier, '/snippets')
    : step && pathOf('step', step.identifier, '/snippets')
  return { event: entity ?? null, application: application ?? null, flow: entity ?? application ?? null }
}

const changesOf = (owned: Owned): readonly ActionKind[] => ['rename', isInUse(owned) ? 'archive' : 'restore']

/** The item's API path. URL parsers remove `.` and `..` from a path, so these two are given as a parameter. */
const pathOf = (kind: Kind, id: string, below = ''): string =>
  /^\.{1,2}$/.test(id)
    ? `/api/team/${kind}s/-${below}?identifier=${id}`
    : `/api/team/${kind}s/${encodeURIComponent(id)}${below}`

function lineOf(kind: Kind, owned: Owned, changes: readonly ActionKind[], below = false): Line {
  const { name, lastSeenAt, lastDay } = owned
  const id = 'id' in owned ? owned.id : owned.identifier
  return {
    kind,
    id,
    name,
    path: pathOf(kind, id),
    below,
    state: isInUse(owned) ? 'live' : 'archived',
    at: lastSeenAt,
    lastDay,
    snippets: isInUse(owned),
    changes,
  }
}

/** The changes common to Events, Steps and Projects. */
const CHANGES: List['changes'] = {
  rename: { kind: 'rename', method: 'PATCH', fields: [{ name: 'name', from: 'name', required: true }] },
  archive: { kind: 'archive', method: 'PATCH', body: { archived: true } },
  restore: { kind: 'restore', method: 'PATCH', body: { archived: false } },
}

const CREATIONS = {
  event: { kind: 'newEvent', fields: [{ name: 'identifier', required: true }, { name: 'name' }] },
  step: { kind: 'newStep', fields: [{ name: 'identifier', required: true }, { name: 'name' }] },
  project: { kind: 'newProject', fields: [{ name: 'name', required: true }, { name: 'id' }] },
} as const satisfies Record<Kind, Pick<Action, 'kind' | 'fields'>>

/** The creation form; the Event of a new Step may come from the line. */
function creationOf(of: Kind, event?: Field['from']): Action {
  const { kind, fields } = CREATIONS[of]
  const ofEvent: Field = { name: 'event', ...(event && { from: event }) }
  return { kind, method: 'POST', path: `/api/team/${of}s`, fields: of === 'step' ? [...fields, ofEvent] : fields }
}

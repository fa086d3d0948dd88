import { timestampOf } from '../contract/timestamp.ts'
import { applyPlan } from './apply-plan.ts'
import type { RegistryFile } from './file.ts'
import { type KnownRegistry, type RegistryAdminDeps, readTopic } from './journal-access.ts'
import { impossible, type Plan, planApply } from './plan.ts'
import type { RegistryState } from './records.ts'
import type { Entity, Project, Registry, Team } from './registry.ts'
import { createRegistryFold } from './registry-fold.ts'

/** An Event, Step or Project as a Team wants it; omitted fields stay as they are, or get their defaults. */
export interface OwnItem {
  readonly kind: 'event' | 'step' | 'project'
  /** An identifier, or a Project's GUID in canonical form. */
  readonly id: string
  readonly name?: string | undefined
  readonly archived?: boolean | undefined
  /** For a Step: its Event, or null for none. */
  readonly event?: string | null | undefined
  /** For a Step: its position among the Steps of its Event. */
  readonly order?: number | undefined
}

type OwnResult<Item = Entity | Project> =
  /** `item` is its present state; it may have been as wanted before. */
  { readonly outcome: 'changed'; readonly item: Item } | { readonly outcome: 'refused'; readonly because: OwnRefusal }

export type OwnRefusal =
  | 'not_found'
  | 'exists'
  | 'exists_archived'
  /** Another Team has the identifier; nothing more is revealed. */
  | 'taken'
  | 'unknown_event'
  | 'archived_event'
  | 'unknown_project'
  | 'archived_project'
  | 'too_many'
  /** Another process changed the same object at the same time. */
  | 'overtaken'

/** Maximum for changes by a Team: every process holds the whole registry in memory. An operator's file may have more. */
export const OWN_ITEMS_MAX = 1_000

/**
 * Creates or changes an object of a Team, using the plan of a registry file. Its answers reveal nothing about other Teams, except that an
 * identifier is taken. Rejects as the journal does.
 */
export async function changeOwn(
  deps: RegistryAdminDeps,
  team: string,
  item: OwnItem,
  how: 'create' | 'change',
): Promise<OwnResult> {
  const present = await readTopic(deps)
  const because = refusalOf(present.state, team, item, how)
  if (because !== undefined) return { outcome: 'refused', because }
  const itemIn = (registry: Registry) =>
    item.kind === 'project' ? registry.project(item.id) : registry.entity(item.id)
  return applyOwn(deps, present, fileOf(team, item), itemIn, (state) => hasTooMany(state, team, item))
}

/** Sets the Project of a Team for logs of unknown services; null for none. Rejects as the journal does. */
export async function setDefaultProject(
  deps: RegistryAdminDeps,
  team: string,
  project: string | null,
): Promise<OwnResult<Team>> {
  const present = await readTopic(deps)
  const found = project === null ? undefined : present.state.project.get(project)
  if (project !== null && found?.team !== team) return { outcome: 'refused', because: 'unknown_project' }
  if (found?.archivedAt !== undefined) return { outcome: 'refused', because: 'archived_project' }
  const named = { line: 1, id: team, name: undefined, apiKeys: undefined, defaultProject: project, limits: undefined }
  const file = { teams: [named], events: [], steps: [], projects: [] }
  return applyOwn(deps, present, file, (registry) => registry.team(team))
}

/** Applies a file to the registry as it was read; `itemOf` finds the object that it changes, `isFull` whether there is no room for it. */
async function applyOwn<Item>(
  deps: RegistryAdminDeps,
  present: KnownRegistry,
  file: RegistryFile,
  itemOf: (registry: Registry) => Item | undefined,
  isFull: (state: RegistryState) => boolean = () => false,
): Promise<OwnResult<Item>> {
  const options = { prune: false, now: timestampOf(deps.clock.now()) }
  const planOn = (state: RegistryState): Plan =>
    isFull(state) ? impossible('too_many') : planApply(state, file, options)
  const { left, state } = await applyPlan(deps, present, planOn)
  if (isFull(state)) return { outcome: 'refused', because: 'too_many' }
  const item = itemOf(createRegistryFold(state).registry)
  if (left.problems.length > 0 || left.changes.length > 0 || item === undefined)
    return { outcome: 'refused', because: 'overtaken' }
  return { outcome: 'changed', item }
}

/** Whether the Team has as many items of this kind as it may have by itself, and this one is not among them. */
const hasTooMany = (state: RegistryState, team: string, { kind, id }: OwnItem): boolean =>
  !state[kind].has(id) && [...state[kind].values()].filter((one) => one.team === team).length >= OWN_ITEMS_MAX

function refusalOf(
  state: RegistryState,
  team: string,
  item: OwnItem,
  how: 'create' | 'change',
): OwnRefusal | undefined {
  const { kind, id } = item
  const own = state[kind].get(id)
  if (how === 'change') {
    if (own?.team !== team) return 'not_found'
  } else {
    const present = own ?? (kind === 'project' ? undefined : (state.event.get(id) ?? state.step.get(id)))
    if (present !== undefined && present.team !== team) return 'taken'
    if (present !== undefined) return present.archivedAt === undefined ? 'exists' : 'exists_archived'
    if (hasTooMany(state, team, item)) return 'too_many'
  }
  return kind === 'step' ? eventRefusal(state, team, item) : undefined
}

/** A Step belongs to an Event of its Team, and can be in use only with it. */
function eventRefusal(state: RegistryState, team: string, { id, event, archived }: OwnItem): OwnRefusal | undefined {
  const present = state.step.get(id)
  const identifier = event === undefined ? (present?.event ?? null) : event
  if (identifier === null) return undefined
  const found = state.event.get(identifier)
  if (found?.team !== team) return event === undefined ? undefined : 'unknown_event'
  const joins = present?.event !== identifier || archived === false
  return joins && found.archivedAt !== undefined ? 'archived_event' : undefined
}

/** The item as the only content of a file. */
function fileOf(team: string, { kind, id, name, archived, event, order }: OwnItem): RegistryFile {
  const common = { line: 1, id, team, name, archived }
  return {
    teams: [],
    events: kind === 'event' ? [common] : [],
    steps: kind === 'step' ? [{ ...common, event, order }] : [],
    projects: kind === 'project' ? [common] : [],
  }
}

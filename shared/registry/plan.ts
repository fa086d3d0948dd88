import { isDeepStrictEqual } from 'node:util'
import type { FileEvent, FileTeam, RegistryFile } from './file.ts'
import { liveKeyIds, type Planner, planKeys, revocations } from './plan-keys.ts'
import { archived, type RegistryRecord, type RegistryState, splitOwnedId } from './records.ts'
import type { Archivable } from './schema.ts'
import { byLine, type FileProblem } from './yaml-reader.ts'

export interface Plan {
  /** The records to append, in this order; empty if there are problems. */
  readonly changes: readonly RegistryRecord[]
  readonly problems: readonly FileProblem[]
  /** Effects that the operator may not expect. */
  readonly notes: readonly string[]
}

/** The plan of a state that is as wanted. */
export const NOTHING: Plan = { changes: [], problems: [], notes: [] }

/** The plan for a change that is not possible. */
export const impossible = (message: string): Plan => ({ ...NOTHING, problems: [{ line: null, message }] })

/**
 * The changes after which the registry matches the file. A field that the file omits stays as it is, and a new object gets the field's
 * default. Pure and idempotent: once its changes are folded in, it plans none.
 */
export function planApply(state: RegistryState, file: RegistryFile, options: Pick<Planner, 'prune' | 'now'>): Plan {
  const changes: RegistryRecord[] = []
  const problems: FileProblem[] = []
  const notes: string[] = []
  const planner: Planner = {
    state,
    file,
    ...options,
    put: (record) => changes.push(record),
    fail: (line, message) => problems.push({ line, message }),
    say: (note) => notes.push(note),
  }
  planTeams(planner)
  planKeys(planner)
  checkOwned(planner)
  planNamed('event', 'Event', file.events, planner)
  planSteps(planner)
  planNamed('project', 'Project', file.projects, planner)
  if (options.prune) planRemovals(planner)
  if (problems.length > 0) return { changes: [], problems: problems.toSorted(byLine), notes: [] }
  return { changes, problems, notes }
}

function planTeams(planner: Planner): void {
  const { state, file, prune, put } = planner
  const projects = new Map(file.projects.map((project) => [project.id, project]))
  for (const item of file.teams) {
    const { id, name } = item
    const present = state.team.get(id)
    const project = defaultProjectOf(id, planner, projects, item)
    const limits = item.limits === undefined ? present?.limits : (item.limits ?? undefined)
    const value = {
      name: name ?? present?.name ?? id,
      ...(project !== undefined && { defaultProject: project }),
      ...(limits !== undefined && { limits }),
    }
    if (!isDeepStrictEqual(value, present)) put({ kind: 'team', id, value })
  }
  if (prune) return
  const listed = new Set(file.teams.map(({ id }) => id))
  for (const [id, { defaultProject, ...rest }] of state.team)
    if (!listed.has(id) && defaultProject !== defaultProjectOf(id, planner, projects))
      put({ kind: 'team', id, value: rest })
}

/**
 * A Team's Project for logs of unknown services once the file is applied. An archived Project does not count: if the file archives it, the
 * file may not name it; if the Team archived it, that is only reported.
 */
function defaultProjectOf(
  team: string,
  { state, prune, fail, say }: Planner,
  projects: ReadonlyMap<string, FileEvent>,
  item?: FileTeam,
): string | undefined {
  const present = state.team.get(team)?.defaultProject
  const wanted = item?.defaultProject
  const id = wanted === undefined ? present : wanted
  if (id === undefined || id === null) return undefined
  const inFile = projects.get(id)
  const before = state.project.get(id)
  const owner = inFile?.team ?? (prune ? undefined : before?.team)
  const isArchived = inFile?.archived ?? before?.archivedAt !== undefined
  if (owner === team && !isArchived) return id
  const what = `the Project "${id}"`
  const fault =
    owner === undefined
      ? missing('Project', id, prune)
      : owner === team
        ? `${what} is archived`
        : `${what} belongs to the Team "${owner}"`
  if (item && wanted && (owner !== team || inFile?.archived)) fail(item.line, `defaultProject: ${fault}`)
  else say(`the Team "${team}" has no Project for unknown services now: ${fault}`)
  return undefined
}

/** Refuses objects of another Team, of a missing Team, or of the other kind in the namespace shared by Events and Steps. */
function checkOwned({ state, file, prune, fail }: Planner): void {
  const teams = idsAfter(state.team, file.teams, prune)
  const check = (items: readonly FileEvent[], own: Owned, other?: Owned, otherName?: string): void => {
    for (const { id, team, line } of items) {
      if (team === undefined) continue
      if (!teams.has(team)) fail(line, missing('Team', team, prune))
      const present = own.get(id) ?? other?.get(id)
      if (present !== undefined && present.team !== team) {
        fail(line, `the identifier ${JSON.stringify(id)} belongs to the Team "${present.team}"`)
      } else if (!prune && other?.has(id)) {
        fail(line, `the registry has ${otherName} ${JSON.stringify(id)}; Events and Steps share their identifiers`)
      }
    }
  }
  check(file.events, state.event, state.step, 'a Step')
  check(file.steps, state.step, state.event, 'an Event')
  check(file.projects, state.project)
}

type Owned = ReadonlyMap<string, { readonly team: string }>

/** The ids in the registry once the file is applied. */
const idsAfter = (
  present: ReadonlyMap<string, unknown>,
  file: readonly { id: string }[],
  prune: boolean,
): Set<string> => new Set([...(prune ? [] : present.keys()), ...file.map(({ id }) => id)])

function missing(what: string, id: string, prune: boolean): string {
  const thing = `there is no ${what} ${JSON.stringify(id)}`
  return prune
    ? `${thing} in the file, and --prune leaves nothing else`
    : `${thing}, neither in the file nor in the registry`
}

/**
 * Whether the object is archived once the file is applied: a file that does not say leaves it as it is, and notes that its operator may not
 * expect it.
 */
function markOf(what: string, item: FileEvent, present: Archivable | undefined, { now, say }: Planner): Archivable {
  const since = present?.archivedAt
  if (item.archived === undefined && since !== undefined)
    say(`the ${what} ${JSON.stringify(item.id)} is archived and stays so; \`archived: false\` restores it`)
  return item.archived === false ? {} : archived(since ?? (item.archived ? now : undefined))
}

/** Plans the Events or the Projects: a name and a mark each. */
function planNamed(kind: 'event' | 'project', what: string, items: readonly FileEvent[], planner: Planner): void {
  for (const item of items) {
    const { id, team, name } = item
    if (team === undefined) continue
    const present = planner.state[kind].get(id)
    const value = { team, name: name ?? present?.name ?? id, ...markOf(what, item, present, planner) }
    if (!isDeepStrictEqual(value, present)) planner.put({ kind, id, value })
  }
}

function planSteps(planner: Planner): void {
  const { state, file, prune, put, fail } = planner
  const events = idsAfter(state.event, file.events, prune)
  const teamOfEvent = new Map([...state.event].map(([id, { team }]) => [id, team as string | undefined]))
  for (const { id, team } of file.events) teamOfEvent.set(id, team)
  const orders = highestOrders(state, file)
  for (const item of file.steps) {
    const { id, team, name, event: given, order: place, line } = item
    if (team === undefined) continue
    const present = state.step.get(id)
    const event = given === undefined ? (present?.event ?? null) : given
    if (event !== null && !events.has(event)) {
      fail(line, missing('Event', event, prune))
      continue
    }
    const owner = event === null ? undefined : teamOfEvent.get(event)
    if (owner !== undefined && owner !== team) {
      fail(
        line,
        `the Event ${JSON.stringify(event)} belongs to the Team "${owner}", and a Step to the Team of its Event`,
      )
    }
    const kept = present?.event === event ? present.order : undefined
    const order = place ?? kept ?? orders.next(event)
    const value = { team, event, name: name ?? present?.name ?? id, order, ...markOf('Step', item, present, planner) }
    if (!isDeepStrictEqual(value, present)) put({ kind: 'step', id, value })
  }
}

/** The order of Steps for which none is given: after every existing Step of the Event. A Step without an Event is the first. */
function highestOrders(state: RegistryState, file: RegistryFile): { next(event: string | null): number } {
  const highest = new Map<string, number>()
  const see = (event: string | null | undefined, order: number | undefined): void => {
    if (event && order !== undefined) highest.set(event, Math.max(highest.get(event) ?? 0, order))
  }
  for (const { event, order } of state.step.values()) see(event, order)
  for (const { event, order } of file.steps) see(event, order)
  return {
    next: (event) => {
      if (event === null) return 1
      see(event, (highest.get(event) ?? 0) + 1)
      return highest.get(event) ?? 1
    },
  }
}

/** Removes everything that the file lacks, from the leaves up, so that no follower sees a Step of a removed Event. */
function planRemovals({ state, file, now, put }: Planner): void {
  const lacking = (present: ReadonlyMap<string, unknown>, listed: readonly { id: string }[]): string[] => {
    const ids = new Set(listed.map(({ id }) => id))
    return [...present.keys()].filter((id) => !ids.has(id))
  }
  for (const id of lacking(state.step, file.steps)) put({ kind: 'step', id, value: null })
  for (const id of lacking(state.event, file.events)) put({ kind: 'event', id, value: null })
  for (const id of lacking(state.project, file.projects)) put({ kind: 'project', id, value: null })
  const live = liveKeyIds(state)
  const teams = new Set(file.teams.map(({ id }) => id))
  // The keys of every Team that is not listed, even of one that was removed before, so that none revives with its Team.
  for (const [team, ids] of live) if (!teams.has(team)) for (const change of revocations(state, ids, now)) put(change)
  for (const id of state.search.keys()) if (!teams.has(splitOwnedId(id).team)) put({ kind: 'search', id, value: null })
  for (const id of lacking(state.team, file.teams)) put({ kind: 'team', id, value: null })
}

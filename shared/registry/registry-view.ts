import { compareTimestamps } from '../contract/timestamp.ts'
import { hashKey, hashKeyHex, includesHash } from './keys.ts'
import { archived, emptyState, type RegistryState, splitOwnedId } from './records.ts'
import type { Entity, EventEntity, KeyInfo, Project, Registry, SavedSearch, StepEntity, Team } from './registry.ts'

export interface RegistryView {
  readonly registry: Registry
  /** Shows this state from now on, which may be another one or the same with changes. */
  show(state: RegistryState): void
}

/** A state of the registry in the form that its readers use. */
export function createRegistryView(initial: RegistryState = emptyState()): RegistryView {
  let state = initial
  let index = indexOf(state)
  let stale = false
  // Records come rarely and in batches: the first read after a change rebuilds the indices.
  const fresh = (): Index => {
    if (stale) index = indexOf(state)
    stale = false
    return index
  }
  const liveKeys = (teamId: string): readonly Buffer[] => fresh().teams.get(teamId)?.liveHashes ?? []

  return {
    show: (next) => {
      state = next
      stale = true
    },
    registry: {
      entity: (identifier) => fresh().entities.get(identifier),
      project: (id) => fresh().projects.get(id),
      team: (id) => fresh().teams.get(id)?.team,
      hasKey: (teamId) => liveKeys(teamId).length > 0,
      keyOpens: (teamId, apiKey) => {
        const { goodKeys } = fresh()
        const known = goodKeys.get(apiKey)
        const hash = known ?? hashKey(apiKey)
        const opens = includesHash(liveKeys(teamId), hash)
        if (opens && known === undefined) goodKeys.set(apiKey, hash)
        return opens
      },
      // A lookup by hash reveals at most how a hash begins, which tells nothing about a random key.
      ownerOfKey: (apiKey) => {
        const { owners, teamByHash } = fresh()
        const known = owners.get(apiKey)
        if (known !== undefined) return known
        const hash = hashKeyHex(apiKey)
        const team = teamByHash.get(hash)
        if (team === undefined) return undefined
        const owner = team?.id ?? hash
        owners.set(apiKey, owner)
        return owner
      },
      teamOfKey: (apiKey) => fresh().teamByHash.get(hashKeyHex(apiKey)) ?? undefined,
      teams: () => [...fresh().teams.values()].map(({ team }) => team),
      keysOf: (teamId) => fresh().teams.get(teamId)?.keys ?? [],
      eventsOf: (teamId) => fresh().teams.get(teamId)?.events ?? [],
      stepsOf: (teamId) => fresh().teams.get(teamId)?.steps ?? [],
      projectsOf: (teamId) => fresh().teams.get(teamId)?.projects ?? [],
      projectsNamed: (teamId, name) => fresh().teams.get(teamId)?.projectsByName.get(nameKey(name)) ?? [],
      searchesOf: (teamId) => fresh().teams.get(teamId)?.searches ?? [],
    },
  }
}

/** A Team with everything it owns, each list in the order in which it is shown. */
interface TeamEntry {
  readonly team: Team
  readonly keys: KeyInfo[]
  readonly liveHashes: Buffer[]
  readonly events: EventEntity[]
  readonly steps: StepEntity[]
  readonly projects: Project[]
  readonly projectsByName: Map<string, Project[]>
  readonly searches: SavedSearch[]
}

interface Index {
  readonly teams: ReadonlyMap<string, TeamEntry>
  readonly entities: ReadonlyMap<string, Entity>
  readonly projects: ReadonlyMap<string, Project>
  /** Null if more than one Team has the key: it then identifies no Team. */
  readonly teamByHash: ReadonlyMap<string, Team | null>
  /**
   * The hashes of presented keys that opened something, until the registry changes: keys come with every request. At most, the time of a
   * lookup reveals to the holder of a key that it was presented before.
   */
  readonly goodKeys: Map<string, Buffer>
  /** The owners of these keys, cached for the same reason. */
  readonly owners: Map<string, string>
}

/**
 * The state in the form that readers need. It depends only on the state, not on the order in which it came about, so that every process
 * answers alike; objects of a missing Team belong to nobody.
 */
function indexOf(state: RegistryState): Index {
  const teams = new Map<string, TeamEntry>()
  for (const [id, { name, defaultProject, limits }] of [...state.team].sort(byId)) {
    const project = state.project.get(defaultProject ?? '')
    // Only a concurrent change by another process can leave one here that takes no logs.
    const takesLogs = project?.team === id && project.archivedAt === undefined
    teams.set(id, {
      team: {
        id,
        name,
        ...(takesLogs && defaultProject !== undefined && { defaultProject }),
        ...(limits !== undefined && { limits }),
      },
      keys: [],
      liveHashes: [],
      events: [],
      steps: [],
      projects: [],
      projectsByName: new Map(),
      searches: [],
    })
  }
  const entities = new Map<string, Entity>()
  for (const [identifier, value] of [...state.step].sort(byEventAndOrder)) {
    // A Step is archived with its Event, and returns with it as it was.
    const eventMark = state.event.get(value.event ?? '')?.archivedAt
    const step: StepEntity = { kind: 'step', identifier, ...value, ...archived(value.archivedAt ?? eventMark) }
    entities.set(identifier, step)
    teams.get(value.team)?.steps.push(step)
  }
  // Only a record that bypassed the admin can give an Event and a Step the same identifier; the Event then has it.
  for (const [identifier, value] of [...state.event].sort(byId)) {
    const event: EventEntity = { kind: 'event', identifier, ...value }
    entities.set(identifier, event)
    teams.get(value.team)?.events.push(event)
  }
  const projects = new Map<string, Project>()
  for (const [id, value] of [...state.project].sort(byId)) {
    const project: Project = { id, ...value }
    projects.set(id, project)
    const owner = teams.get(value.team)
    owner?.projects.push(project)
    append(owner?.projectsByName, nameKey(value.name), project)
  }
  for (const [recordId, value] of [...state.search].sort(byName)) {
    const { team, id } = splitOwnedId(recordId)
    teams.get(team)?.searches.push({ id, ...value })
  }
  return { teams, entities, projects, teamByHash: addKeys(state, teams), goodKeys: new Map(), owners: new Map() }
}

function addKeys(state: RegistryState, teams: ReadonlyMap<string, TeamEntry>): Map<string, Team | null> {
  const teamByHash = new Map<string, Team | null>()
  for (const [id, value] of [...state.key].sort(byCreation)) {
    const { team, id: hash } = splitOwnedId(id)
    const entry = teams.get(team)
    if (entry === undefined) continue
    entry.keys.push({ hash, ...value })
    if (value.revokedAt !== null) continue
    entry.liveHashes.push(Buffer.from(hash, 'hex'))
    teamByHash.set(hash, teamByHash.has(hash) ? null : entry.team)
  }
  return teamByHash
}

/** The same text for names that look alike or differ in case alone: macOS writes é as two characters. */
const nameKey = (name: string): string => name.normalize().toLowerCase()

function append<Value>(lists: Map<string, Value[]> | undefined, name: string, value: Value): void {
  const list = lists?.get(name)
  if (list === undefined) lists?.set(name, [value])
  else list.push(value)
}

type Entry<Value> = readonly [id: string, value: Value]

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const byId = ([a]: Entry<unknown>, [b]: Entry<unknown>): number => compare(a, b)

const byName = ([a, left]: Entry<{ name: string }>, [b, right]: Entry<{ name: string }>): number =>
  compare(left.name, right.name) || compare(a, b)

const byCreation = ([a, left]: Entry<{ createdAt: string }>, [b, right]: Entry<{ createdAt: string }>): number =>
  compareTimestamps(left.createdAt, right.createdAt) || compare(a, b)

const byEventAndOrder = (
  [a, left]: Entry<{ event: string | null; order: number }>,
  [b, right]: Entry<{ event: string | null; order: number }>,
): number => compare(left.event ?? '', right.event ?? '') || left.order - right.order || compare(a, b)

import { compareTimestamps } from '../contract/timestamp.ts'
import type { JournalRecord } from '../journal/journal.ts'
import { hashKey, hashKeyHex, includesHash } from './keys.ts'
import {
  archived,
  decodeRecord,
  emptyState,
  fold,
  ownedId,
  type RegistryKind,
  type RegistryRecord,
  type RegistryState,
  recordsOf,
  splitOwnedId,
  type Unreadable,
} from './records.ts'
import type { Entity, EventEntity, KeyInfo, Project, Registry, SavedSearch, StepEntity, Team } from './registry.ts'

interface RegistryFold {
  readonly registry: Registry
  /** The state after all records so far; later ones change it in place. */
  readonly state: RegistryState
  readonly owned: Owned
  read: ReturnType<typeof readerOf>
  /** Folds records of the registry topic, in order; never throws. */
  fold(records: readonly Pick<JournalRecord, 'key' | 'value' | 'offset'>[]): void
}

/**
 * A registry in memory that starts from `state` and follows the records folded into it. `onUnreadable` is called for each record that this
 * program cannot have written. A record costs the same however large the registry is, and a list as much as its Team has.
 */
export function createRegistryFold(
  state: RegistryState = emptyState(),
  onUnreadable: (reason: Unreadable, offset: number) => void = () => undefined,
): RegistryFold {
  const owned = ownedIn(state)
  const folded: RegistryFold = {
    registry: createRegistry(() => folded),
    state,
    owned,
    read: readerOf(state, owned),
    fold: (records) => {
      for (const each of records) {
        const { record, unreadable } = decodeRecord(each)
        if (unreadable !== undefined) onUnreadable(unreadable, each.offset)
        if (record === undefined) continue
        disown(owned, state, record)
        fold(state, record)
        own(owned, record)
      }
      // Records come rarely and in batches: the lists that are asked for after a change are made anew.
      folded.read = readerOf(state, owned)
    },
  }
  return folded
}

/** One registry for all readers, although another fold answers once the topic was read again. */
export function createRegistry(present: () => RegistryFold): Registry {
  const listsOfTeam = (teamId: string) => present().read.team(teamId)
  return {
    entity: (identifier) => entityOf(present().state, identifier),
    project: (id) => projectOf(present().state, id),
    team: (id) => teamOf(present().state, id),
    hasKey: (teamId) => (listsOfTeam(teamId)?.liveHashes().length ?? 0) > 0,
    keyOpens: (teamId, apiKey) => {
      const { read } = present()
      const known = read.goodKeys.get(apiKey)
      const hash = known ?? hashKey(apiKey)
      const opens = includesHash(read.team(teamId)?.liveHashes() ?? [], hash)
      if (opens && known === undefined) read.goodKeys.set(apiKey, hash)
      return opens
    },
    // A lookup by hash reveals at most how a hash begins, which tells nothing about a random key.
    ownerOfKey: (apiKey) => {
      const { state, owned, read } = present()
      const known = read.owners.get(apiKey)
      if (known !== undefined) return known
      const hash = hashKeyHex(apiKey)
      const [team, another] = openedBy(state, owned, hash)
      if (team === undefined) return undefined
      const owner = another === undefined ? team : hash
      read.owners.set(apiKey, owner)
      return owner
    },
    teamOfKey: (apiKey) => {
      const { state, owned } = present()
      const [team, another] = openedBy(state, owned, hashKeyHex(apiKey))
      return team === undefined || another !== undefined ? undefined : teamOf(state, team)
    },
    formerTeamOfKey: (apiKey) => {
      const { state, owned } = present()
      const hash = hashKeyHex(apiKey)
      const [team, another] = owned.teamsOfKey.get(hash) ?? []
      const isFormer = openedBy(state, owned, hash).length === 0
      return isFormer && team !== undefined && another === undefined ? teamOf(state, team) : undefined
    },
    teams: () => present().read.teams(),
    keysOf: (teamId) => listsOfTeam(teamId)?.keys() ?? [],
    eventsOf: (teamId) => listsOfTeam(teamId)?.events() ?? [],
    stepsOf: (teamId) => listsOfTeam(teamId)?.steps() ?? [],
    projectsOf: (teamId) => listsOfTeam(teamId)?.projects() ?? [],
    projectsNamed: (teamId, name) => listsOfTeam(teamId)?.projectsByName().get(nameKey(name)) ?? [],
    searchesOf: (teamId) => listsOfTeam(teamId)?.searches() ?? [],
  }
}

type OwnedKind = Exclude<RegistryKind, 'team'>

/** The ids of all that belongs to a Team, so that nothing has to be looked for among all Teams. */
interface Owned {
  /** The ids of records, by the id of their Team. */
  readonly of: { readonly [Kind in OwnedKind]: Map<string, Set<string>> }
  /** The ids of the Teams that have or had a key, by its hash. */
  readonly teamsOfKey: Map<string, Set<string>>
}

function ownedIn(state: RegistryState): Owned {
  const owned: Owned = {
    of: { event: new Map(), step: new Map(), project: new Map(), key: new Map(), search: new Map() },
    teamsOfKey: new Map(),
  }
  for (const record of recordsOf(state)) own(owned, record)
  return owned
}

/** Adds a record that is in the state now. */
function own({ of, teamsOfKey }: Owned, { kind, id, value }: RegistryRecord): void {
  if (kind === 'team' || value === null) return
  append(of[kind], ownerOf(id, value), id)
  if (kind === 'key') append(teamsOfKey, splitOwnedId(id).id, splitOwnedId(id).team)
}

/** Removes the record that the new one replaces. */
function disown({ of, teamsOfKey }: Owned, state: RegistryState, { kind, id }: RegistryRecord): void {
  const before = state[kind].get(id)
  if (kind === 'team' || before === undefined) return
  remove(of[kind], ownerOf(id, before), id)
  if (kind === 'key') remove(teamsOfKey, splitOwnedId(id).id, splitOwnedId(id).team)
}

const ownerOf = (id: string, value: object): string =>
  'team' in value && typeof value.team === 'string' ? value.team : splitOwnedId(id).team

function append(sets: Map<string, Set<string>>, name: string, id: string): void {
  const set = sets.get(name)
  if (set === undefined) sets.set(name, new Set([id]))
  else set.add(id)
}

function remove(sets: Map<string, Set<string>>, name: string, id: string): void {
  const set = sets.get(name)
  if (set?.delete(id) && set.size === 0) sets.delete(name)
}

/** The ids of the Teams that the key with this hash opens: of several, it identifies none. */
const openedBy = (state: RegistryState, { teamsOfKey }: Owned, hash: string): readonly string[] =>
  [...(teamsOfKey.get(hash) ?? [])].filter(
    (team) => state.team.has(team) && state.key.get(ownedId(team, hash))?.revokedAt === null,
  )

function teamOf(state: RegistryState, id: string): Team | undefined {
  const value = state.team.get(id)
  if (value === undefined) return undefined
  const { name, defaultProject, limits } = value
  const project = state.project.get(defaultProject ?? '')
  // Only a concurrent change by another process can leave one here that takes no logs.
  const takesLogs = project?.team === id && project.archivedAt === undefined
  return {
    id,
    name,
    ...(takesLogs && defaultProject !== undefined && { defaultProject }),
    ...(limits !== undefined && { limits }),
  }
}

/** The Event with this identifier, else the Step: only a record that bypassed the admin can give both the same one. */
const entityOf = (state: RegistryState, identifier: string): Entity | undefined =>
  eventOf(state, identifier) ?? stepOf(state, identifier)

function eventOf(state: RegistryState, identifier: string): EventEntity | undefined {
  const value = state.event.get(identifier)
  return value && { kind: 'event', identifier, ...value }
}

/** A Step is archived with its Event, and returns with it as it was. */
function stepOf(state: RegistryState, identifier: string): StepEntity | undefined {
  const value = state.step.get(identifier)
  if (value === undefined) return undefined
  const eventMark = state.event.get(value.event ?? '')?.archivedAt
  return { kind: 'step', identifier, ...value, ...archived(value.archivedAt ?? eventMark) }
}

function projectOf(state: RegistryState, id: string): Project | undefined {
  const value = state.project.get(id)
  return value && { id, ...value }
}

function keyInfoOf(state: RegistryState, id: string): KeyInfo | undefined {
  const value = state.key.get(id)
  return value && { hash: splitOwnedId(id).id, ...value }
}

function searchOf(state: RegistryState, id: string): SavedSearch | undefined {
  const value = state.search.get(id)
  return value && { id: splitOwnedId(id).id, ...value }
}

/**
 * The lists of the state until its next change, each made when it is first asked for. They depend only on the state, not on the order in
 * which it came about, so that every process answers alike; objects of a missing Team belong to nobody.
 */
function readerOf(state: RegistryState, owned: Owned) {
  const teams = new Map<string, ReturnType<typeof listsOf>>()
  return {
    teams: lazily(() => [...state.team.keys()].sort(compare).flatMap((id) => teamOf(state, id) ?? [])),
    team: (id: string): ReturnType<typeof listsOf> | undefined => {
      const known = teams.get(id)
      if (known !== undefined || !state.team.has(id)) return known
      const lists = listsOf(state, owned, id)
      teams.set(id, lists)
      return lists
    },
    /**
     * The hashes of presented keys that opened something: keys come with every request. At most, the time of a lookup reveals to the holder
     * of a key that it was presented before.
     */
    goodKeys: new Map<string, Buffer>(),
    /** The owners of these keys, cached for the same reason. */
    owners: new Map<string, string>(),
  }
}

/** The items of a Team, each list in the order in which it is shown. */
function listsOf(state: RegistryState, { of }: Owned, team: string) {
  const listOf = <Item>(
    kind: OwnedKind,
    itemOf: (state: RegistryState, id: string) => Item | undefined,
    order: Order<Item>,
  ) => lazily(() => [...(of[kind].get(team) ?? [])].flatMap((id) => itemOf(state, id) ?? []).sort(order))
  const keys = listOf('key', keyInfoOf, byCreation)
  const projects = listOf('project', projectOf, (a, b) => compare(a.id, b.id))
  return {
    keys,
    liveHashes: lazily(() =>
      keys().flatMap(({ hash, revokedAt }) => (revokedAt === null ? [Buffer.from(hash, 'hex')] : [])),
    ),
    events: listOf('event', eventOf, (a, b) => compare(a.identifier, b.identifier)),
    steps: listOf('step', stepOf, byEventAndOrder),
    projects,
    projectsByName: lazily(() => Map.groupBy(projects(), ({ name }) => nameKey(name))),
    searches: listOf('search', searchOf, byName),
  }
}

type Order<Item> = (a: Item, b: Item) => number

function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Four times the longest name of a Project: no normal form of it is longer. */
const NORMALIZED_LENGTH_MAX = 4_096
/**
 * More combining marks in a row than any language writes (UAX #15, Stream-Safe Text Format). To normalise them takes the square of their
 * number, and senders choose the name that is looked for.
 */
const UNSAFE_TO_NORMALIZE = /\p{M}{31}/u

/** The same text for names that look alike or differ in case alone: macOS writes é as two characters. */
function nameKey(name: string): string {
  const isSafe = name.length <= NORMALIZED_LENGTH_MAX && !UNSAFE_TO_NORMALIZE.test(name)
  return (isSafe ? name.normalize() : name).toLowerCase()
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const byName = (a: SavedSearch, b: SavedSearch): number => compare(a.name, b.name) || compare(a.id, b.id)

const byCreation = (a: KeyInfo, b: KeyInfo): number =>
  compareTimestamps(a.createdAt, b.createdAt) || compare(a.hash, b.hash)

const byEventAndOrder = (a: StepEntity, b: StepEntity): number =>
  compare(a.event ?? '', b.event ?? '') || a.order - b.order || compare(a.identifier, b.identifier)

import type { RegistryValues } from './schema.ts'

/**
 * The registry as a process holds it in memory: Teams with their keys, Events, Steps and Projects. It is folded from the records of a
 * compacted topic (records.ts), and is read-only here.
 */
export interface Registry {
  /** The Event or Step with exactly this identifier, archived ones included; they share one namespace over all Teams. */
  entity(identifier: string): Entity | undefined
  /** The Project with this GUID in canonical form. */
  project(id: string): Project | undefined
  team(id: string): Team | undefined
  /** Whether the Team has at least one live key. */
  hasKey(teamId: string): boolean
  /** Whether the presented key is one of the Team's live keys, in time that reveals nothing about them. */
  keyOpens(teamId: string, apiKey: string): boolean
  /** The Team that the presented key belongs to. */
  teamOfKey(apiKey: string): Team | undefined
  /** The Team whose key the presented one was until it was revoked; undefined for any other key. */
  formerTeamOfKey(apiKey: string): Team | undefined
  /** Identifies the owner of a live key: the id of its Team or, if several Teams have the key, a text derived from the key. */
  ownerOfKey(apiKey: string): string | undefined
  teams(): readonly Team[]
  keysOf(teamId: string): readonly KeyInfo[]
  /** The Team's Events, Steps (in order) and Projects. */
  eventsOf(teamId: string): readonly EventEntity[]
  stepsOf(teamId: string): readonly StepEntity[]
  projectsOf(teamId: string): readonly Project[]
  /** The Team's Projects with this name in any case and Unicode normal form, archived ones included: names need not be unique. */
  projectsNamed(teamId: string, name: string): readonly Project[]
  /** The searches that the Team has saved, by name. */
  searchesOf(teamId: string): readonly SavedSearch[]
}

/* The objects of the registry: the values of their records (schema.ts) with their ids. */

type Value<Kind extends keyof RegistryValues> = RegistryValues[Kind]

export interface SavedSearch extends Value<'search'> {
  /** A GUID in canonical form. */
  readonly id: string
}

/** Its `defaultProject` is one that takes logs, or absent. */
export interface Team extends Value<'team'> {
  readonly id: string
}

export type TeamLimits = NonNullable<Team['limits']>

export interface EventEntity extends Value<'event'> {
  readonly kind: 'event'
  readonly identifier: string
}

/** Its `archivedAt` is also set while its Event is archived. */
export interface StepEntity extends Value<'step'> {
  readonly kind: 'step'
  readonly identifier: string
}

export type Entity = EventEntity | StepEntity

export interface Project extends Value<'project'> {
  readonly id: string
}

/** Revoked, never deleted, so that listing it again cannot revive it. */
export interface KeyInfo extends Value<'key'> {
  /** SHA-256 of the key, hex. */
  readonly hash: string
}

/** Whether an Event, Step or Project takes logs. */
export const isInUse = ({ archivedAt = null }: { readonly archivedAt?: string | null | undefined }): boolean =>
  archivedAt === null

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

/** The lists of the page whose searches can be saved, named as at the beginning of their paths. */
export const SEARCH_PAGES = ['event-logs', 'application-logs', 'flows'] as const
export type SearchPage = (typeof SEARCH_PAGES)[number]

export interface SavedSearch {
  /** A GUID in canonical form. */
  readonly id: string
  readonly name: string
  /** The list that it searches. */
  readonly page: SearchPage
  /** The query parameters of the list. */
  readonly params: Readonly<Record<string, string>>
}

export interface Team {
  readonly id: string
  readonly name: string
  /** Its own quota; absent for that of the settings. */
  readonly limits?: TeamLimits
  /** The id of the Team's Project for logs of unknown services; absent if there is none that takes logs. */
  readonly defaultProject?: string
}

/** The quota of a Team as set by an operator. Omitted fields are those of the settings. */
export interface TeamLimits {
  readonly entriesPerSecond?: number
  /** Bytes of bodies, after decompression. */
  readonly bytesPerSecond?: number
  /** The size of a burst: a Team that was silent may send at once the quota of this many seconds. */
  readonly burstSeconds?: number
  /** Whether the quota only counts and refuses nothing. */
  readonly shadow?: boolean
}

/** `archivedAt` is a canonical timestamp; absent while the Event takes logs. */
export interface EventEntity {
  readonly kind: 'event'
  readonly identifier: string
  readonly team: string
  readonly name: string
  readonly archivedAt?: string
}

export interface StepEntity {
  readonly kind: 'step'
  readonly identifier: string
  readonly team: string
  readonly name: string
  /** The identifier of the Event it belongs to; null for a Step without an Event. */
  readonly event: string | null
  /** Its place among the Event's Steps, from 1. */
  readonly order: number
  /** Also set while its Event is archived. */
  readonly archivedAt?: string
}

export type Entity = EventEntity | StepEntity

export interface Project {
  readonly id: string
  readonly team: string
  readonly name: string
  readonly archivedAt?: string
}

/** Whether an Event, Step or Project takes logs. */
export const isInUse = ({ archivedAt = null }: { readonly archivedAt?: string | null | undefined }): boolean =>
  archivedAt === null

export interface KeyInfo {
  /** SHA-256 of the key, hex. */
  readonly hash: string
  /** The key's first characters, at most 6, to tell keys apart. */
  readonly prefix: string
  /** Canonical timestamps. */
  readonly createdAt: string
  readonly revokedAt: string | null
}

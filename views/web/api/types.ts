import type { Level } from '../../../shared/contract/levels.ts'

/** What the read API answers; views/api/schemas.ts says the same for the OpenAPI document. */
export interface EntityRef {
  readonly identifier: string
  /** Null where the registry no longer has it. */
  readonly name: string | null
}

export interface ProjectRef {
  readonly id: string
  readonly name: string | null
}

interface Common {
  readonly id: string
  /** ISO 8601 in UTC, as all times of the API. */
  readonly receivedAt: string
  readonly timestamp: string
  readonly level: Level
  readonly environment: string
  readonly correlationKey: string | null
}

export interface EventEntry extends Common {
  readonly kind: 'event'
  readonly event: EntityRef | null
  readonly step: EntityRef | null
  readonly payload: string
}

export interface ApplicationEntry extends Common {
  readonly kind: 'application'
  readonly project: ProjectRef
  readonly categoryName: string
  readonly eventId: number
  readonly eventName: string
  readonly message: string
  readonly exception: string | null
  readonly scopeData: Readonly<Record<string, unknown>> | null
  readonly originalLevel?: string
}

export type Entry = EventEntry | ApplicationEntry
export type EntryKind = Entry['kind']

/** How the search box was read: as a query, or as plain text because of a problem at a character (from 0). */
export type QueryReading =
  | { readonly read: 'query' }
  | { readonly read: 'text'; readonly problem: string; readonly at: number }

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

export interface EntryPage<Item extends Entry = Entry> extends Page<Item> {
  readonly query: QueryReading
}

export interface EntryContext<Item extends Entry = Entry> {
  readonly before: readonly Item[]
  readonly entry: Item
  readonly after: readonly Item[]
}

export type LevelCounts = Readonly<Partial<Record<Level, number>>>

export interface Histogram {
  /** The width of a bucket in milliseconds. */
  readonly interval: number
  readonly buckets: readonly { readonly from: string; readonly total: number; readonly levels: LevelCounts }[]
  readonly total: number
}

export interface FacetValue {
  readonly value: string
  /** Of the facets that hold identifiers; null where the registry no longer has it. */
  readonly name?: string | null
  readonly count: number
}

export type FacetName = 'level' | 'environment' | 'event' | 'step' | 'project' | 'category'

export interface Facets {
  readonly facets: Readonly<Record<FacetName, readonly FacetValue[]>>
}

export interface FlowSummary {
  readonly correlationKey: string
  readonly firstAt: string
  readonly lastAt: string
  readonly total: number
  readonly levels: LevelCounts
  readonly worstLevel: Level | null
  readonly events: readonly EntityRef[]
  readonly steps: readonly EntityRef[]
  readonly projects: readonly ProjectRef[]
  /** Of every Event touched, the Step after the furthest one seen; an Event at its last Step has none. */
  readonly nextSteps: readonly EntityRef[]
  /** The latest entry of Error or Critical, and the latest of an Event or Step below these. */
  readonly lastErrorAt: string | null
  readonly lastProgressAt: string | null
}

export interface FlowStep {
  readonly event: EntityRef | null
  readonly step: EntityRef
  readonly seen: boolean
  readonly firstAt: string | null
  readonly lastAt: string | null
  readonly count: number
  readonly worstLevel: Level | null
}

export interface FlowDetail extends Page<Entry> {
  readonly summary: FlowSummary
  /** Every Step of every Event touched, in order, seen or not. */
  readonly steps: readonly FlowStep[]
  readonly projects: readonly ProjectRef[]
}

/** Who is signed in; `team` is null where nobody is. */
export interface Session {
  readonly team: { readonly id: string; readonly name: string } | null
  /** The first characters of the key that was signed in with. */
  readonly keyPrefix: string | null
}

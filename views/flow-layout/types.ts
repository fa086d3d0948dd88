import type { Level } from '../../shared/contract/levels.ts'

/** What a flow is drawn from, as the read API has it. */
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
export interface FlowStep {
  readonly event: EntityRef | null
  readonly step: EntityRef
  readonly seen: boolean
  readonly firstAt: string | null
  readonly lastAt: string | null
  readonly count: number
  readonly worstLevel: Level | null
}

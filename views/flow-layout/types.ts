import type { Level, LevelCounts } from '../../shared/contract/levels.ts'
import type { ApplicationLogRecord, EventLogRecord } from '../../shared/contract/records.ts'
import type { LongField } from '../../shared/contract/rows.ts'

/** An Event or a Step as an item names it; `name` is null where the Team's registry no longer has it. */
export interface EntityRef {
  readonly identifier: string
  readonly name: string | null
}

export interface ProjectRef {
  readonly id: string
  readonly name: string | null
}

/** In a list, `truncated` names the texts of which only the beginning is there. */
type Shown<Stored, Named extends keyof Stored> = Omit<Stored, 'team' | Named> & {
  readonly truncated?: readonly LongField[]
}

/** An entry as the read API shows it: what was stored, with the names that the registry has now. */
export type EventEntry = Shown<EventLogRecord, 'event' | 'step'> & {
  readonly event: EntityRef | null
  readonly step: EntityRef | null
}

export type ApplicationEntry = Shown<ApplicationLogRecord, 'project'> & { readonly project: ProjectRef }

export type Entry = EventEntry | ApplicationEntry

/** A Step of a flow. One that was not seen has a count of 0 and no times. */
export interface FlowStep {
  /** Null for a Step that stands alone. */
  readonly event: EntityRef | null
  readonly step: EntityRef
  readonly seen: boolean
  readonly firstAt: string | null
  readonly lastAt: string | null
  readonly count: number
  readonly worstLevel: Level | null
}

/** What a flow seems to be doing, and why one may think so. Logs say what was done, never that nothing more will be. */
export interface FlowState {
  readonly state: 'running' | 'finished' | 'stalled' | 'failed'
  readonly reason: string
}

/** A flow as the list shows it; what it touched is in the order of its first entries. */
export interface FlowSummary extends FlowState {
  readonly correlationKey: string
  readonly firstAt: string
  readonly lastAt: string
  readonly total: number
  readonly levels: LevelCounts
  readonly worstLevel: Level | null
  readonly events: readonly EntityRef[]
  readonly steps: readonly EntityRef[]
  readonly projects: readonly ProjectRef[]
  /** Of every Event touched, the Step in use after the furthest one seen: what is yet to come. An Event at its last Step has none. */
  readonly nextSteps: readonly EntityRef[]
  /** The latest entry of Error or Critical. */
  readonly lastErrorAt: string | null
  /** The latest entry of an Event or Step below Error. */
  readonly lastProgressAt: string | null
}

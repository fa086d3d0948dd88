import type { Level } from '../../shared/contract/levels.ts'
import type { ApplicationLogRecord, EventLogRecord } from '../../shared/contract/records.ts'

/** An Event or a Step as an item names it; `name` is null where the Team's registry no longer has it. */
export interface EntityRef {
  readonly identifier: string
  readonly name: string | null
}

export interface ProjectRef {
  readonly id: string
  readonly name: string | null
}

type Shown<Stored, Named extends keyof Stored> = Omit<Stored, 'team' | Named>

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

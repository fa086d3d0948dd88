import type { Level } from './levels.ts'
import type { EntryKind } from './records.ts'

/** A leaf of a JSON object: its keys joined by dots (an array adds none) and its value as text. */
export type Leaf = readonly [path: string, value: string]

/**
 * A record as stored for the views. `source` is shown verbatim and never read by a store; all else is derived from it
 * for searching and made safe for any store, so that nothing the gateway accepted can be refused for its content.
 */
export interface EntryDocument {
  readonly id: string
  readonly kind: EntryKind
  readonly team: string
  /** Canonical timestamps. */
  readonly receivedAt: string
  readonly timestamp: string
  readonly level: Level
  readonly environment: string
  readonly correlationKey: string | null
  readonly event: string | null
  readonly step: string | null
  readonly project: string | null
  readonly category: string | null
  readonly eventId: number | null
  readonly eventName: string | null
  /** The groups of an application log (shared/fingerprint), by its message's template and by its exception; null for none. */
  readonly template: string | null
  readonly exceptionGroup: string | null
  /** The text that words and phrases search; null if the kind has none. */
  readonly message: string | null
  readonly exception: string | null
  readonly payload: string | null
  /** Leaves of a payload that is a JSON object or array, and of the scope data. */
  readonly payloadLeaves: readonly Leaf[]
  readonly scopeLeaves: readonly Leaf[]
  /** The record's value: JSON text of an EntryRecord. */
  readonly source: string
}

/**
 * The facts about one flow in a batch of entries. Only facts that are safe to repeat are folded (a first, a last, sets), so a replay or a
 * repeated record changes nothing; counts are taken from the entries themselves when they are read.
 */
export interface FlowDelta {
  readonly team: string
  readonly correlationKey: string
  /** Canonical timestamps of the earliest and latest entry. */
  readonly firstAt: string
  readonly lastAt: string
  /** Days of `receivedAt` (yyyy-mm-dd, UTC) on which entries arrived: where to look for them. */
  readonly days: readonly string[]
  /** The latest `receivedAt`. */
  readonly lastReceivedAt: string
  readonly worstLevel: Level
  /** The latest entry of Error or Critical, and the latest of an Event or Step at a lower level; null if there is none. */
  readonly lastErrorAt: string | null
  readonly lastProgressAt: string | null
  /** These four lists and `days` are sorted and without duplicates. */
  readonly environments: readonly string[]
  readonly events: readonly string[]
  readonly steps: readonly string[]
  readonly projects: readonly string[]
}

import type { Level } from './levels.ts'

/**
 * The values of the topics: one accepted entry each, as JSON. They are a public contract (docs/topics.md): fields are
 * added, never renamed or removed, and a field without a value is null.
 */
export type EntryKind = 'event' | 'application'

interface EntryRecordBase {
  /** Minted at acceptance; also the header `ce_id`, the document's id and what the client was answered. */
  readonly id: string
  /** When the gateway accepted the entry; canonical timestamp. Selects the index. */
  readonly receivedAt: string
  /** When the entry happened by its sender's clock, or `receivedAt` where none was given; canonical timestamp. */
  readonly timestamp: string
  readonly level: Level
  readonly environment: string
  readonly correlationKey: string | null
  /** The id of the Team that owns the entry. */
  readonly team: string
}

/** An external log of the specification (2.3). */
export interface EventLogRecord extends EntryRecordBase {
  readonly kind: 'event'
  /** The Event's identifier: the one addressed, or the one that the addressed Step belonged to; null for a Step alone. */
  readonly event: string | null
  /** The Step's identifier, or null where an Event was addressed. */
  readonly step: string | null
  readonly payload: string
}

/** An application log of the specification (2.4). */
export interface ApplicationLogRecord extends EntryRecordBase {
  readonly kind: 'application'
  /** The Project's id, a GUID in canonical form. */
  readonly project: string
  readonly categoryName: string
  readonly eventId: number
  readonly eventName: string
  readonly message: string
  readonly exception: string | null
  readonly scopeData: Readonly<Record<string, unknown>> | null
  /** The level as the sender wrote it, where INVALID_LEVEL=information replaced it; else absent. */
  readonly originalLevel?: string
}

export type EntryRecord = EventLogRecord | ApplicationLogRecord

import type {
  AppendBatch,
  Headers,
  Journal,
  NewRecord,
  UnconfirmedOutcome,
  WaitingRecord,
} from '../../shared/journal/journal.ts'
import type { ByteShare } from '../../shared/runtime/byte-budget.ts'

/** One record on its way to the journal. */
export interface Publication {
  readonly record: NewRecord
  /** An upper bound of its bytes on the wire, as counted for the limits of micro-batches and of the buffer. */
  readonly bytes: number
  /** Text whose hash chooses the partition, so that equal texts meet there; null if any partition will do. */
  readonly routeBy: string | null
  /** The field to shorten, as a JSON pointer, if the record is so large that its topic may not take it, and its sender knows our names. */
  readonly largest?: string | undefined
}

/** The reasons why a record is not confirmed, each with whether it was written, and the message for its sender. */
export const UNCONFIRMED = {
  closed: { outcome: 'not_written', message: 'The gateway is starting or stopping.' },
  buffer_full: { outcome: 'not_written', message: 'Too many entries wait for the journal.' },
  paused: { outcome: 'not_written', message: 'The journal keeps failing, so sending is paused.' },
  expired: { outcome: 'not_written', message: 'The entry could not be handed to the journal in time.' },
  refused: { outcome: 'not_written', message: 'The journal did not take the entry.' },
  unsettled: { outcome: 'unknown', message: 'The journal did not confirm the entry in time.' },
  uncertain: { outcome: 'unknown', message: 'The journal failed before it confirmed the entry.' },
} as const satisfies Record<string, { outcome: UnconfirmedOutcome; message: string }>

export type UnconfirmedReason = keyof typeof UNCONFIRMED

/** The journal will never take the record, as its topic takes no more than these bytes. */
export interface TooLargeForTopic {
  readonly bytesMax: number
}

/** The outcome of a record: confirmed durable, or the reason why not. */
export type PublishOutcome = 'durable' | UnconfirmedReason | TooLargeForTopic

/** The part of a journal that a publisher needs. */
export type PublisherJournal = Pick<Journal, 'append' | 'pack' | 'partitionCount' | 'refusalOf' | 'bytesMax'>

/** Records of one request in a micro-batch. */
export interface BatchPart {
  /** The share of the buffer that counts their bytes. */
  readonly share: ByteShare
  readonly bytes: number
  /** The `traceparent` header that all of them have. */
  readonly traceparent: Headers[string] | undefined
}

/** A micro-batch for one partition, in the order of its records. */
export interface MicroBatch extends AppendBatch<WaitingRecord> {
  /** The number of its records. */
  readonly count: number
  readonly parts: readonly BatchPart[]
}

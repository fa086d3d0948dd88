import type { AppendBatch, NewRecord, UnconfirmedOutcome } from '../../shared/journal/journal.ts'

/** One record on its way to the journal. */
export interface Publication {
  readonly record: NewRecord
  /** Its bytes on the wire, rounded up: the limits of micro-batches and of the buffer count these. */
  readonly bytes: number
  /** Text whose hash chooses the partition, so that equal texts meet there; null where any partition will do. */
  readonly routeBy: string | null
}

/** The reasons for a record without confirmation, with its state and the message for its sender. */
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

/** The outcome of a record: confirmed durable, or the reason why not. */
export type PublishOutcome = 'durable' | UnconfirmedReason

/** A micro-batch for one partition, in the order of its records. */
export interface MicroBatch extends AppendBatch {
  /** How many records it has. */
  readonly count: number
  readonly bytes: number
}

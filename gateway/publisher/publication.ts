import type { AppendBatch, NewRecord, UnconfirmedOutcome } from '../../shared/journal/journal.ts'

/** One record on its way to the journal. */
export interface Publication {
  readonly record: NewRecord
  /** What it takes on the wire, in bytes, rounded up: the limits of micro-batches and of the buffer count these. */
  readonly bytes: number
  /** Text whose hash chooses the partition, so that equal texts meet there; null where any partition will do. */
  readonly routeBy: string | null
}

/** Why a record was not confirmed, what that means for it, and what its sender is told. */
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

/** What became of a record: confirmed durable, or why not. */
export type PublishOutcome = 'durable' | UnconfirmedReason

/** A micro-batch for one partition, in the order of its records. */
export interface MicroBatch extends AppendBatch {
  /** How many records it has. */
  readonly count: number
  readonly bytes: number
}

/**
 * One step of the way to the journal: resolves when the micro-batch is durable, rejects where that is not certain. The steps
 * are put around each other. The records are gone from the batch when the call returns; by then the journal has what it needs.
 */
export type Send = (batch: MicroBatch) => Promise<void>

import type { TopicSpec } from '../contract/topics.ts'
import type { Health } from '../runtime/lifecycle.ts'

/**
 * The journal: an append-only log of topics, each cut into partitions.
 *
 * - A record has an **offset**, counted from 0 in its partition. Offsets grow by one or more, never go back, and are never
 *   given twice.
 * - A **position** names the *next* record: the position after the record at offset 7 is 8.
 * - Records of one partition are read in the order of their offsets. Between partitions there is no order.
 * - Delivery is at least once: after a crash or a change of hands a reader sees again what it had not committed. A record
 *   may also stand twice in a topic (a producer that retried); both have the same `ce_id` header.
 * - A **group** shares a topic's partitions among its members and remembers one committed position a partition. A group
 *   without a committed position starts at the first record kept.
 * - Removing repeats, retrying a failed write of a document and judging a record's content are not the journal's job.
 */
export interface Journal {
  /**
   * Makes the records durable, in their order, at the end of one partition. Atomic: it resolves when every record is
   * durable, and rejects with an `AppendError` otherwise. It takes what it needs of the batch before it returns.
   */
  append(batch: AppendBatch): Promise<void>

  /** The number of partitions of a topic. Rejects with a `TopicMissingError`. */
  partitionCount(topic: string): Promise<number>

  /** Creates the topics that are missing; leaves those that exist as they are. */
  createTopics(topics: readonly NamedTopic[]): Promise<void>

  /** Every record from the first one kept up to the end as it is when the call begins, partition after partition. */
  scan(topic: string): AsyncIterable<JournalRecord>

  /**
   * Follows all partitions of a topic from the first record, in no group. `onRecords` gets every record in order and must not
   * throw. Resolves when all that stood in the topic at the call was handed over; the follower then goes on until it is closed.
   */
  follow(topic: string, onRecords: (records: readonly JournalRecord[]) => void): Promise<Follower>

  /**
   * Reads topics as a member of a group until the subscription is closed. The handler gets batches of at most
   * `recordsMax` records; for one partition never two at a time, and never while another member owns the partition.
   * Nothing is committed but by `batch.commit`. A handler that throws ends the subscription: `done` rejects with its error.
   */
  subscribe(options: SubscribeOptions, handler: (batch: PartitionBatch) => Promise<void>): Promise<Subscription>

  /** For each partition of the topic: first offset kept, position after the last record, committed position of the group (null: none). */
  positions(topic: string, group: string): Promise<readonly PartitionPosition[]>

  /** Never rejects. */
  health(): Promise<Health>

  /** Lets go of everything; safe to call twice. What was appended before stays durable. */
  close(): Promise<void>
}

/** A header is text where its bytes are UTF-8, otherwise the bytes as they are. */
export type Headers = Readonly<Record<string, string | Uint8Array>>

export interface NewRecord {
  /** Chooses nothing: the caller has chosen the partition. */
  readonly key: string | Uint8Array | null
  /** Null marks the key as deleted, in compacted topics only. */
  readonly value: string | Uint8Array | null
  readonly headers: Headers
  /** More headers, of other names: one object for many records, so that it need not be encoded for each. */
  readonly commonHeaders?: Headers | undefined
}

export interface AppendBatch {
  readonly topic: string
  readonly partition: number
  readonly records: readonly NewRecord[]
}

export interface JournalRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** The time of its append, milliseconds since 1970. */
  readonly appendedAt: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: Headers
  /** The header of this name, which has to be ASCII, where the journal can read one without the others. */
  header?(name: string): string | Uint8Array | undefined
}

export const headerOf = (record: JournalRecord, name: string): string | Uint8Array | undefined =>
  record.header === undefined ? record.headers[name] : record.header(name)

export interface NamedTopic extends TopicSpec {
  readonly name: string
  /** Bytes that a record with its headers may have; absent: what the journal takes by itself (1 MiB on Kafka). */
  readonly recordBytesMax?: number
}

export interface Follower {
  close(): Promise<void>
}

export interface SubscribeOptions {
  readonly group: string
  readonly topics: readonly string[]
  /** The most records of one batch. */
  readonly recordsMax: number
  /** Hears how many partitions this member reads from now on, and why that changed. Must not throw. */
  readonly onAssigned?: (partitions: number, cause: AssignmentCause) => void
}

/**
 * The reason of a change of a member's partitions: it was given some (or none, as others have them all); they were taken as a member of
 * the group came or went; or as its own membership had to be made anew; or the subscription ended.
 */
export type AssignmentCause = 'assigned' | 'group' | 'member' | 'closed'

export interface PartitionBatch {
  readonly topic: string
  readonly partition: number
  /** At least one, in order. */
  readonly records: readonly JournalRecord[]
  /** The position after the partition's last record when the batch was read. */
  readonly endPosition: number
  /** Aborted when the partition is taken away or the subscription closes: stop working, commit nothing more. */
  readonly signal: AbortSignal
  /** Remembers the position for the group. Does nothing once `signal` is aborted; rejects when the journal cannot. */
  commit(position: number): Promise<void>
}

export interface Subscription {
  /** Resolves after `close`, rejects with what ended the subscription. */
  readonly done: Promise<void>
  /** Whether this member takes part in the group, and why not. */
  health(): Health
  /** Aborts running batches, waits for their handlers and leaves the group. Safe to call twice. */
  close(): Promise<void>
}

export interface PartitionPosition {
  readonly partition: number
  readonly firstOffset: number
  readonly endPosition: number
  readonly committed: number | null
}

/** The fate of records that were not confirmed: certainly not there, or perhaps. */
export type UnconfirmedOutcome = 'not_written' | 'unknown'

/** None of the batch was confirmed durable. */
export class AppendError extends Error {
  override readonly name = 'AppendError'
  readonly outcome: UnconfirmedOutcome

  constructor(message: string, outcome: UnconfirmedOutcome, options?: ErrorOptions) {
    super(message, options)
    this.outcome = outcome
  }
}

/** The topic does not exist. */
export class TopicMissingError extends Error {
  override readonly name = 'TopicMissingError'

  constructor(topic: string) {
    super(`the topic ${topic} does not exist; create it with \`sluice topics apply\` or set AUTO_CREATE=true`)
  }
}

/** Retention removed records that the group had not read yet. Going on would hide the loss, so the reader stops. */
export class PositionLostError extends Error {
  override readonly name = 'PositionLostError'

  constructor(topic: string, partition: number, committed: number, firstOffset: number) {
    super(`${topic}/${partition}: the group stands at ${committed}, but the first record kept is ${firstOffset}`)
  }
}

/** A header as text, or undefined where it is absent or no UTF-8. */
export const headerText = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

import type { TopicSpec } from '../contract/topics.ts'
import type { Health } from '../runtime/lifecycle.ts'

/**
 * The journal: an append-only log of topics, each cut into partitions.
 *
 * - A record has an **offset**, counted from 0 in its partition. Offsets grow by one or more, never decrease, and are never reused.
 * - A **position** names the *next* record: the position after the record at offset 7 is 8.
 * - Records of one partition are read in the order of their offsets. Between partitions there is no order.
 * - Delivery is at least once: after a crash or a change of owner, a reader sees again what was not committed. A record may
 *   also occur twice in a topic (a producer that retried); both have the same `ce_id` header.
 * - A **group** shares a topic's partitions among its members and remembers one committed position per partition. A group
 *   without a committed position starts at the first record kept.
 * - Deduplication, retries of failed document writes and checks of a record's content are not the journal's job.
 */
export interface Journal {
  /**
   * Makes the records durable, in order, at the end of one partition. Atomic: it resolves when every record is durable, and rejects with an
   * `AppendError` otherwise. It takes what it needs of the batch before it returns.
   */
  append(batch: AppendBatch<WaitingRecord>): Promise<void>

  /** Packs records that will wait; `append` takes the result in their place. Absent if a journal has no better form for them than theirs. */
  pack?(records: readonly NewRecord[]): readonly WaitingRecord[]

  /** The number of partitions of a topic, which only a topic made anew has fewer of. Rejects with a `TopicMissingError`. */
  partitionCount(topic: string): Promise<number>

  /**
   * The reason why appends to a topic are refused until somebody acts: it does not exist, or may not be written. Null if they are not, or if
   * that cannot be known. Absent if a journal refuses none.
   */
  refusalOf?(topic: string): Promise<string | null>

  /** The most bytes that a topic takes at once, as in an `AppendError`; null if that cannot be known. Absent if a journal sets no limit. */
  bytesMax?(topic: string): Promise<number | null>

  /** Creates missing topics; leaves existing ones as they are. */
  createTopics(topics: readonly NamedTopic[]): Promise<void>

  /**
   * Every record from the first one kept to the end as of the call, partition after partition; with `from`, those at this position of their
   * partition and later. Records that retention removes before the scan comes to them are left out.
   */
  scan(topic: string, from?: number): AsyncIterable<JournalRecord>

  /**
   * Follows all partitions of a topic from the first record, outside of any group. `onRecords` gets every record in order and must not
   * throw. Resolves when all records in the topic at the call have been handed over; the follower continues until it is closed or outdated.
   */
  follow(topic: string, onRecords: (records: readonly JournalRecord[]) => void): Promise<Follower>

  /**
   * Reads topics as a member of a group until the subscription is closed. The handler gets batches of at most `recordsMax` records, never
   * two at a time for one partition, and never while another member owns the partition. Only `batch.commit` commits records. A handler
   * that throws ends the subscription: `done` rejects with its error.
   */
  subscribe(options: SubscribeOptions, handler: (batch: PartitionBatch) => Promise<void>): Promise<Subscription>

  /** By partition of the topic: the first offset kept, the position after the last record, the group's position (null if none). */
  positions(topic: string, group: string): Promise<readonly PartitionPosition[]>

  /** Sets the group's positions in a topic to the first records kept. The group must have no members. */
  rewind(topic: string, group: string): Promise<void>

  /** Never rejects. */
  health(): Promise<Health>

  /** Releases everything; safe to call twice. Appended records stay durable. */
  close(): Promise<void>
}

/** A header is text if its bytes are UTF-8, otherwise the bytes themselves. */
export type Headers = Readonly<Record<string, string | Uint8Array>>

export interface NewRecord {
  /** Does not choose the partition: the caller has chosen it. */
  readonly key: string | Uint8Array | null
  /** Null marks the key as deleted, in compacted topics only. */
  readonly value: string | Uint8Array | null
  readonly headers: Headers
  /** More headers, with other names: one object for many records, so that it need not be encoded for each. */
  readonly commonHeaders?: Headers | undefined
}

/** Records in a form of their journal, for one append: the garbage collector would copy each object that waits. */
export interface PackedRecords {
  readonly count: number
}

/** A record to append, or several that the same journal has packed. */
export type WaitingRecord = NewRecord | PackedRecords

/** The record, for a journal that has not packed it. */
export function unpacked(record: WaitingRecord): NewRecord {
  if ('count' in record) throw new TypeError('the records were packed by another journal')
  return record
}

export interface AppendBatch<Record = NewRecord> {
  readonly topic: string
  readonly partition: number
  readonly records: readonly Record[]
}

export interface JournalRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** The time of the append, in milliseconds since 1970. */
  readonly appendedAt: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: Headers
  /** Returns the header of this name, which has to be ASCII, if the journal can read one without the others. */
  header?(name: string): string | Uint8Array | undefined
}

/** The value of a record that the journal has lost: every reader refuses it, and can say why. */
export const LOST_VALUE = 'This record was in a batch that is damaged in the file of the journal.'

export const headerOf = (record: JournalRecord, name: string): string | Uint8Array | undefined =>
  record.header === undefined ? record.headers[name] : record.header(name)

export interface NamedTopic extends TopicSpec {
  readonly name: string
  /** Maximum bytes of a record with its headers; absent: the journal's default (1 MiB on Kafka). */
  readonly recordBytesMax?: number
}

export interface Follower {
  /**
   * Resolves if the topic could not be read for so long that compaction may have removed deletion marks unread. No more records are handed
   * over; only another follower, from the first record on, learns what is deleted.
   */
  readonly outdated: Promise<void>
  close(): Promise<void>
}

export interface SubscribeOptions {
  readonly group: string
  readonly topics: readonly string[]
  /** Maximum records of one batch; a journal may end it earlier, to bound its bytes. */
  readonly recordsMax: number
  /** Called with the number of partitions that this member reads from now on, and the cause of the change. Must not throw. */
  readonly onAssigned?: (partitions: number, cause: AssignmentCause) => void
  /** Called with each commit: a text of at most a few hundred bytes, or null, that `positions` returns. */
  readonly note?: () => string | null
}

/**
 * The cause of a change of a member's partitions: it was assigned some (or none, as others have them all); they were revoked as another
 * member came or went, or because its own membership had to be renewed; or the subscription ended.
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
  /** Commits the position for the group. Does nothing once `signal` is aborted; rejects when the journal cannot commit. */
  commit(position: number): Promise<void>
}

export interface Subscription {
  /** Resolves after `close`, rejects with the error that ended the subscription. */
  readonly done: Promise<void>
  /** Whether this member takes part in the group; if not, why. */
  health(): Health
  /** Aborts running batches, waits for their handlers and leaves the group. Safe to call twice. */
  close(): Promise<void>
}

export interface PartitionPosition {
  readonly partition: number
  readonly firstOffset: number
  readonly endPosition: number
  readonly committed: number | null
  /** The note of the member that committed it. Absent if it had none, or if one process alone has the journal. */
  readonly note?: string
}

/** The state of unconfirmed records: certainly not written, or unknown. */
export type UnconfirmedOutcome = 'not_written' | 'unknown'

/** An append failed: no record of the batch was confirmed durable. */
export class AppendError extends Error {
  override readonly name = 'AppendError'
  readonly outcome: UnconfirmedOutcome
  /** Whether a repeat fails as well until somebody acts, as without the topic or the right to write it. */
  readonly isFinal: boolean
  /** Whether it is final for the batch or its topic alone: the journal works, and takes others. */
  readonly isOfTopic: boolean
  /** The most bytes that the topic takes at once, perhaps compressed, if the batch has more; else null. */
  readonly bytesMax: number | null

  constructor(
    message: string,
    outcome: UnconfirmedOutcome,
    {
      isFinal = false,
      isOfTopic = false,
      bytesMax = null,
      ...options
    }: ErrorOptions & {
      readonly isFinal?: boolean
      readonly isOfTopic?: boolean
      readonly bytesMax?: number | null
    } = {},
  ) {
    super(message, options)
    this.outcome = outcome
    this.isFinal = isFinal
    this.isOfTopic = isOfTopic
    this.bytesMax = bytesMax
  }
}

/** The topic does not exist. */
export class TopicMissingError extends Error {
  override readonly name = 'TopicMissingError'

  constructor(topic: string) {
    super(
      `the topic ${topic} does not exist: check TOPIC_PREFIX; \`sluice topics apply\` and a start with AUTO_CREATE=true create it`,
    )
  }
}

/** The end of a message about a position from which no group goes on by itself. */
export const TO_GO_ON = '(docs/runbooks/SluiceViewHalted.md says how to go on)'

/** Retention removed records that the group had not read yet. Going on would hide the loss, so the reader stops. */
export class PositionLostError extends Error {
  override readonly name = 'PositionLostError'

  constructor(topic: string, partition: number, committed: number, firstOffset: number) {
    const where = `${topic}/${partition}: the group stands at ${committed}, but the first record kept is ${firstOffset}`
    super(`${where} ${TO_GO_ON}`)
  }
}

/** A header as text; undefined if it is absent or not UTF-8. */
export const headerText = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

import { keyword } from '../shared/contract/keyword.ts'
import { timestampOf } from '../shared/contract/timestamp.ts'
import { batchesOf, recordBytes } from '../shared/journal/batches.ts'
import {
  AppendError,
  type Headers,
  headerText,
  type Journal,
  type JournalRecord,
  type NewRecord,
} from '../shared/journal/journal.ts'
import type { Clock } from '../shared/runtime/clock.ts'

/**
 * The reasons for which a record becomes a dead letter, each with the stage at which it failed, in Kafka Connect's terms. The union is
 * closed: it is a metric's label, a header of the dead letter and a filter of the operator's commands (docs/dead-letters.md).
 */
export const DEAD_LETTER_REASONS = {
  empty_value: 'VALUE_CONVERTER',
  too_large: 'VALUE_CONVERTER',
  not_utf8: 'VALUE_CONVERTER',
  invalid_json: 'VALUE_CONVERTER',
  too_deep: 'VALUE_CONVERTER',
  unknown_kind: 'VALUE_CONVERTER',
  invalid_record: 'VALUE_CONVERTER',
  projection_failed: 'TRANSFORMATION',
  refused_by_store: 'TASK_PUT',
} as const satisfies Record<string, string>

export type DeadLetterReason = keyof typeof DEAD_LETTER_REASONS

export const isDeadLetterReason = (text: string): text is DeadLetterReason => Object.hasOwn(DEAD_LETTER_REASONS, text)

export interface DeadLetter {
  readonly outcome: 'deadLetter'
  readonly reason: DeadLetterReason
  /** Says what is wrong without quoting the record, as it is logged and shown. */
  readonly message: string
}

export const deadLetter = (reason: DeadLetterReason, message: string): DeadLetter => ({
  outcome: 'deadLetter',
  reason,
  message,
})

/** Headers of a dead letter. Those of Kafka Connect (KIP-298) keep their names and meaning, so its tools read them. */
export const CONNECT_PREFIX = '__connect.errors.'
export const DLQ_HEADERS = {
  topic: `${CONNECT_PREFIX}topic`,
  partition: `${CONNECT_PREFIX}partition`,
  offset: `${CONNECT_PREFIX}offset`,
  connector: `${CONNECT_PREFIX}connector.name`,
  stage: `${CONNECT_PREFIX}stage`,
  /** The reason. */
  exceptionClass: `${CONNECT_PREFIX}exception.class.name`,
  exceptionMessage: `${CONNECT_PREFIX}exception.message`,
  /** How many times this record has become a dead letter of the projection, from 1. A replay keeps it. */
  attempt: 'x-dlq-attempt',
  projection: 'x-dlq-view',
  /** When it became a dead letter; canonical timestamp. */
  time: 'x-dlq-time',
} as const

const MESSAGE_BYTES_MAX = 1_000

export interface BadRecord {
  readonly record: JournalRecord
  readonly letter: DeadLetter
}

export interface DeadLetterWriter {
  /** Finds the topic. Rejects with a `TopicMissingError`. */
  open(): Promise<void>
  /** Resolves when all are durable; otherwise rejects with an `AppendError` or `LetterTooLargeError`, and some may be durable. */
  append(bad: readonly BadRecord[]): Promise<void>
}

/** The topic takes no dead letter of this size until somebody raises its limit. */
export class LetterTooLargeError extends Error {
  override readonly name = 'LetterTooLargeError'
}

const largestFirst = (records: readonly NewRecord[]): readonly NewRecord[] =>
  records.toSorted((a, b) => recordBytes(b) - recordBytes(a))

/** Upper bound of the bytes that a batch adds to those of its only record. */
const BATCH_BYTES = 500

interface DeadLetterWriterDeps {
  readonly journal: Journal
  readonly topic: string
  readonly projection: string
  readonly group: string
  readonly clock: Clock
}

export function createDeadLetterWriter(deps: DeadLetterWriterDeps): DeadLetterWriter {
  const { journal, topic, projection, group, clock } = deps
  let partitions = 1
  /** Whether a dead letter was too large: then the largest are tried first, so that a repeat does not append the others again and again. */
  let isTight = false

  const append = async (partition: number, records: readonly NewRecord[]): Promise<void> => {
    try {
      await journal.append({ topic, partition, records })
    } catch (error) {
      if (!(error instanceof AppendError) || error.bytesMax === null) throw error
      if (records.length === 1) {
        isTight = true
        const needed = records.reduce((sum, record) => sum + recordBytes(record), BATCH_BYTES)
        throw new LetterTooLargeError(
          `${topic} takes no dead letter of this size: raise its max.message.bytes, which is ${error.bytesMax}, to ${needed} or more`,
          { cause: error },
        )
      }
      for (const record of largestFirst(records)) await append(partition, [record])
    }
  }

  return {
    open: async () => {
      partitions = await journal.partitionCount(topic)
    },
    append: async (bad) => {
      // The topic may have been made anew with fewer. While nobody can say, the append tells why.
      partitions = await journal.partitionCount(topic).catch(() => partitions)
      const time = timestampOf(clock.now())
      const records = bad.map(({ record, letter }) => deadLetterRecord(record, letter, { projection, group, time }))
      // All bad records of one batch come from one partition.
      const partition = (bad[0]?.record.partition ?? 0) % partitions
      for (const batch of batchesOf(isTight ? largestFirst(records) : records)) await append(partition, batch)
      isTight = false
    },
  }
}

/** The record as it was (key, value, headers), with headers that name its place and the problem. */
export function deadLetterRecord(
  record: JournalRecord,
  { reason, message }: DeadLetter,
  { projection, group, time }: { projection: string; group: string; time: string },
): NewRecord {
  return {
    key: record.key,
    // Null is for compacted topics, which this is not; the message distinguishes null from empty.
    value: record.value ?? new Uint8Array(0),
    headers: {
      ...record.headers,
      [DLQ_HEADERS.topic]: record.topic,
      [DLQ_HEADERS.partition]: String(record.partition),
      [DLQ_HEADERS.offset]: String(record.offset),
      [DLQ_HEADERS.connector]: group,
      [DLQ_HEADERS.stage]: DEAD_LETTER_REASONS[reason],
      [DLQ_HEADERS.exceptionClass]: reason,
      [DLQ_HEADERS.exceptionMessage]: keyword(message, MESSAGE_BYTES_MAX),
      [DLQ_HEADERS.attempt]: String(attemptsOf(record.headers) + 1),
      [DLQ_HEADERS.projection]: projection,
      [DLQ_HEADERS.time]: time,
    },
  }
}

/** How many times the record was a dead letter already; above 0 it comes from a replay. */
export function attemptsOf(headers: Headers): number {
  const text = headerText(headers, DLQ_HEADERS.attempt) ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : 0
}

/**
 * The limits beyond which dead letters are a flood. Many at once point to a bad deployment or a wrong topic rather than to bad data; going
 * on would drain the topic into the dead letters, so the consumer stops and lets an operator look.
 */
export interface DeadLetterLimits {
  /** Maximum dead letters in a row. */
  readonly runMax: number
  /** Maximum share (0 to 1) of dead letters among the last `windowRecords` records, checked once there are that many. */
  readonly ratioMax: number
  readonly windowRecords: number
}

/** The recent records of a partition: true stands for a dead letter. */
export interface DeadLetterHistory {
  readonly run: number
  /** The last `windowRecords` records, oldest first. */
  readonly window: readonly boolean[]
}

export const NO_HISTORY: DeadLetterHistory = { run: 0, window: [] }

/** Whether the history holds no dead letter. */
export const isClean = ({ run, window }: DeadLetterHistory): boolean => run === 0 && !window.includes(true)

/** Too many records of a partition became dead letters. */
export class DeadLetterFloodError extends Error {
  override readonly name = 'DeadLetterFloodError'
}

/** The history after more records, and the limit that they exceeded; null if they are not a flood. */
export function judgeDeadLetters(
  history: DeadLetterHistory,
  isDeadLetter: readonly boolean[],
  { runMax, ratioMax, windowRecords }: DeadLetterLimits,
): { readonly history: DeadLetterHistory; readonly flood: string | null } {
  const records = [...history.window, ...isDeadLetter]
  const firstNew = history.window.length
  let dead = history.window.filter(Boolean).length
  let run = history.run
  let flood: string | null = null
  for (let index = firstNew; index < records.length; index += 1) {
    run = records[index] === true ? run + 1 : 0
    if (records[index] === true) dead += 1
    if (index >= windowRecords && records[index - windowRecords] === true) dead -= 1
    if (run > runMax) flood ??= `more than ${runMax} dead letters in a row`
    if (index + 1 >= windowRecords && dead > ratioMax * windowRecords) {
      flood ??= `${dead} dead letters among ${windowRecords} records`
    }
  }
  return { history: { run, window: records.slice(-windowRecords) }, flood }
}

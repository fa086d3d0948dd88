import { compareTimestamps } from '../shared/contract/timestamp.ts'
import { topicName } from '../shared/contract/topics.ts'
import { headerText, type Journal, type JournalRecord } from '../shared/journal/journal.ts'
import { attemptsOf, DLQ_HEADERS } from './dead-letters.ts'
import { type DeadLetterReason, isDeadLetterReason } from './outcome.ts'
import { replayedUpTo, replayMark } from './replay-marks.ts'

/** What a dead letter says of itself; nothing of the record's content. */
export interface DeadLetterSummary {
  /** Where the original record stood. */
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly view: string
  readonly reason: DeadLetterReason
  readonly message: string
  /** How many times it has become a dead letter of this projection, from 1. */
  readonly attempt: number
  /** When it became a dead letter; canonical timestamp. */
  readonly at: string
  /** The entry's id, or null where the record has no `ce_id`. */
  readonly id: string | null
  readonly valueBytes: number
}

/** Which dead letters; what is not given does not narrow. */
export interface DeadLetterFilters {
  readonly view?: string
  readonly reason?: DeadLetterReason
  readonly id?: string
  /** Canonical timestamps on when they became dead letters: `since` inclusive, `until` exclusive. */
  readonly since?: string
  readonly until?: string
}

export interface ListOptions extends DeadLetterFilters {
  readonly topicPrefix: string
  /** Most dead letters to list. */
  readonly limit?: number
}

const LIST_LIMIT = 100

/** The dead letters that match, oldest first in each partition, each with whether a replay has gone past it. */
export async function* listDeadLetters(
  journal: Journal,
  { topicPrefix, limit = LIST_LIMIT, ...filters }: ListOptions,
): AsyncGenerator<DeadLetterSummary & { readonly replayed: boolean }> {
  const topic = topicName(topicPrefix, 'dead-letters')
  const replayed = await replayedUpTo(journal, topic)
  let listed = 0
  if (limit < 1) return
  for await (const record of journal.scan(topic)) {
    const summary = summaryOf(record)
    if (summary === undefined || !matches(summary, filters)) continue
    yield { ...summary, replayed: record.offset < (replayed.get(record.partition) ?? 0) }
    listed += 1
    if (listed >= limit) return
  }
}

/** Undefined for a record that is no dead letter, or whose headers somebody broke. */
export function summaryOf(record: JournalRecord): DeadLetterSummary | undefined {
  if (replayMark(record) !== undefined) return undefined
  const { headers } = record
  const topic = headerText(headers, DLQ_HEADERS.topic)
  const partition = wholeNumber(headerText(headers, DLQ_HEADERS.partition))
  const offset = wholeNumber(headerText(headers, DLQ_HEADERS.offset))
  const reason = headerText(headers, DLQ_HEADERS.exceptionClass)
  const at = headerText(headers, DLQ_HEADERS.time)
  if (topic === undefined || partition === undefined || offset === undefined) return undefined
  if (reason === undefined || !isDeadLetterReason(reason) || at === undefined) return undefined
  return {
    topic,
    partition,
    offset,
    view: headerText(headers, DLQ_HEADERS.projection) ?? '',
    reason,
    message: headerText(headers, DLQ_HEADERS.exceptionMessage) ?? '',
    attempt: attemptsOf(headers),
    at,
    id: headerText(headers, 'ce_id') ?? null,
    valueBytes: record.value?.length ?? 0,
  }
}

export function matches(summary: DeadLetterSummary, { view, reason, id, since, until }: DeadLetterFilters): boolean {
  return (
    (view === undefined || summary.view === view) &&
    (reason === undefined || summary.reason === reason) &&
    (id === undefined || summary.id === id) &&
    (since === undefined || compareTimestamps(summary.at, since) >= 0) &&
    (until === undefined || compareTimestamps(summary.at, until) < 0)
  )
}

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined

import { setTimeout as delay } from 'node:timers/promises'
import { compareTimestamps } from '../shared/contract/timestamp.ts'
import { type TopicRole, topicName } from '../shared/contract/topics.ts'
import { headerText, type Journal, type JournalRecord, type NewRecord } from '../shared/journal/journal.ts'
import { type Clock, steadyClock } from '../shared/runtime/clock.ts'
import { attemptsOf, CONNECT_PREFIX, type DeadLetterReason, DLQ_HEADERS, isDeadLetterReason } from './dead-letters.ts'

/** The headers of a dead letter, without the record's content. `view` is the projection, named as in `x-dlq-view`. */
export interface DeadLetterSummary {
  /** The place of the original record. */
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
  /** The entry's id; null if the record has no `ce_id`. */
  readonly id: string | null
  readonly valueBytes: number
}

/** Filters of dead letters; an omitted filter matches all. */
export interface DeadLetterFilters {
  readonly view?: string
  readonly reason?: DeadLetterReason
  readonly id?: string
  /** Canonical timestamps that bound when they became dead letters: `since` inclusive, `until` exclusive. */
  readonly since?: string
  readonly until?: string
}

export interface ListOptions extends DeadLetterFilters {
  readonly topicPrefix: string
  /** Maximum dead letters to list. */
  readonly limit?: number
}

/** Default number of dead letters that a list has at most. */
export const LIST_LIMIT = 100

/** Yields the matching dead letters, oldest first in each partition, each with whether a replay has gone past it. */
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

/** Returns undefined for a record that is not a dead letter or whose headers were damaged. */
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

function matches(summary: DeadLetterSummary, { view, reason, id, since, until }: DeadLetterFilters): boolean {
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

export interface ReplayOptions {
  readonly topicPrefix: string
  /** With any filter: replays all that match, replayed before or not, and appends no mark. Without: all after the last mark. */
  readonly filters?: DeadLetterFilters
  /** Maximum records put back per second. */
  readonly ratePerSecond?: number
  /** A record that was a dead letter more often than this is refused, as it would circulate for ever. */
  readonly attemptsMax?: number
  readonly clock?: Clock
  readonly wait?: (ms: number) => Promise<unknown>
}

/**
 * The reasons not to put a dead letter back: it failed too often; it has no value to put back; its topic or partition is not one of this
 * installation; it is not a dead letter that this program wrote.
 */
type RefusedReplay = 'too_many_attempts' | 'no_value' | 'unknown_place' | 'not_a_dead_letter'

export interface ReplayReport {
  readonly replayed: number
  /** Dead letters of a record that this run had put back already, because two projections had refused it. */
  readonly repeated: number
  readonly refused: Readonly<Record<RefusedReplay, number>>
}

/** Default number of records that a replay puts back in a second at most. */
export const RATE_PER_SECOND = 100
const ATTEMPTS_MAX = 3
/** Maximum records remembered as put back. Forgetting one costs only a repeat, which the stores recognise by its id. */
const REMEMBERED_MAX = 100_000

const ENTRY_TOPICS: readonly TopicRole[] = ['event-logs', 'application-logs']

/**
 * Puts dead letters back where they came from: the same bytes, key and headers, the same topic and partition. The projections read them
 * again; what was stored before is recognised by its id, so a replay may be repeated. Rejects with an `AppendError` if the journal does not
 * take one; the next run then starts where this one started.
 */
export async function replayDeadLetters(journal: Journal, options: ReplayOptions): Promise<ReplayReport> {
  const { topicPrefix, filters = {}, attemptsMax = ATTEMPTS_MAX } = options
  const topic = topicName(topicPrefix, 'dead-letters')
  const isFiltered = Object.values(filters).some((filter) => filter !== undefined)
  const done = isFiltered ? new Map<number, number>() : await replayedUpTo(journal, topic)
  const partitions = await entryPartitions(journal, topicPrefix)
  const pace = createPace(options)
  const putBack = new Set<string>()
  const read = new Map<number, number>()
  const refused = { too_many_attempts: 0, no_value: 0, unknown_place: 0, not_a_dead_letter: 0 }
  let replayed = 0
  let repeated = 0

  for await (const record of journal.scan(topic)) {
    if (record.offset < (done.get(record.partition) ?? 0) || replayMark(record) !== undefined) continue
    const letter = summaryOf(record)
    if (isFiltered && (letter === undefined || !matches(letter, filters))) continue
    read.set(record.partition, record.offset + 1)
    const refusal = refusalOf(letter, partitions, attemptsMax)
    if (letter === undefined || refusal !== null) {
      refused[refusal ?? 'not_a_dead_letter'] += 1
      continue
    }
    const place = `${letter.topic}/${letter.partition}/${letter.offset}`
    if (putBack.has(place)) {
      repeated += 1
      continue
    }
    await pace()
    await journal.append({ topic: letter.topic, partition: letter.partition, records: [original(record)] })
    replayed += 1
    if (putBack.size >= REMEMBERED_MAX) putBack.clear()
    putBack.add(place)
  }
  if (!isFiltered) await appendMarks(journal, topic, read)
  return { replayed, repeated, refused }
}

function refusalOf(
  letter: DeadLetterSummary | undefined,
  partitions: ReadonlyMap<string, number>,
  attemptsMax: number,
): RefusedReplay | null {
  if (letter === undefined) return 'not_a_dead_letter'
  if (letter.partition >= (partitions.get(letter.topic) ?? 0)) return 'unknown_place'
  if (letter.valueBytes === 0) return 'no_value'
  return letter.attempt > attemptsMax ? 'too_many_attempts' : null
}

/** The record as it was before it became a dead letter, apart from the attempt count, which the next dead letter continues. */
function original({ key, value, headers }: JournalRecord): NewRecord {
  const added: readonly string[] = [DLQ_HEADERS.projection, DLQ_HEADERS.time]
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith(CONNECT_PREFIX) && !added.includes(name))
  return { key, value, headers: Object.fromEntries(kept) }
}

/** The topics that a record may be put back to, with their partitions. */
async function entryPartitions(journal: Journal, topicPrefix: string): Promise<ReadonlyMap<string, number>> {
  const topics = ENTRY_TOPICS.map((role) => topicName(topicPrefix, role))
  return new Map(await Promise.all(topics.map(async (name) => [name, await journal.partitionCount(name)] as const)))
}

/** Waits as long as the rate demands. */
function createPace({ ratePerSecond = RATE_PER_SECOND, clock = steadyClock, wait = delay }: ReplayOptions) {
  let nextAt = 0
  return async (): Promise<void> => {
    const now = clock.now()
    if (nextAt > now) await wait(nextAt - now)
    nextAt = Math.max(now, nextAt) + 1_000 / ratePerSecond
  }
}

/**
 * The header of a mark. No dead letter is ever removed; instead, a replay of all pending ones ends by appending a mark to each partition of
 * the dead letters: the position up to which they are done with. A mark comes after the records it covers, so retention does not remove it
 * before them.
 */
const MARK_HEADER = 'x-dlq-replayed-up-to'

/** Marks the dead letters before these positions, one per partition, as done with. */
export async function appendMarks(
  journal: Journal,
  topic: string,
  positions: ReadonlyMap<number, number>,
): Promise<void> {
  for (const [partition, position] of positions) {
    const headers = { 'content-type': 'application/json', [MARK_HEADER]: String(position) }
    await journal.append({ topic, partition, records: [{ key: null, value: '{}', headers }] })
  }
}

/** The position in a mark; undefined for any other record. */
export function replayMark({ headers }: JournalRecord): number | undefined {
  // A dead letter carries the headers of its record, whatever they are.
  if (headers[DLQ_HEADERS.topic] !== undefined) return undefined
  return wholeNumber(headerText(headers, MARK_HEADER))
}

/** For each partition with a mark, the position up to which its dead letters were replayed or refused for good. */
async function replayedUpTo(journal: Journal, topic: string): Promise<ReadonlyMap<number, number>> {
  const positions = new Map<number, number>()
  for await (const record of journal.scan(topic)) {
    const mark = replayMark(record)
    if (mark !== undefined) positions.set(record.partition, Math.max(mark, positions.get(record.partition) ?? 0))
  }
  return positions
}

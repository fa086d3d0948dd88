import { setTimeout as delay } from 'node:timers/promises'
import { type TopicRole, topicName } from '../shared/contract/topics.ts'
import type { Journal, JournalRecord, NewRecord } from '../shared/journal/journal.ts'
import { type Clock, systemClock } from '../shared/runtime/clock.ts'
import { type DeadLetterFilters, type DeadLetterSummary, matches, summaryOf } from './dead-letter-list.ts'
import { CONNECT_PREFIX, DLQ_HEADERS } from './dead-letters.ts'
import { appendMarks, replayedUpTo, replayMark } from './replay-marks.ts'

export interface ReplayOptions {
  readonly topicPrefix: string
  /** With any filter set: all that match, replayed before or not, and no mark is made. Without: all after the last mark. */
  readonly filters?: DeadLetterFilters
  /** Most records put back in a second. */
  readonly ratePerSecond?: number
  /** A record that was a dead letter more often than this is refused: it would go round for ever. */
  readonly attemptsMax?: number
  readonly clock?: Clock
  readonly wait?: (ms: number) => Promise<unknown>
}

/**
 * Why a dead letter was not put back: it failed too often; it has no value to put back; its topic is not one of this
 * installation's or has no such partition any more; it is no dead letter that this program wrote.
 */
export type RefusedReplay = 'too_many_attempts' | 'no_value' | 'unknown_place' | 'not_a_dead_letter'

export interface ReplayReport {
  readonly replayed: number
  /** Dead letters of a record that this run had put back already, because two projections had refused it. */
  readonly repeated: number
  readonly refused: Readonly<Record<RefusedReplay, number>>
}

const RATE_PER_SECOND = 100
const ATTEMPTS_MAX = 3
/** Records remembered as put back. Forgetting one costs only a repeat, which the stores recognise by its id. */
const REMEMBERED_MAX = 100_000

const ENTRY_TOPICS: readonly TopicRole[] = ['event-logs', 'application-logs']

/**
 * Puts dead letters back where they came from: the same bytes, key and headers, the same topic and partition. The projections read
 * them again; what had been stored is recognised by its id, so a replay may be repeated. Rejects with an `AppendError` when
 * the journal does not take one; the next run then begins where this one began.
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

/** The record as it was before it became a dead letter, but for the count of attempts, which the next dead letter goes on with. */
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

/** Waits as long as it takes to keep to the rate. */
function createPace({ ratePerSecond = RATE_PER_SECOND, clock = systemClock, wait = delay }: ReplayOptions) {
  let nextAt = 0
  return async (): Promise<void> => {
    const now = clock.now()
    if (nextAt > now) await wait(nextAt - now)
    nextAt = Math.max(now, nextAt) + 1_000 / ratePerSecond
  }
}

import type { EntryDocument } from '../shared/contract/documents.ts'
import { topicName } from '../shared/contract/topics.ts'
import { type Journal, type JournalRecord, TopicMissingError } from '../shared/journal/journal.ts'
import type { LogStoreReader, LogStoreWriter } from '../shared/log-store/log-store.ts'
import type { Logger } from '../shared/runtime/logger.ts'
import { insist } from '../shared/runtime/waiting.ts'
import {
  ENTRY_PROJECTORS,
  type EntryProjectionName,
  groupName,
  PROJECTIONS,
  type ProjectionName,
  type Projector,
} from './projection.ts'

interface RestoreOptions {
  readonly journal: Pick<Journal, 'scan'>
  readonly store: LogStoreWriter
  readonly topicPrefix: string
  /** The first day (yyyy-mm-dd, UTC, of `receivedAt`) to restore; null for all that the topics hold. */
  readonly since: string | null
  readonly signal: AbortSignal
}

/** Numbers of records by their outcome; a flow's facts are always stored. */
interface Restored {
  readonly stored: number
  /** Stored before. */
  readonly duplicate: number
  /** Not projected or not taken by the store, as when they became dead letters. */
  readonly refused: number
}

interface RewindOptions {
  readonly journal: Pick<Journal, 'positions' | 'rewind'>
  readonly topicPrefix: string
  readonly logger: Pick<Logger, 'warn' | 'error'>
  /** The reason why what was stored has to be read again, for the log. */
  readonly reason: string
  readonly signal: AbortSignal
}

const FIRST_PAUSE_MS = 500

/** Records before a position among which the last entry is looked for, as later ones may have become dead letters. */
const LOOKED_AT = 100

interface LackOptions {
  readonly journal: Pick<Journal, 'positions' | 'scan'>
  readonly store: Pick<LogStoreReader, 'get'>
  readonly topicPrefix: string
  /** Entries received before this time may have been removed. */
  readonly since: string
  readonly signal: AbortSignal
}

/**
 * Whether the log store lacks the last entry that a projection has stored: its file is older than the positions in the journal, as from a
 * backup of another time, or without its `-wal`. Looks only into a topic of one partition, as embedded ones are.
 */
export async function lacksLastEntry(
  name: EntryProjectionName,
  { journal, store, topicPrefix, since, signal }: LackOptions,
): Promise<boolean> {
  const topic = topicName(topicPrefix, name)
  const [position, ...others] = await journal.positions(topic, groupName(topicPrefix, name))
  const committed = position?.committed ?? 0
  if (committed === 0 || others.length > 0) return false
  let last: EntryDocument | undefined
  for await (const record of journal.scan(topic, Math.max(0, committed - LOOKED_AT))) {
    if (record.offset >= committed) break
    const projected = ENTRY_PROJECTORS[name](record)
    if (projected.outcome === 'ok' && projected.receivedAt >= since) last = projected.item
  }
  return last !== undefined && (await store.get(last.team, last.kind, last.id, signal)) === undefined
}

/**
 * Makes the consumers of a projection begin at the first records kept, before they join: for a log store that lacks what the projection has
 * stored, as its file was lost or is an older one. On Kafka a member that was killed is in its group for a while, so this is
 * tried until the signal aborts. A failure is logged, and costs the old entries alone: the consumers may start.
 */
export async function rewindProjection(
  name: ProjectionName,
  { journal, topicPrefix, logger, reason, signal }: RewindOptions,
): Promise<void> {
  const group = groupName(topicPrefix, name)
  const rewindAll = async (): Promise<void> => {
    for (const { role } of PROJECTIONS[name].sources) {
      const topic = topicName(topicPrefix, role)
      const positions = await journal.positions(topic, group)
      if (positions.every(({ committed, firstOffset }) => (committed ?? 0) <= firstOffset)) continue
      await journal.rewind(topic, group)
      logger.warn({ view: name, topic }, `${reason}: what the journal has kept is read again`)
    }
  }
  try {
    await insist(rewindAll, signal, FIRST_PAUSE_MS, (err, isFirst) => {
      if (err instanceof TopicMissingError) throw err
      if (isFirst) logger.warn({ view: name, err }, `${reason}, and its group cannot be rewound yet; retrying`)
    })
  } catch (err) {
    const remedy = `stop the server and run \`sluice views rebuild ${name} --from topics\``
    logger.error({ view: name, err }, `${reason}, and the journal is not read again: ${remedy}`)
  }
}

const RECORDS_PER_WRITE = 2_000
const BYTES_PER_WRITE = 8 * 1024 * 1024

/**
 * Writes all records of a projection's topics to the log store once more, beside its consumers: the store recognises what it has, so only
 * lost entries are added. The group's positions stay as they are. Rejects as the store does; may be repeated.
 */
export async function restoreProjection(name: ProjectionName, options: RestoreOptions): Promise<Restored> {
  const { journal, store, topicPrefix, since, signal } = options
  const projection = PROJECTIONS[name]
  const counts = { stored: 0, duplicate: 0, refused: 0 }
  for (const { role, project } of projection.sources) {
    for await (const chunk of perWrite(journal.scan(topicName(topicPrefix, role)))) {
      signal.throwIfAborted()
      const { items, refused } = projected(chunk, project, since)
      counts.refused += refused
      for (const { outcome } of await projection.write(items, store, signal)) counts[outcome] += 1
    }
  }
  return counts
}

function projected<Item>(records: readonly JournalRecord[], project: Projector<Item>, since: string | null) {
  const items: Item[] = []
  let refused = 0
  for (const record of records) {
    const result = project(record)
    if (result.outcome === 'deadLetter') refused += 1
    if (result.outcome === 'ok' && (since === null || result.receivedAt >= since)) items.push(result.item)
  }
  return { items, refused }
}

/** The records in the portions that are written at once. */
async function* perWrite(records: AsyncIterable<JournalRecord>): AsyncGenerator<readonly JournalRecord[]> {
  let chunk: JournalRecord[] = []
  let bytes = 0
  for await (const record of records) {
    chunk.push(record)
    bytes += record.value?.length ?? 0
    if (chunk.length < RECORDS_PER_WRITE && bytes < BYTES_PER_WRITE) continue
    yield chunk
    chunk = []
    bytes = 0
  }
  if (chunk.length > 0) yield chunk
}

import { topicName } from '../shared/contract/topics.ts'
import type { Journal, JournalRecord } from '../shared/journal/journal.ts'
import type { LogStoreWriter } from '../shared/log-store/log-store.ts'
import { PROJECTIONS, type ProjectionName, type Projector } from './projection.ts'

export interface RestoreOptions {
  readonly journal: Pick<Journal, 'scan'>
  readonly store: LogStoreWriter
  readonly topicPrefix: string
  /** The first day (yyyy-mm-dd, UTC, of `receivedAt`) to restore; null for all that the topics hold. */
  readonly since: string | null
  readonly signal: AbortSignal
}

/** Numbers of records by their outcome; a flow's facts are always stored. */
export interface Restored {
  readonly stored: number
  /** Stored before. */
  readonly duplicate: number
  /** Not projected or not taken by the store, as when they became dead letters. */
  readonly refused: number
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
    for await (const chunk of chunksOf(journal.scan(topicName(topicPrefix, role)))) {
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

async function* chunksOf(records: AsyncIterable<JournalRecord>): AsyncGenerator<readonly JournalRecord[]> {
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

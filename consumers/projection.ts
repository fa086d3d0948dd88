import type { EntryDocument, FlowDelta } from '../shared/contract/documents.ts'
import type { EntryRecord } from '../shared/contract/records.ts'
import type { TopicRole } from '../shared/contract/topics.ts'
import type { JournalRecord } from '../shared/journal/journal.ts'
import type { LogStoreWriter, WriteOutcome } from '../shared/log-store/log-store.ts'
import { type Decode, decodeApplicationLog, decodeEventLog } from './decode.ts'
import { deadLetter, ok, type Projected, skip } from './outcome.ts'
import { applicationLogDocument } from './projections/application-logs.ts'
import { eventLogDocument } from './projections/event-logs.ts'
import { flowFact, foldFlows } from './projections/flows.ts'

/** The projections that a consumer keeps up to date. */
export const PROJECTION_NAMES = ['event-logs', 'application-logs', 'flows'] as const

export type ProjectionName = (typeof PROJECTION_NAMES)[number]

/** The group that reads for a projection, such as `sluice.flows.v1`. A new version reads its topics from the first record. */
export const groupName = (topicPrefix: string, projection: ProjectionName): string => `${topicPrefix}.${projection}.v1`

/** What makes one projection different from another: which topics it reads, what it makes of a record, and how it writes that. */
export interface Projection<Item> {
  readonly name: ProjectionName
  readonly sources: readonly { readonly role: TopicRole; readonly project: Projector<Item> }[]
  /** One outcome an item, in order; goes through the items once. Rejects as the store does. */
  write(items: Iterable<Item>, store: LogStoreWriter, signal: AbortSignal): Promise<readonly WriteOutcome[]>
}

/** Never throws. */
export type Projector<Item> = (record: JournalRecord) => Projected<Item>

export const eventLogsProjection: Projection<EntryDocument> = {
  name: 'event-logs',
  sources: [{ role: 'event-logs', project: projector(decodeEventLog, eventLogDocument) }],
  write: (documents, store, signal) => store.write(documents, signal),
}

export const applicationLogsProjection: Projection<EntryDocument> = {
  name: 'application-logs',
  sources: [{ role: 'application-logs', project: projector(decodeApplicationLog, applicationLogDocument) }],
  write: (documents, store, signal) => store.write(documents, signal),
}

export const flowsProjection: Projection<FlowDelta> = {
  name: 'flows',
  sources: [
    { role: 'event-logs', project: projector(decodeEventLog, flowFact) },
    { role: 'application-logs', project: projector(decodeApplicationLog, flowFact) },
  ],
  write: async (facts, store, signal) => {
    const all = [...facts]
    await store.mergeFlows(foldFlows(all), signal)
    return all.map(() => ({ outcome: 'stored' }))
  },
}

/**
 * Decodes and projects a record. `toItem` gives null for a record that the projection has no use for. It is pure, so what it throws
 * is about this record alone and must not stop the others; only the error's class is told, its message may quote the record.
 */
export function projector<Entry extends EntryRecord, Item>(
  decode: Decode<Entry>,
  toItem: (entry: Entry, source: string) => Item | null,
): Projector<Item> {
  return (record) => {
    try {
      const decoded = decode(record)
      if (decoded.outcome === 'deadLetter') return decoded
      const item = toItem(decoded.entry, decoded.source)
      return item === null ? skip : ok(item, decoded.entry.receivedAt)
    } catch (error) {
      const className = error instanceof Error ? error.name : typeof error
      return deadLetter('projection_failed', `the record cannot be projected: ${className}`)
    }
  }
}

import type { EntryDocument, FlowDelta } from '../shared/contract/documents.ts'
import type { EntryRecord } from '../shared/contract/records.ts'
import type { TopicRole } from '../shared/contract/topics.ts'
import type { JournalRecord } from '../shared/journal/journal.ts'
import type { LogStoreWriter, WriteOutcome } from '../shared/log-store/log-store.ts'
import { type DeadLetter, deadLetter } from './dead-letters.ts'
import { type Decode, decodeApplicationLog, decodeEventLog } from './decode.ts'
import { applicationLogDocument, eventLogDocument } from './projections/entries.ts'
import { flowFact, foldFlows } from './projections/flows.ts'

/** The projections that a consumer keeps up to date. */
export const PROJECTION_NAMES = ['event-logs', 'application-logs', 'flows'] as const

export type ProjectionName = (typeof PROJECTION_NAMES)[number]

/** The group that reads for a projection, such as `sluice.flows.v1`. A new version reads its topics from the first record. */
export const groupName = (topicPrefix: string, projection: ProjectionName): string => `${topicPrefix}.${projection}.v1`

/** The parts of a consumer that a projection decides: the topics it reads, the item it makes of a record, and how it writes items. */
export interface Projection<Item> {
  readonly name: ProjectionName
  readonly sources: readonly { readonly role: TopicRole; readonly project: Projector<Item> }[]
  /** Whether it folds many records into one document. */
  readonly folds?: true
  /** Returns one outcome per item, in order; iterates over the items once. Rejects as the store does. */
  write(items: Iterable<Item>, store: LogStoreWriter, signal: AbortSignal): Promise<readonly WriteOutcome[]>
}

/** The result of projecting one record. */
type Projected<Item> =
  | { readonly outcome: 'ok'; readonly item: Item; readonly receivedAt: string }
  /** The projection has no use for the record; nothing is wrong with it. */
  | { readonly outcome: 'skip' }
  | DeadLetter

/** `receivedAt` is the entry's. */
export const ok = <Item>(item: Item, receivedAt: string): Projected<Item> => ({ outcome: 'ok', item, receivedAt })
export const skip: Projected<never> = { outcome: 'skip' }

/** Decodes and projects one record; never throws. */
export type Projector<Item> = (record: JournalRecord) => Projected<Item>

/** All entries with the same correlationKey as one document. */
const flows: Projection<FlowDelta> = {
  name: 'flows',
  folds: true,
  sources: [
    { role: 'event-logs', project: projector(decodeEventLog, flowFact) },
    { role: 'application-logs', project: projector(decodeApplicationLog, flowFact) },
  ],
  write: async (facts, store, signal) => {
    const outcomes: WriteOutcome[] = []
    function* counted(): Generator<FlowDelta, void> {
      for (const fact of facts) {
        outcomes.push({ outcome: 'stored' })
        yield fact
      }
    }
    // Each fact is folded as soon as it is made: thousands that wait together would outlive the young generation.
    await store.mergeFlows(foldFlows(counted()), signal)
    return outcomes
  },
}

/** The projectors of the projections whose documents are entries. */
export const ENTRY_PROJECTORS = {
  'event-logs': projector(decodeEventLog, eventLogDocument),
  'application-logs': projector(decodeApplicationLog, applicationLogDocument),
} as const satisfies Partial<Record<ProjectionName, Projector<EntryDocument>>>

/** The name of a projection whose documents are entries. */
export type EntryProjectionName = keyof typeof ENTRY_PROJECTORS

/** Every projection; the type of its items is known to it alone. */
export const PROJECTIONS: Readonly<Record<ProjectionName, Projection<unknown>>> = {
  'event-logs': entriesOf('event-logs'),
  'application-logs': entriesOf('application-logs'),
  flows,
}

/** Each entry as a document of its own. */
function entriesOf(name: EntryProjectionName): Projection<EntryDocument> {
  return {
    name,
    sources: [{ role: name, project: ENTRY_PROJECTORS[name] }],
    write: (documents, store, signal) => store.write(documents, signal),
  }
}

/**
 * Decodes and projects a record. `toItem` returns null for a record that the projection has no use for. It is pure, so an error that it
 * throws concerns this record alone and must not stop the others. The dead letter names only the error's class, as the message may quote
 * the record.
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

import { randomUUID } from 'node:crypto'
import { entryDocument } from '../../consumers/projections/entries.ts'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import type { ApplicationLogRecord, EntryRecord, EventLogRecord } from '../../shared/contract/records.ts'
import type { GroupField } from '../../shared/log-store/log-store.ts'
import { type EntryFilter, EVERY_ENTRY } from '../../shared/log-store/log-store.ts'

export const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
export const NOON = '2026-01-31T12:00:00.000Z'

/** An event log with defaults for irrelevant fields. */
export const eventRecord = (fields: Partial<EventLogRecord> = {}): EventLogRecord => ({
  kind: 'event',
  id: randomUUID(),
  receivedAt: NOON,
  timestamp: NOON,
  level: 'Information',
  environment: 'Production',
  correlationKey: null,
  team: 'payments',
  event: 'order-placed',
  step: null,
  payload: 'order placed',
  ...fields,
})

/** An application log with defaults for irrelevant fields. */
export const applicationRecord = (fields: Partial<ApplicationLogRecord> = {}): ApplicationLogRecord => ({
  kind: 'application',
  id: randomUUID(),
  receivedAt: NOON,
  timestamp: NOON,
  level: 'Information',
  environment: 'Production',
  correlationKey: null,
  team: 'payments',
  project: PROJECT,
  categoryName: 'Acme.Billing',
  eventId: 0,
  eventName: '',
  message: 'request finished',
  exception: null,
  scopeData: null,
  ...fields,
})

/** The document that the consumers derive from a record. */
export const documentOf = (record: EntryRecord): EntryDocument => entryDocument(record, JSON.stringify(record))

export const eventDocument = (fields: Partial<EventLogRecord> = {}): EntryDocument => documentOf(eventRecord(fields))

export const applicationDocument = (fields: Partial<ApplicationLogRecord> = {}): EntryDocument =>
  documentOf(applicationRecord(fields))

/** The record that a document was made from. */
export const recordOf = (document: EntryDocument): EntryRecord => JSON.parse(document.source)

/** The distinct values by which a document is grouped. */
export function groupValuesOf(document: EntryDocument, by: GroupField): readonly string[] {
  if (typeof by !== 'string') {
    const all = by.field === 'scope' ? document.scopeLeaves : document.payloadLeaves
    return [...new Set(all.filter(([path]) => path === by.path).map(([, value]) => value))]
  }
  const value = document[by]
  return value === null ? [] : [String(value)]
}

/** All entries of a Team, narrowed by the given fields. */
export const entriesOf = (team: string, fields: Partial<EntryFilter> = {}): EntryFilter => ({
  ...EVERY_ENTRY,
  team,
  ...fields,
})

import { randomUUID } from 'node:crypto'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import { searchText } from '../../shared/contract/keyword.ts'
import type { ApplicationLogRecord, EntryRecord, EventLogRecord } from '../../shared/contract/records.ts'
import { fingerprintsOf } from '../../shared/fingerprint/fingerprint.ts'
import type { GroupField } from '../../shared/log-store/log-store.ts'
import { leaves } from '../../shared/query/leaves.ts'

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

/** The document of a record, derived as by the consumers. */
export function documentOf(record: EntryRecord): EntryDocument {
  const text = (value: string | null): string | null => (value === null ? null : searchText(value))
  const keyword = (value: string | null): string | null => (value === '' ? null : text(value))
  const isEvent = record.kind === 'event'
  return {
    id: record.id,
    kind: record.kind,
    team: record.team,
    receivedAt: record.receivedAt,
    timestamp: record.timestamp,
    level: record.level,
    environment: searchText(record.environment),
    correlationKey: keyword(record.correlationKey),
    event: isEvent ? keyword(record.event) : null,
    step: isEvent ? keyword(record.step) : null,
    project: isEvent ? null : record.project,
    category: isEvent ? null : keyword(record.categoryName),
    eventId: isEvent ? null : record.eventId,
    eventName: isEvent ? null : keyword(record.eventName),
    ...(isEvent ? { template: null, exceptionGroup: null } : fingerprintsOf(record)),
    message: isEvent ? null : searchText(record.message),
    exception: isEvent ? null : text(record.exception),
    payload: isEvent ? searchText(record.payload) : null,
    payloadLeaves: isEvent ? leavesOfText(record.payload) : [],
    scopeLeaves: isEvent ? [] : leaves(record.scopeData),
    source: JSON.stringify(record),
  }
}

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

function leavesOfText(payload: string): EntryDocument['payloadLeaves'] {
  try {
    return leaves(JSON.parse(payload))
  } catch {
    return []
  }
}

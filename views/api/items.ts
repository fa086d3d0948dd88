import type { ApplicationLogRecord, EntryRecord, EventLogRecord } from '../../shared/contract/records.ts'
import type { EntityRef, Names, ProjectRef } from './names.ts'

type Shown<T, Named extends keyof T> = Omit<T, 'team' | Named>

export type EventLogItem = Shown<EventLogRecord, 'event' | 'step'> & {
  readonly event: EntityRef | null
  readonly step: EntityRef | null
}

export type ApplicationLogItem = Shown<ApplicationLogRecord, 'project'> & { readonly project: ProjectRef }

export type EntryItem = EventLogItem | ApplicationLogItem

/** An entry as the read API shows it: what was stored, with the names that the registry has now. */
export function itemOf(entry: EntryRecord, names: Names): EntryItem {
  switch (entry.kind) {
    case 'event':
      return eventLogItem(entry, names)
    case 'application':
      return applicationLogItem(entry, names)
  }
}

const eventLogItem = (entry: EventLogRecord, names: Names): EventLogItem => ({
  id: entry.id,
  kind: entry.kind,
  receivedAt: entry.receivedAt,
  timestamp: entry.timestamp,
  level: entry.level,
  environment: entry.environment,
  correlationKey: entry.correlationKey,
  event: entry.event === null ? null : names.event(entry.event),
  step: entry.step === null ? null : names.step(entry.step),
  payload: entry.payload,
})

const applicationLogItem = (entry: ApplicationLogRecord, names: Names): ApplicationLogItem => ({
  id: entry.id,
  kind: entry.kind,
  receivedAt: entry.receivedAt,
  timestamp: entry.timestamp,
  level: entry.level,
  environment: entry.environment,
  correlationKey: entry.correlationKey,
  project: names.project(entry.project),
  categoryName: entry.categoryName,
  eventId: entry.eventId,
  eventName: entry.eventName,
  message: entry.message,
  exception: entry.exception,
  scopeData: entry.scopeData,
  ...(entry.originalLevel === undefined ? {} : { originalLevel: entry.originalLevel }),
})

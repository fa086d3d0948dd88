import type { ApplicationLogRecord, EntryRecord, EventLogRecord } from '../../shared/contract/records.ts'
import type { ApplicationLog, Entry, EventLog } from '../schemas/answers.ts'
import type { Names } from './names.ts'
import type { ValuedRow } from './row-values.ts'

/** An entry as the read API returns it: the stored values, with the registry's current names. */
export function itemOf(entry: ValuedRow, names: Names): Entry {
  const item = entry.kind === 'event' ? eventLogItem(entry, names) : applicationLogItem(entry, names)
  const { fields, truncated } = entry
  return { ...item, ...(fields !== undefined && { fields }), ...(truncated !== undefined && { truncated }) }
}

/** The values that entries of both kinds have. */
function storedOf<Kind>(entry: EntryRecord & { readonly kind: Kind }) {
  const { id, kind, receivedAt, timestamp, level, environment, correlationKey } = entry
  return { id, kind, receivedAt, timestamp, level, environment, correlationKey }
}

const eventLogItem = (entry: EventLogRecord, names: Names): EventLog => ({
  ...storedOf(entry),
  event: entry.event === null ? null : names.event(entry.event),
  step: entry.step === null ? null : names.step(entry.step),
  payload: entry.payload,
})

const applicationLogItem = (entry: ApplicationLogRecord, names: Names): ApplicationLog => ({
  ...storedOf(entry),
  project: names.project(entry.project),
  categoryName: entry.categoryName,
  eventId: entry.eventId,
  eventName: entry.eventName,
  message: entry.message,
  exception: entry.exception,
  scopeData: entry.scopeData,
  ...(entry.originalLevel === undefined ? {} : { originalLevel: entry.originalLevel }),
})

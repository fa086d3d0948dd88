import type { ProjectionName } from '../../consumers/projection.ts'
import { COMMON_HEADERS, type HeaderFacts, ownHeaders } from '../../shared/contract/headers.ts'
import type { ApplicationLogRecord, EntryKind, EntryRecord, EventLogRecord } from '../../shared/contract/records.ts'
import { TOPICS, type TopicRole, topicName } from '../../shared/contract/topics.ts'
import type { JournalRecord, NamedTopic, NewRecord } from '../../shared/journal/journal.ts'

export const PREFIX = 'test'
export const EVENT_TOPIC = topicName(PREFIX, 'event-logs')
export const APPLICATION_TOPIC = topicName(PREFIX, 'application-logs')
export const DEAD_LETTER_TOPIC = topicName(PREFIX, 'dead-letters')

const SOURCES = {
  'event-logs': ['event-logs'],
  'application-logs': ['application-logs'],
  flows: ['event-logs', 'application-logs'],
} as const satisfies Readonly<Record<ProjectionName, readonly TopicRole[]>>

/** The topics that a projection reads. */
export const sourceTopics = (topicPrefix: string, projection: ProjectionName): readonly string[] =>
  SOURCES[projection].map((role) => topicName(topicPrefix, role))

/** The consumers' three topics with few partitions. Compacted ones accept null values, which foreign producers may send. */
export const entryTopics = (partitions = 2, cleanup: 'delete' | 'compact' = 'delete'): readonly NamedTopic[] => [
  named('event-logs', partitions, cleanup),
  named('application-logs', partitions, cleanup),
  named('dead-letters', 1, 'delete'),
]

const named = (role: TopicRole, partitions: number, cleanup: 'delete' | 'compact'): NamedTopic => ({
  ...TOPICS[role],
  name: topicName(PREFIX, role),
  partitions,
  cleanup,
})

/** A GUID that ends in the number. */
export const idOf = (number: number): string => `01890000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`

const RECEIVED_AT = '2026-03-01T10:00:00.000Z'

export const eventLog = (number: number, changes: Partial<EventLogRecord> = {}): EventLogRecord => ({
  id: idOf(number),
  kind: 'event',
  receivedAt: RECEIVED_AT,
  timestamp: RECEIVED_AT,
  level: 'Information',
  environment: 'Production',
  correlationKey: 'order-1',
  team: 'payments',
  event: 'order-placed',
  step: 'order-placed.validate',
  payload: 'validated',
  ...changes,
})

export const applicationLog = (number: number, changes: Partial<ApplicationLogRecord> = {}): ApplicationLogRecord => ({
  id: idOf(number),
  kind: 'application',
  receivedAt: RECEIVED_AT,
  timestamp: RECEIVED_AT,
  level: 'Warning',
  environment: 'Production',
  correlationKey: 'order-1',
  team: 'payments',
  project: '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  categoryName: 'Acme.Billing',
  eventId: 7,
  eventName: 'Charged',
  message: 'charged',
  exception: null,
  scopeData: null,
  ...changes,
})

/** All headers that the gateway gives an entry's record. */
export const recordHeaders = ({ kind, ...facts }: HeaderFacts & { readonly kind: EntryKind }) => ({
  ...COMMON_HEADERS[kind],
  ...ownHeaders(facts),
})

/** The record that the gateway publishes for the entry. */
export const published = (entry: EntryRecord): NewRecord => ({
  key: entry.correlationKey,
  value: JSON.stringify(entry),
  headers: recordHeaders({
    kind: entry.kind,
    id: entry.id,
    subject: entry.kind === 'event' ? (entry.step ?? entry.event ?? '') : entry.project,
    time: entry.timestamp,
    key: entry.correlationKey,
    originalKey: null,
    traceparent: undefined,
  }),
})

/** A record with this value, as read from the journal. */
export const readRecord = (value: Buffer | string | null, changes: Partial<JournalRecord> = {}): JournalRecord => ({
  topic: EVENT_TOPIC,
  partition: 0,
  offset: 0,
  appendedAt: 0,
  key: null,
  value: typeof value === 'string' ? Buffer.from(value) : value,
  headers: {},
  ...changes,
})

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

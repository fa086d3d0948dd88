const DAY_MS = 86_400_000

/** A topic by what it holds, whatever prefix an installation gives it. */
export type TopicRole = 'event-logs' | 'application-logs' | 'registry' | 'dead-letters'

export interface TopicSpec {
  readonly role: TopicRole
  readonly partitions: number
  /** `delete` drops records by age; `compact` keeps the last record of each key. */
  readonly cleanup: 'delete' | 'compact'
  /** How long records are kept; null where age removes nothing. */
  readonly retentionMs: number | null
}

/** Every topic of the journal. A breaking change of a value is a new version, and so a new topic. */
export const TOPICS: Readonly<Record<TopicRole, TopicSpec>> = {
  'event-logs': { role: 'event-logs', partitions: 12, cleanup: 'delete', retentionMs: 7 * DAY_MS },
  'application-logs': { role: 'application-logs', partitions: 12, cleanup: 'delete', retentionMs: 7 * DAY_MS },
  registry: { role: 'registry', partitions: 1, cleanup: 'compact', retentionMs: null },
  'dead-letters': { role: 'dead-letters', partitions: 1, cleanup: 'delete', retentionMs: 30 * DAY_MS },
}

/** The name on the journal, such as `sluice.event-logs.v1`. */
export const topicName = (prefix: string, role: TopicRole): string => `${prefix}.${role}.v1`

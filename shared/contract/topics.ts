import { DAY_MS } from './timestamp.ts'

const MEBIBYTE = 1024 * 1024

/** A topic by its content, whatever prefix an installation gives it. */
export type TopicRole =
  | 'event-logs'
  | 'application-logs'
  | 'registry'
  | 'dead-letters'
  | 'audit'
  | 'refusals'
  | 'gateways'
  | 'watches'

export interface TopicSpec {
  readonly role: TopicRole
  readonly partitions: number
  /** `delete` drops records by age; `compact` keeps the last record of each key. */
  readonly cleanup: 'delete' | 'compact'
  /** How long records are kept; null if age removes nothing. */
  readonly retentionMs: number | null
  /** Approximate maximum bytes of a partition, beyond which the oldest records are removed; absent for no limit of its own. */
  readonly retentionBytes?: number
  /** Sluice's own notes: not a contract for subscribers, and nothing promised to senders. */
  readonly isInternal?: true
}

/** Every topic of the journal. A breaking change of a value is a new version, and so a new topic. */
export const TOPICS: Readonly<Record<TopicRole, TopicSpec>> = {
  'event-logs': { role: 'event-logs', partitions: 12, cleanup: 'delete', retentionMs: 7 * DAY_MS },
  'application-logs': { role: 'application-logs', partitions: 12, cleanup: 'delete', retentionMs: 7 * DAY_MS },
  registry: { role: 'registry', partitions: 1, cleanup: 'compact', retentionMs: null },
  'dead-letters': { role: 'dead-letters', partitions: 1, cleanup: 'delete', retentionMs: 30 * DAY_MS },
  audit: {
    role: 'audit',
    partitions: 1,
    cleanup: 'delete',
    retentionMs: 365 * DAY_MS,
    retentionBytes: 512 * MEBIBYTE,
  },
  refusals: {
    role: 'refusals',
    partitions: 1,
    cleanup: 'delete',
    retentionMs: DAY_MS,
    retentionBytes: 64 * MEBIBYTE,
    isInternal: true,
  },
  gateways: {
    role: 'gateways',
    partitions: 1,
    cleanup: 'delete',
    retentionMs: DAY_MS,
    // A gateway reads all of it when it starts. Kafka 4 accepts no segments below 1 MiB, a quarter of this.
    retentionBytes: 4 * MEBIBYTE,
    isInternal: true,
  },
  watches: { role: 'watches', partitions: 1, cleanup: 'compact', retentionMs: null, isInternal: true },
}

/** The name on the journal, such as `sluice.event-logs.v1`. */
export const topicName = (prefix: string, role: TopicRole): string => `${prefix}.${role}.v1`

/** The records' `ce_source`: the part of Sluice that made them. */
const SOURCE = 'urn:sluice:gateway'

/** Type and schema of a record in the sense of CloudEvents; both end in the version of its topic. */
export const CLOUD_EVENTS = {
  event: { type: 'sluice.event-log.v1', dataSchema: 'urn:sluice:schema:event-log-record:v1' },
  application: { type: 'sluice.application-log.v1', dataSchema: 'urn:sluice:schema:application-log-record:v1' },
} as const

type Kind = keyof typeof CLOUD_EVENTS

export interface HeaderFacts {
  readonly id: string
  /** The subject of the entry: the identifier of the Event or Step addressed, or the Project's id. */
  readonly subject: string
  /** The entry's timestamp. */
  readonly time: string
  /** The record's key, or null if it has none. */
  readonly key: string | null
  /** The key that the record would have if it were not used too often; else null. */
  readonly originalKey: string | null
  readonly traceparent: string | undefined
}

type TextHeaders = Readonly<Record<string, string>>

const commonTo = (kind: Kind): TextHeaders => ({
  ce_specversion: '1.0',
  ce_source: SOURCE,
  ce_type: CLOUD_EVENTS[kind].type,
  ce_dataschema: CLOUD_EVENTS[kind].dataSchema,
  'content-type': 'application/json',
})

/** The headers that all records of one kind share: always the same object, so that a journal can encode them once. */
export const COMMON_HEADERS: Readonly<Record<Kind, TextHeaders>> = {
  event: commonTo('event'),
  application: commonTo('application'),
}

/**
 * The headers of an entry's record in addition to the common ones: CloudEvents 1.0 in Kafka's binary mode, with the extensions for
 * partitioning (`partitionkey`) and distributed tracing. Headers without a value are left out.
 */
export function ownHeaders(facts: HeaderFacts): TextHeaders {
  const headers: Record<string, string> = { ce_id: facts.id, ce_subject: facts.subject, ce_time: facts.time }
  if (facts.key !== null) headers['ce_partitionkey'] = facts.key
  if (facts.originalKey !== null) headers['x-original-key'] = facts.originalKey
  if (facts.traceparent !== undefined) headers['traceparent'] = facts.traceparent
  return headers
}

const TEXT = '"(?:[^"\\\\]|\\\\.)*"'
/** A text without escapes, in a group. */
const PLAIN = '"([^"\\\\]*)"'

/** The beginning of an entry's record as the gateway writes it, up to its subject. */
const BEGINNING = new RegExp(
  [
    `^{"kind":"(event|application)","id":${PLAIN},"receivedAt":${TEXT},"timestamp":${PLAIN},"level":${TEXT},"environment":${TEXT}`,
    `"correlationKey":(?:null|${TEXT}),"team":${TEXT},(?:"project":${PLAIN}|"event":(?:null|${PLAIN}),"step":(?:null|${PLAIN}))`,
  ].join(','),
)

/** The headers that the beginning of a record's value tells with its key, as those of most entries; undefined if it is no such record. */
export function toldHeaders(beginning: string, key: string | null) {
  const [, kind, id = '', time = '', project, event, step] = BEGINNING.exec(beginning) ?? []
  const subject = project ?? step ?? event
  if (kind === undefined || subject === undefined) return undefined
  return {
    common: COMMON_HEADERS[kind as Kind],
    own: ownHeaders({ id, subject, time, key, originalKey: null, traceparent: undefined }),
  }
}

/** A record of an internal topic, with its value in JSON; null deletes the key. */
export const jsonRecord = (key: string | null, value: object | null) => ({
  key,
  value: value === null ? null : JSON.stringify(value),
  headers: value === null ? {} : { 'content-type': 'application/json' },
})

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The value of a `traceparent` header (W3C Trace Context, version 00) if it is valid. */
export const validTraceparent = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined

/** Whether the caller that a valid `traceparent` names is traced: the `sampled` bit, the lowest of its flags. */
export const saysTraced = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1

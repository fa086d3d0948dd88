import { DLQ_HEADERS } from '../../consumers/dead-letters.ts'
import { AUDIT_SCHEMA } from '../../shared/contract/audit.ts'
import { CLOUD_EVENTS } from '../../shared/contract/headers.ts'
import { DRAFT, described, filledText, time, titled } from '../../shared/contract/json-schema.ts'
import {
  APPLICATION_LOG_SCHEMA,
  type EntryKind,
  EVENT_LOG_SCHEMA,
  GUID_PATTERN,
} from '../../shared/contract/records.ts'
import { REGISTRY_SCHEMA } from '../../shared/registry/schema.ts'

const count = { type: 'string', pattern: '^[0-9]{1,15}$' } as const

/** The headers of an entry's record: CloudEvents 1.0 in binary mode. Every value is text in UTF-8. */
function entryHeaders(kind: EntryKind, title: string, subject: string): object {
  const { type, dataSchema } = CLOUD_EVENTS[kind]
  return {
    $schema: DRAFT,
    $id: dataSchema.replace('-record:', '-headers:'),
    ...titled(
      title,
      {
        ce_specversion: { type: 'string', const: '1.0' },
        ce_id: { type: 'string', pattern: GUID_PATTERN, description: 'The id of the entry, as in the value.' },
        ce_source: described(filledText, 'What made the record: urn:sluice:gateway.'),
        ce_type: { type: 'string', const: type },
        ce_subject: described(filledText, subject),
        ce_time: described(time, 'The timestamp of the entry, as in the value.'),
        ce_dataschema: { type: 'string', const: dataSchema, description: "The $id of the value's schema." },
        'content-type': { type: 'string', const: 'application/json' },
      },
      {
        ce_partitionkey: described(filledText, "The record's key; absent where it has none."),
        'x-original-key': described(
          filledText,
          'The correlationKey of a record that has no key because it was used too often.',
        ),
        traceparent: {
          type: 'string',
          pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
          description: "The sender's W3C trace context; the gateway's own where it traces the request.",
        },
      },
    ),
  }
}

const EVENT_LOG_HEADERS_SCHEMA = entryHeaders(
  'event',
  'EventLogHeaders',
  'The identifier of the Event or Step that the sender addressed.',
)

const APPLICATION_LOG_HEADERS_SCHEMA = entryHeaders('application', 'ApplicationLogHeaders', "The Project's id.")

/**
 * The headers that a dead letter has in addition to those of its record. Reasons, stages and views are not enumerations, so that a new one
 * breaks no reader.
 */
const DEAD_LETTER_HEADERS_SCHEMA = {
  $schema: DRAFT,
  $id: 'urn:sluice:schema:dead-letter-headers:v1',
  ...titled('DeadLetterHeaders', {
    [DLQ_HEADERS.topic]: described(filledText, 'Where the record stood: the topic,'),
    [DLQ_HEADERS.partition]: described(count, 'the partition'),
    [DLQ_HEADERS.offset]: described(count, 'and the offset.'),
    [DLQ_HEADERS.connector]: described(filledText, 'The group that read it.'),
    [DLQ_HEADERS.stage]: described(filledText, 'The stage at which it failed, in the words of Kafka Connect.'),
    [DLQ_HEADERS.exceptionClass]: described(filledText, 'The reason.'),
    [DLQ_HEADERS.exceptionMessage]: { type: 'string', description: 'What is wrong; at most 1,000 bytes.' },
    [DLQ_HEADERS.attempt]: described(count, 'How many times the record has become a dead letter, from 1.'),
    [DLQ_HEADERS.projection]: described(filledText, 'The view that refused it.'),
    [DLQ_HEADERS.time]: described(time, 'When it became a dead letter.'),
  }),
}

/** The headers of the record by which a replay marks its progress. */
const REPLAY_MARK_HEADERS_SCHEMA = {
  $schema: DRAFT,
  $id: 'urn:sluice:schema:replay-mark-headers:v1',
  ...titled('ReplayMarkHeaders', {
    'x-dlq-replayed-up-to': described(count, 'Dead letters of this partition before this offset are done with.'),
    'content-type': { type: 'string', const: 'application/json' },
  }),
}

/** The published schemas, by file name in docs/schemas. A file's name and a schema's `$id` never change. */
export const SCHEMAS: Readonly<Record<string, object>> = {
  'event-log-record.v1.json': EVENT_LOG_SCHEMA,
  'event-log-headers.v1.json': EVENT_LOG_HEADERS_SCHEMA,
  'application-log-record.v1.json': APPLICATION_LOG_SCHEMA,
  'application-log-headers.v1.json': APPLICATION_LOG_HEADERS_SCHEMA,
  'registry-record.v1.json': REGISTRY_SCHEMA,
  'audit-record.v1.json': AUDIT_SCHEMA,
  'dead-letter-headers.v1.json': DEAD_LETTER_HEADERS_SCHEMA,
  'replay-mark-headers.v1.json': REPLAY_MARK_HEADERS_SCHEMA,
}

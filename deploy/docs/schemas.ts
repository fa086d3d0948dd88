import { DLQ_HEADERS } from '../../consumers/dead-letters.ts'
import { AUDIT_OUTCOMES } from '../../shared/contract/audit.ts'
import { CLOUD_EVENTS } from '../../shared/contract/headers.ts'
import { described } from '../../shared/contract/json-schema.ts'
import { APPLICATION_LOG_SCHEMA, type EntryKind, EVENT_LOG_SCHEMA } from '../../shared/contract/records.ts'
import { SEARCH_PAGES } from '../../shared/registry/registry.ts'

const DRAFT = 'http://json-schema.org/draft-07/schema#'

const { properties } = EVENT_LOG_SCHEMA
const text = { type: 'string', minLength: 1 } as const
const time = { type: 'string', format: 'date-time' } as const
const count = { type: 'string', pattern: '^[0-9]{1,15}$' } as const
const { pattern: GUID_PATTERN } = properties.id

const objectOf = (
  title: string,
  properties: Readonly<Record<string, object>>,
  optional: Readonly<Record<string, object>> = {},
) => ({
  title,
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
})

/** The headers of an entry's record: CloudEvents 1.0 in binary mode. Every value is text in UTF-8. */
function entryHeaders(kind: EntryKind, title: string, subject: string): object {
  const { type, dataSchema } = CLOUD_EVENTS[kind]
  return {
    $schema: DRAFT,
    $id: dataSchema.replace('-record:', '-headers:'),
    ...objectOf(
      title,
      {
        ce_specversion: { type: 'string', const: '1.0' },
        ce_id: { type: 'string', pattern: GUID_PATTERN, description: 'The id of the entry, as in the value.' },
        ce_source: described(text, 'What made the record: urn:sluice:gateway.'),
        ce_type: { type: 'string', const: type },
        ce_subject: described(text, subject),
        ce_time: described(time, 'The timestamp of the entry, as in the value.'),
        ce_dataschema: { type: 'string', const: dataSchema, description: "The $id of the value's schema." },
        'content-type': { type: 'string', const: 'application/json' },
      },
      {
        ce_partitionkey: described(text, "The record's key; absent where it has none."),
        'x-original-key': described(
          text,
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
  ...objectOf('DeadLetterHeaders', {
    [DLQ_HEADERS.topic]: described(text, 'Where the record stood: the topic,'),
    [DLQ_HEADERS.partition]: described(count, 'the partition'),
    [DLQ_HEADERS.offset]: described(count, 'and the offset.'),
    [DLQ_HEADERS.connector]: described(text, 'The group that read it.'),
    [DLQ_HEADERS.stage]: described(text, 'The stage at which it failed, in the words of Kafka Connect.'),
    [DLQ_HEADERS.exceptionClass]: described(text, 'The reason.'),
    [DLQ_HEADERS.exceptionMessage]: { type: 'string', description: 'What is wrong; at most 1,000 bytes.' },
    [DLQ_HEADERS.attempt]: described(count, 'How many times the record has become a dead letter, from 1.'),
    [DLQ_HEADERS.projection]: described(text, 'The view that refused it.'),
    [DLQ_HEADERS.time]: described(time, 'When it became a dead letter.'),
  }),
}

/** The headers of the record by which a replay marks its progress. */
const REPLAY_MARK_HEADERS_SCHEMA = {
  $schema: DRAFT,
  $id: 'urn:sluice:schema:replay-mark-headers:v1',
  ...objectOf('ReplayMarkHeaders', {
    'x-dlq-replayed-up-to': described(count, 'Dead letters of this partition before this offset are done with.'),
    'content-type': { type: 'string', const: 'application/json' },
  }),
}

/** Archived targets refuse new logs; stored logs keep their names. */
const archivable = {
  archivedAt: described(time, 'Since when new logs are refused; absent while they are taken.'),
}

/** The values of the registry topic. A record's key says which kind of value it holds; null is a deletion. */
const REGISTRY_SCHEMA = {
  $schema: DRAFT,
  $id: 'urn:sluice:schema:registry-record:v1',
  title: 'RegistryRecord',
  definitions: {
    team: objectOf(
      'Team',
      { name: text },
      {
        defaultProject: {
          type: 'string',
          pattern: GUID_PATTERN,
          description: 'Its Project for logs of unknown services; absent where it names none.',
        },
        limits: {
          type: 'object',
          properties: {
            entriesPerSecond: { type: 'integer', minimum: 0 },
            bytesPerSecond: { type: 'integer', minimum: 0, description: 'Of bodies, after decompression.' },
            burstSeconds: { type: 'integer', minimum: 0 },
            shadow: { type: 'boolean', description: 'Whether the quota is only counted.' },
          },
          description: 'Its quota; a field that is absent, and all of it, is that of the settings.',
        },
      },
    ),
    event: objectOf('Event', { team: described(text, "The owner's id."), name: text }, archivable),
    step: objectOf(
      'Step',
      {
        team: described(text, "The owner's id."),
        event: {
          type: ['string', 'null'],
          minLength: 1,
          description: "The Event's identifier; null for a Step alone.",
        },
        name: text,
        order: {
          type: 'integer',
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Its place among the Steps of its Event.',
        },
      },
      archivable,
    ),
    project: objectOf('Project', { team: described(text, "The owner's id."), name: text }, archivable),
    key: objectOf('Key', {
      prefix: { type: 'string', description: 'The first characters of the key, to tell keys apart.' },
      createdAt: time,
      revokedAt: { type: ['string', 'null'], format: 'date-time', description: 'Null while the key is live.' },
    }),
    search: objectOf('Search', {
      name: text,
      page: { type: 'string', enum: SEARCH_PAGES, description: 'The list of the page that it searches.' },
      params: {
        type: 'object',
        additionalProperties: text,
        description: "The parameters of the list's address.",
      },
    }),
  },
  // Kept as published: a saved search matches too, as it has the name that a Team requires.
  anyOf: ['team', 'event', 'step', 'project', 'key'].map((kind) => ({ $ref: `#/definitions/${kind}` })),
} as const

const textOrNull = { type: ['string', 'null'] } as const
const valueOrNull = { type: ['object', 'null'] } as const

/** The values of the audit topic. Actions and kinds are not enumerations, so that a new one breaks no reader. */
const AUDIT_SCHEMA = {
  $schema: DRAFT,
  $id: 'urn:sluice:schema:audit-record:v1',
  title: 'AuditRecord',
  definitions: {
    change: objectOf('Change', {
      id: { ...text, pattern: GUID_PATTERN, description: 'Names the changes that have one outcome.' },
      index: { type: 'integer', minimum: 0, description: 'The place of the change among those of the id.' },
      at: described(time, 'When the change was announced, just before it was made.'),
      outcome: { type: 'string', const: 'pending' },
      actor: objectOf('Actor', {
        kind: described(text, 'team, operator (a command) or server (REGISTRY_FILE, the first start).'),
        id: described(textOrNull, "The Team's id, or the name of the operating system's user."),
        key: described(textOrNull, "The first characters of the Team's key, 6 at most."),
      }),
      via: described(
        text,
        'The path that was asked for, without identifiers; the command; REGISTRY_FILE; or first start.',
      ),
      from: described(textOrNull, "The client's address; of a command, the name of its machine."),
      team: described(textOrNull, "The Team whose thing it is; null where it is no Team's."),
      action: described(text, 'created, changed, deleted, archived, restored, revoked, replayed, rebuilt.'),
      subject: objectOf('Subject', {
        kind: described(text, 'team, key, event, step, project, search, watch, dead-letters, view.'),
        id: { type: 'string', description: 'Its id; of a key, the first characters, 6 at most.' },
      }),
      before: described(valueOrNull, 'The value before, without secrets, long texts cut; null: there was none.'),
      after: described(valueOrNull, 'The value after, as before.'),
    }),
    outcome: objectOf('Outcome', {
      id: { ...text, pattern: GUID_PATTERN, description: 'The id of the changes.' },
      at: described(time, 'When the outcome was known.'),
      outcome: { type: 'string', enum: AUDIT_OUTCOMES, description: 'failure: nothing was changed.' },
    }),
  },
  anyOf: ['change', 'outcome'].map((kind) => ({ $ref: `#/definitions/${kind}` })),
} as const

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

import { CLOUD_EVENTS } from './headers.ts'
import { DRAFT, described, optionalText, type Static, text, time, titled } from './json-schema.ts'
import { LEVELS } from './levels.ts'

/*
 * The values of the topics: one accepted entry each, as JSON, described by JSON Schemas (draft 07) for everyone who reads a topic. They are
 * a public contract (docs/topics.md): fields are added without a new version, never renamed or removed, so a reader ignores fields that it
 * does not know; a field without a value is null. Lengths are limits of acceptance, not of the record.
 */

export type EntryKind = keyof typeof CLOUD_EVENTS

/** A GUID in canonical form. */
export const GUID_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'

const guid = { type: 'string', pattern: GUID_PATTERN } as const

const common = {
  id: described(guid, 'Also the header ce_id. The same id is the same entry, however often it is read.'),
  // Determines the index.
  receivedAt: described(time, 'When the entry was accepted.'),
  timestamp: described(time, "When the entry happened by its sender's clock, or receivedAt."),
  level: { type: 'string', enum: LEVELS },
  environment: text,
  correlationKey: described(optionalText, 'Groups the entries of one flow.'),
  team: {
    type: 'string',
    // A Team's id separates tenants, so it must never need to be cut or cleaned.
    // Spelt out, since the regular expressions of some languages do not know \p{Cc} (controls) and \p{Cs} (lone surrogates).
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]{1,256}$',
    description: 'The id of the Team that owns the entry.',
  },
} as const

/** The value of a record of the event logs topic: an external log of the specification (2.3). */
export type EventLogRecord = Static<typeof EVENT_LOG_SCHEMA>
export const EVENT_LOG_SCHEMA = {
  $schema: DRAFT,
  $id: CLOUD_EVENTS.event.dataSchema,
  ...titled('EventLogRecord', {
    kind: { type: 'string', const: 'event' },
    ...common,
    event: described(optionalText, "The Event's identifier; null for a Step without an Event."),
    step: described(optionalText, "The Step's identifier; null where an Event was addressed."),
    payload: described(text, 'Plain text or serialised JSON, as sent.'),
  }),
} as const

/** The value of a record of the application logs topic: an application log of the specification (2.4). */
export type ApplicationLogRecord = Static<typeof APPLICATION_LOG_SCHEMA>
export const APPLICATION_LOG_SCHEMA = {
  $schema: DRAFT,
  $id: CLOUD_EVENTS.application.dataSchema,
  ...titled(
    'ApplicationLogRecord',
    {
      kind: { type: 'string', const: 'application' },
      ...common,
      project: described(guid, "The Project's id."),
      categoryName: text,
      eventId: { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 },
      eventName: text,
      message: text,
      exception: optionalText,
      scopeData: { type: ['object', 'null'] },
    },
    { originalLevel: described(text, 'What the sender wrote as level where it was replaced by Information.') },
  ),
} as const

export type EntryRecord = EventLogRecord | ApplicationLogRecord

import { ajv } from './ajv.ts'
import { jsonRecord } from './headers.ts'
import { parseJsonObject } from './json-object.ts'
import { DRAFT, described, filledText, optionalText, type Static, time, titled, typed } from './json-schema.ts'
import { GUID_PATTERN } from './records.ts'
import { beginningOf } from './rows.ts'

const value = { type: ['object', 'null'] } as const
const id = { ...filledText, pattern: GUID_PATTERN } as const

/** `failure`: nothing was changed. `unknown`: all of it may have been changed; in a replay of dead letters or a rebuild, a part. */
const AUDIT_OUTCOMES = ['success', 'failure', 'unknown'] as const

export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

type Action = 'created' | 'changed' | 'deleted' | 'archived' | 'restored' | 'revoked' | 'replayed' | 'rebuilt'
type Subject = 'team' | 'key' | 'event' | 'step' | 'project' | 'search' | 'watch' | 'dead-letters' | 'view'

/**
 * A change as announced before it is made. Changes that become durable together share one id, and one record with the outcome; id and index
 * identify the record, which may occur twice on the topic.
 */
export type AnnouncedChange = Static<typeof CHANGE>
const CHANGE = titled('Change', {
  id: described(id, 'Names the changes that have one outcome.'),
  index: { type: 'integer', minimum: 0, description: 'The place of the change among those of the id.' },
  at: described(time, 'When the change was announced, just before it was made.'),
  outcome: { type: 'string', const: 'pending' },
  actor: titled('Actor', {
    kind: typed<'team' | 'operator' | 'server'>(
      described(filledText, 'team, operator (a command) or server (REGISTRY_FILE, the first start).'),
    ),
    id: described(optionalText, "The Team's id, or the name of the operating system's user."),
    // Also for a session that began with it.
    key: described(optionalText, "The first characters of the Team's key, 6 at most."),
  }),
  via: described(
    filledText,
    'The path that was asked for, without identifiers; the command; REGISTRY_FILE; or first start.',
  ),
  from: described(optionalText, "The client's address; of a command, the name of its machine."),
  team: described(optionalText, "The Team whose thing it is; null where it is no Team's."),
  action: typed<Action>(
    described(filledText, 'created, changed, deleted, archived, restored, revoked, replayed, rebuilt.'),
  ),
  subject: titled('Subject', {
    kind: typed<Subject>(described(filledText, 'team, key, event, step, project, search, watch, dead-letters, view.')),
    id: { type: 'string', description: 'Its id; of a key, the first characters, 6 at most.' },
  }),
  before: typed<object | null>(
    described(value, 'The value before, without secrets, long texts cut; null: there was none.'),
  ),
  after: typed<object | null>(described(value, 'The value after, as before.')),
})

/** The author of a change, the means, and the place that it came from. */
export type AuditOrigin = Pick<AnnouncedChange, 'actor' | 'via' | 'from'>

/** A change of one object. */
export type AuditedChange = Pick<AnnouncedChange, 'team' | 'action' | 'subject' | 'before' | 'after'>

/** The outcome of all changes announced under the id. */
const OUTCOME = titled('Outcome', {
  id: described(id, 'The id of the changes.'),
  at: described(time, 'When the outcome was known.'),
  outcome: { type: 'string', enum: AUDIT_OUTCOMES, description: 'failure: nothing was changed.' },
})

type AuditRecord = AnnouncedChange | Static<typeof OUTCOME>

/** The values of the audit topic, as published. Actions and kinds are not enumerations, so that a new one breaks no reader. */
export const AUDIT_SCHEMA = {
  $schema: DRAFT,
  $id: 'urn:sluice:schema:audit-record:v1',
  title: 'AuditRecord',
  definitions: { change: CHANGE, outcome: OUTCOME },
  anyOf: ['change', 'outcome'].map((kind) => ({ $ref: `#/definitions/${kind}` })),
} as const

/** Maximum bytes of a value, as JSON. */
export const AUDITED_VALUE_BYTES_MAX = 2_048

/** Maximum characters of the texts in a value, tried in this order: a saved search has about twenty texts. */
const TEXT_CHARACTERS = [200, 50, 12]
const ID_CHARACTERS_MAX = 1_024

/** The topic's record of an announcement or outcome; long texts and values are cut. */
export const encodeAudit = (record: AuditRecord) =>
  record.outcome === 'pending' ? jsonRecord(record.team, withinBounds(record)) : jsonRecord(null, record)

/** Reads a record of the topic; undefined for one that this program cannot have written. */
export function decodeAudit(value: Buffer | null): AuditRecord | undefined {
  const json = parseJsonObject(String(value))
  return ajv.validate<AuditRecord>(AUDIT_SCHEMA, json) ? json : undefined
}

const withinBounds = (change: AnnouncedChange): AnnouncedChange => ({
  ...change,
  subject: { ...change.subject, id: cutText(change.subject.id, ID_CHARACTERS_MAX) },
  before: cutValue(change.before),
  after: cutValue(change.after),
})

function cutValue(value: object | null): object | null {
  for (const characters of TEXT_CHARACTERS) {
    const cut = cutTexts(value, characters) as object | null
    if (Buffer.byteLength(JSON.stringify(cut)) <= AUDITED_VALUE_BYTES_MAX) return cut
  }
  // Only some other writer of the registry makes a value with so many members.
  return { cut: true }
}

function cutTexts(value: unknown, characters: number): unknown {
  if (typeof value === 'string') return cutText(value, characters)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, characters))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cutTexts(item, characters)]))
}

const cutText = (text: string, characters: number): string =>
  text.length <= characters ? text : `${beginningOf(text, characters)}…`

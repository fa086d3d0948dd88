import { ajv } from '../contract/ajv.ts'
import { parseGuid } from '../contract/guid.ts'
import { isJsonObject, parseJsonObject } from '../contract/json-object.ts'
import { described, type JsonSchema, titled } from '../contract/json-schema.ts'
import { GUID_PATTERN } from '../contract/records.ts'
import type { JournalRecord, NewRecord } from '../journal/journal.ts'
import {
  type EventEntity,
  type KeyInfo,
  type Project,
  type SavedSearch,
  SEARCH_PAGES,
  type StepEntity,
  type Team,
} from './registry.ts'

/**
 * The records of the compacted registry topic. A record's key is `<kind>/<id>`: `team/payments`, `event/order-placed`,
 * `step/order-placed.validate`, `project/<guid>`, `key/<team>/<sha256>`, `search/<team>/<guid>`; its value is the JSON of everything that
 * the key does not say, or null for a deletion. Compaction keeps only the last record of a key, so the registry must never depend on an
 * earlier one.
 */
export interface RegistryValues {
  /** Its `defaultProject` may be archived or deleted. */
  readonly team: Omit<Team, 'id'>
  readonly event: Omit<EventEntity, 'kind' | 'identifier'>
  /** Marked only where it was archived itself. */
  readonly step: Omit<StepEntity, 'kind' | 'identifier'>
  readonly project: Omit<Project, 'id'>
  /** Revoked, never deleted, so that listing it again cannot revive it. */
  readonly key: Omit<KeyInfo, 'hash'>
  readonly search: Omit<SavedSearch, 'id'>
}

export interface Archivable {
  /** When it was archived, a canonical timestamp; absent while it takes logs. Its stored logs keep its name. */
  readonly archivedAt?: string
}

export type RegistryKind = keyof RegistryValues

interface RecordOf<Kind extends RegistryKind> {
  readonly kind: Kind
  readonly id: string
  readonly value: RegistryValues[Kind] | null
}

export type RegistryRecord = { readonly [Kind in RegistryKind]: RecordOf<Kind> }[RegistryKind]

/** The present content of the topic: a map from id to value for each kind. */
export type RegistryState = { readonly [Kind in RegistryKind]: Map<string, RegistryValues[Kind]> }

/** Why a record of the topic cannot be read. */
export type Unreadable = 'invalid_key' | 'unknown_kind' | 'invalid_id' | 'invalid_json' | 'invalid_value'

export const emptyState = (): RegistryState => ({
  team: new Map(),
  event: new Map(),
  step: new Map(),
  project: new Map(),
  key: new Map(),
  search: new Map(),
})

/** Folds one record into the state. */
export function fold<Kind extends RegistryKind>(state: RegistryState, record: RecordOf<Kind>): void {
  if (record.value === null) state[record.kind].delete(record.id)
  else state[record.kind].set(record.id, record.value)
}

/** A copy that later records do not change. */
export const copyOf = ({ team, event, step, project, key, search }: RegistryState): RegistryState => ({
  team: new Map(team),
  event: new Map(event),
  step: new Map(step),
  project: new Map(project),
  key: new Map(key),
  search: new Map(search),
})

/** The number of records in the state. */
export const sizeOf = (state: RegistryState): number => Object.values(state).reduce((sum, { size }) => sum + size, 0)

/** The id of a record of a Team: with the SHA-256 (hex) of a key, or the GUID of a saved search. Team ids contain no slash. */
export const ownedId = (team: string, id: string): string => `${team}/${id}`

/** The parts of such an id. */
export function splitOwnedId(recordId: string): { readonly team: string; readonly id: string } {
  const slash = recordId.lastIndexOf('/')
  return { team: recordId.slice(0, slash), id: recordId.slice(slash + 1) }
}

/** Whether the registry holds nothing at all. */
export const isEmpty = (state: RegistryState): boolean => sizeOf(state) === 0

export const encodeRecord = ({ kind, id, value }: RegistryRecord): NewRecord => ({
  key: `${kind}/${id}`,
  value: value === null ? null : JSON.stringify(value),
  headers: value === null ? {} : { 'content-type': 'application/json' },
})

interface Decoded {
  /** The change to fold: an unreadable value counts as deleted. Undefined if the key is unreadable. */
  readonly record?: RegistryRecord
  /** Set if the record was not written by this program, or by a version that is too new. */
  readonly unreadable?: Unreadable
}

/**
 * Reads a record of the topic; never throws. An unreadable value counts as a deletion, not as "unchanged": compaction will drop the earlier
 * value, and a process that starts later must get the same registry as one that has been running since before.
 */
export function decodeRecord({ key, value }: Pick<JournalRecord, 'key' | 'value'>): Decoded {
  const text = key === null ? undefined : decodeUtf8(key)
  if (text === undefined) return { unreadable: 'invalid_key' }
  const slash = text.indexOf('/')
  const kind = text.slice(0, Math.max(slash, 0))
  const id = text.slice(slash + 1)
  if (!isKind(kind)) return { unreadable: 'unknown_kind' }
  if (!ID_FITS[kind](id)) return { unreadable: 'invalid_id' }
  const deleted = { kind, id, value: null }
  if (value === null) return { record: deleted }
  const json = parseJsonObject(decodeUtf8(value))
  if (json === undefined) return { record: deleted, unreadable: 'invalid_json' }
  if (!ajv.validate(`${REGISTRY_SCHEMA.$id}#/definitions/${kind}`, json))
    return { record: deleted, unreadable: 'invalid_value' }
  return { record: { kind, id, value: namedIn(REGISTRY_SCHEMA.definitions[kind], json) } as RegistryRecord }
}

const isKind = (text: string): text is RegistryKind => Object.hasOwn(ID_FITS, text)

const ID_FITS: { readonly [Kind in RegistryKind]: (id: string) => boolean } = {
  team: (id) => id !== '' && !id.includes('/'),
  event: (id) => id !== '',
  step: (id) => id !== '',
  project: (id) => parseGuid(id) === id,
  key: (id) => /^[^/]+\/[0-9a-f]{64}$/.test(id),
  search: (id) => /^[^/]+\/[^/]+$/.test(id) && parseGuid(splitOwnedId(id).id) === splitOwnedId(id).id,
}

const time = { type: 'string', format: 'date-time' } as const
const text = { type: 'string', minLength: 1 } as const

/** Archived targets refuse new logs; stored logs keep their names. */
const archivable = {
  archivedAt: described(time, 'Since when new logs are refused; absent while they are taken.'),
}

/** The values of the registry topic, as published. A record's key says which kind of value it holds; null is a deletion. */
export const REGISTRY_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'urn:sluice:schema:registry-record:v1',
  title: 'RegistryRecord',
  definitions: {
    team: titled(
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
    event: titled('Event', { team: described(text, "The owner's id."), name: text }, archivable),
    step: titled(
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
    project: titled('Project', { team: described(text, "The owner's id."), name: text }, archivable),
    key: titled('Key', {
      prefix: { type: 'string', description: 'The first characters of the key, to tell keys apart.' },
      createdAt: time,
      revokedAt: { type: ['string', 'null'], format: 'date-time', description: 'Null while the key is live.' },
    }),
    search: titled('Search', {
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

ajv.addSchema(REGISTRY_SCHEMA)

/** The properties of a value that its schema names, in their order: a later version may add some, and equal values have equal JSON. */
function namedIn({ properties }: JsonSchema, value: unknown): unknown {
  if (!isJsonObject(properties) || !isJsonObject(value)) return value
  const own = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name))
  return Object.fromEntries(own.map(([name, schema]) => [name, namedIn(schema as JsonSchema, value[name])]))
}

/** The mark as in a record: absent if the object is not archived. */
export const archived = (archivedAt: string | undefined): Archivable => (archivedAt === undefined ? {} : { archivedAt })

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

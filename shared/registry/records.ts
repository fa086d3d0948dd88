import { isUtf8 } from 'node:buffer'
import { ajv } from '../contract/ajv.ts'
import { parseGuid } from '../contract/guid.ts'
import { jsonRecord } from '../contract/headers.ts'
import { isJsonObject, parseJsonObject } from '../contract/json-object.ts'
import type { JsonSchema } from '../contract/json-schema.ts'
import type { JournalRecord, NewRecord } from '../journal/journal.ts'
import { type Archivable, REGISTRY_SCHEMA, type RegistryValues } from './schema.ts'

export type RegistryKind = keyof RegistryValues

interface RecordOf<Kind extends RegistryKind> {
  readonly kind: Kind
  readonly id: string
  readonly value: RegistryValues[Kind] | null
}

export type RegistryRecord = { readonly [Kind in RegistryKind]: RecordOf<Kind> }[RegistryKind]

/** The present content of the topic: a map from id to value for each kind. */
export type RegistryState = { readonly [Kind in RegistryKind]: Map<string, RegistryValues[Kind]> }

/** The reason why a record of the topic cannot be read. */
export type Unreadable = 'invalid_key' | 'unknown_kind' | 'invalid_id' | 'invalid_json' | 'invalid_value'

/** Owners come before what they own, as a restored registry is appended in this order. */
const KINDS: readonly RegistryKind[] = ['team', 'key', 'event', 'step', 'project', 'search']

export const emptyState = (): RegistryState =>
  Object.fromEntries(KINDS.map((kind) => [kind, new Map()])) as RegistryState

/** Folds one record into the state. */
export function fold<Kind extends RegistryKind>(state: RegistryState, record: RecordOf<Kind>): void {
  if (record.value === null) state[record.kind].delete(record.id)
  else state[record.kind].set(record.id, record.value)
}

/** A copy that later records do not change. */
export const copyOf = (state: RegistryState): RegistryState =>
  Object.fromEntries(KINDS.map((kind) => [kind, new Map<string, unknown>(state[kind])])) as RegistryState

/** The records that make up the state, kind by kind. */
export const recordsOf = (state: RegistryState): RegistryRecord[] =>
  KINDS.flatMap((kind) => [...state[kind]].map(([id, value]) => ({ kind, id, value }) as RegistryRecord))

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

export const encodeRecord = ({ kind, id, value }: RegistryRecord): NewRecord => jsonRecord(`${kind}/${id}`, value)

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

ajv.addSchema(REGISTRY_SCHEMA)

/** The properties of a value that its schema names, in their order: a later version may add some, and equal values have equal JSON. */
function namedIn({ properties }: JsonSchema, value: unknown): unknown {
  if (!isJsonObject(properties) || !isJsonObject(value)) return value
  const own = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name))
  return Object.fromEntries(own.map(([name, schema]) => [name, namedIn(schema as JsonSchema, value[name])]))
}

/** The mark as in a record: absent if the object is not archived. */
export const archived = (archivedAt: string | undefined): Archivable => (archivedAt === undefined ? {} : { archivedAt })

const decodeUtf8 = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString() : undefined)

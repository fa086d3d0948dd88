import { parseGuid } from '../contract/guid.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../contract/json-object.ts'
import { parseTimestamp } from '../contract/timestamp.ts'
import type { JournalRecord, NewRecord } from '../journal/journal.ts'
import { limitsFrom } from './limits.ts'
import {
  type EventEntity,
  type KeyInfo,
  type Project,
  type SavedSearch,
  SEARCH_PAGES,
  type SearchPage,
  type StepEntity,
  type Team,
  type TeamLimits,
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
  const read = READ[kind](json)
  if (read === undefined) return { record: deleted, unreadable: 'invalid_value' }
  return { record: { kind, id, value: read } as RegistryRecord }
}

const isKind = (text: string): text is RegistryKind => Object.hasOwn(READ, text)

const ID_FITS: { readonly [Kind in RegistryKind]: (id: string) => boolean } = {
  team: (id) => id !== '' && !id.includes('/'),
  event: (id) => id !== '',
  step: (id) => id !== '',
  project: (id) => parseGuid(id) === id,
  key: (id) => /^[^/]+\/[0-9a-f]{64}$/.test(id),
  search: (id) => /^[^/]+\/[^/]+$/.test(id) && parseGuid(splitOwnedId(id).id) === splitOwnedId(id).id,
}

/** Unknown fields are ignored: a later version may add some. */
const READ: { readonly [Kind in RegistryKind]: (json: JsonObject) => RegistryValues[Kind] | undefined } = {
  team: ({ name, defaultProject: project, limits: written }) => {
    if (!isText(name) || !isGuidOrAbsent(project) || !isLimitsOrAbsent(written)) return undefined
    const limits = written && limitsFrom(written)
    return { name, ...(project !== undefined && { defaultProject: project }), ...(limits !== undefined && { limits }) }
  },
  event: readNamed,
  step: ({ team, event, name, order, archivedAt }) =>
    isText(team) &&
    (event === null || isText(event)) &&
    isText(name) &&
    Number.isSafeInteger(order) &&
    isMark(archivedAt)
      ? { team, event, name, order: order as number, ...archived(archivedAt) }
      : undefined,
  project: readNamed,
  key: ({ prefix, createdAt, revokedAt }) =>
    typeof prefix === 'string' && isTime(createdAt) && (revokedAt === null || isTime(revokedAt))
      ? { prefix, createdAt, revokedAt }
      : undefined,
  search: ({ name, page, params }) =>
    isText(name) && isSearchPage(page) && isTexts(params) ? { name, page, params } : undefined,
}

/** Reads an Event or a Project. */
function readNamed({ team, name, archivedAt }: JsonObject): RegistryValues['event'] | undefined {
  return isText(team) && isText(name) && isMark(archivedAt) ? { team, name, ...archived(archivedAt) } : undefined
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const isSearchPage = (value: unknown): value is SearchPage => SEARCH_PAGES.some((page) => page === value)

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  isJsonObject(value) && Object.values(value).every(isText)

const isTime = (value: unknown): value is string => typeof value === 'string' && parseTimestamp(value) === value

const isGuidOrAbsent = (value: unknown): value is string | undefined =>
  value === undefined || (typeof value === 'string' && parseGuid(value) === value)

const isLimitsOrAbsent = (value: unknown): value is TeamLimits | undefined => {
  if (value === undefined) return true
  if (typeof value !== 'object' || value === null) return false
  const { entriesPerSecond, bytesPerSecond, burstSeconds, shadow } = value as JsonObject
  return (
    [entriesPerSecond, bytesPerSecond, burstSeconds].every((number) => number === undefined || isAmount(number)) &&
    (shadow === undefined || typeof shadow === 'boolean')
  )
}

const isAmount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

const isMark = (value: unknown): value is string | undefined => value === undefined || isTime(value)

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

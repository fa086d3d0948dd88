import { parseJsonObject } from './json-object.ts'
import { beginningOf } from './rows.ts'

/** Who made a change, by what means, and from where. */
export interface AuditOrigin {
  readonly actor: {
    readonly kind: 'team' | 'operator' | 'server'
    /** The Team's id, or the name of the operating system's user; null for a server. */
    readonly id: string | null
    /** The first characters of the Team's key, at most 6, also for a session that began with it; else null. */
    readonly key: string | null
  }
  /** The route of the request, such as `PATCH /api/team/events/:id`; the command, such as `registry apply`; or `REGISTRY_FILE`. */
  readonly via: string
  /** The address of the client, or the host name of a command's machine; null for a server. */
  readonly from: string | null
}

/** A change of one object. */
export interface AuditedChange {
  /** The Team that owns the object; null if no Team does. */
  readonly team: string | null
  readonly action: 'created' | 'changed' | 'deleted' | 'archived' | 'restored' | 'revoked' | 'replayed' | 'rebuilt'
  /** The id of a key is its first characters, at most 6. */
  readonly subject: { readonly kind: AuditSubject; readonly id: string }
  /** The values, without secrets; null if there was no object before, or is none after. */
  readonly before: object | null
  readonly after: object | null
}

type AuditSubject = 'team' | 'key' | 'event' | 'step' | 'project' | 'search' | 'watch' | 'dead-letters' | 'view'

/**
 * A change as announced before it is made. Changes that become durable together share one id, and one record with the outcome. Long texts
 * and values are cut.
 */
export interface AnnouncedChange extends AuditOrigin, AuditedChange {
  readonly id: string
  /** Its index among the changes of the id, from 0. Both together identify the record, which may occur twice on the topic. */
  readonly index: number
  /** Canonical timestamp. */
  readonly at: string
  readonly outcome: 'pending'
}

/** `failure`: nothing was changed. `unknown`: all of it may have been changed; in a replay of dead letters or a rebuild, a part. */
export const AUDIT_OUTCOMES = ['success', 'failure', 'unknown'] as const

export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

/** The outcome of all changes announced under the id. */
interface ChangeOutcome {
  readonly id: string
  readonly at: string
  readonly outcome: AuditOutcome
}

type AuditRecord = AnnouncedChange | ChangeOutcome

/** Maximum bytes of a value, as JSON. */
export const AUDITED_VALUE_BYTES_MAX = 2_048

/** Maximum characters of the texts in a value, tried in this order: a saved search has about twenty texts. */
const TEXT_CHARACTERS = [200, 50, 12]
const ID_CHARACTERS_MAX = 1_024

/** The topic's record of an announcement or outcome; long texts and values are cut. */
export function encodeAudit(record: AuditRecord) {
  const value = record.outcome === 'pending' ? withinBounds(record) : record
  const key = record.outcome === 'pending' ? record.team : null
  return { key, value: JSON.stringify(value), headers: { 'content-type': 'application/json' } }
}

/** Reads a record of the topic; undefined for one that this program cannot have written. */
export function decodeAudit(value: Buffer | null): AuditRecord | undefined {
  const json = parseJsonObject(String(value))
  const { id, at, index, outcome } = json ?? {}
  if (typeof id !== 'string' || typeof at !== 'string') return undefined
  const isAnnounced = outcome === 'pending' && Number.isSafeInteger(index)
  const isEnded = AUDIT_OUTCOMES.some((each) => each === outcome)
  return isAnnounced || isEnded ? (json as unknown as AuditRecord) : undefined
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

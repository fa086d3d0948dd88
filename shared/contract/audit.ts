/** Who made a change, by which way, and from where. */
export interface AuditOrigin {
  readonly actor: {
    readonly kind: 'team' | 'operator' | 'server'
    /** The Team's id, or the name of the operating system's user; null of a server. */
    readonly id: string | null
    /** The first characters of the Team's key, 6 at most, also of a session that began with it; else null. */
    readonly key: string | null
  }
  /** The request without what it names, such as `PATCH /api/team/events/:id`; the command, such as `registry apply`; or `REGISTRY_FILE`. */
  readonly via: string
  /** The address of the client, the host name of a command's machine; null of a server. */
  readonly from: string | null
}

/** A change of one thing. */
export interface AuditedChange {
  /** The Team whose thing it is; null where it is no Team's. */
  readonly team: string | null
  readonly action: 'created' | 'changed' | 'deleted' | 'archived' | 'restored' | 'revoked' | 'replayed'
  /** The id of a key is its first characters, 6 at most. */
  readonly subject: { readonly kind: AuditSubject; readonly id: string }
  /** The values, without secrets; null where there was nothing, or is nothing any more. */
  readonly before: object | null
  readonly after: object | null
}

type AuditSubject = 'team' | 'key' | 'event' | 'step' | 'project' | 'search' | 'watch' | 'dead-letters'

/**
 * A change as it is announced before it is made. The changes that become durable together have one id, and one record with the outcome. Texts and
 * values are cut.
 */
export interface AnnouncedChange extends AuditOrigin, AuditedChange {
  readonly id: string
  /** Its place among the changes of the id, from 0. With the id it names the record, which may stand twice on the topic. */
  readonly index: number
  /** Canonical timestamp. */
  readonly at: string
  readonly outcome: 'pending'
}

/** `failure`: nothing was changed. `unknown`: all of it may have been changed; of a replay of dead letters, a part. */
export const AUDIT_OUTCOMES = ['success', 'failure', 'unknown'] as const

export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

/** The outcome of all changes that were announced under the id. */
export interface ChangeOutcome {
  readonly id: string
  readonly at: string
  readonly outcome: AuditOutcome
}

export type AuditRecord = AnnouncedChange | ChangeOutcome

/** The most bytes of a value, as JSON. */
export const AUDITED_VALUE_BYTES_MAX = 2_048

/** The most characters of the texts in a value, tried in this order: a saved search has some twenty of them. */
const TEXT_CHARACTERS = [200, 50, 12]
const ID_CHARACTERS_MAX = 1_024

/** The record of the topic, with what is too long cut. */
export function encodeAudit(record: AuditRecord) {
  const value = record.outcome === 'pending' ? withinBounds(record) : record
  const key = record.outcome === 'pending' ? record.team : null
  return { key, value: JSON.stringify(value), headers: { 'content-type': 'application/json' } }
}

/** Reads a record of the topic; undefined for what this program cannot have written. */
export function decodeAudit(value: Buffer | null): AuditRecord | undefined {
  try {
    const json = JSON.parse(String(value)) as Partial<Omit<AnnouncedChange, 'outcome'> & { outcome: unknown }> | null
    if (typeof json?.id !== 'string' || typeof json.at !== 'string') return undefined
    const isAnnounced = json.outcome === 'pending' && Number.isSafeInteger(json.index)
    const isEnded = AUDIT_OUTCOMES.some((outcome) => outcome === json.outcome)
    return isAnnounced || isEnded ? (json as unknown as AuditRecord) : undefined
  } catch {
    return undefined
  }
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
  // Only a foreign writer of the registry makes a value of so many members.
  return { cut: true }
}

function cutTexts(value: unknown, characters: number): unknown {
  if (typeof value === 'string') return cutText(value, characters)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, characters))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cutTexts(item, characters)]))
}

/** Cut between characters, never within one. */
const cutText = (text: string, characters: number): string =>
  text.length <= characters ? text : `${text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, '')}…`

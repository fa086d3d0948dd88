import type { JournalRecord, NewRecord } from '../../shared/journal/journal.ts'
import type { Condition, Format, Outcome } from '../schemas/watches.ts'

/**
 * The records of the watches' topic, which is internal: it holds the secrets that messages are signed with, and its records may change with any
 * version. A key is `watch/<team>/<guid>`, `state/<team>/<guid>` or `evaluated/<team>`; compaction keeps the last record of each.
 */
export interface StoredWatch {
  readonly name: string
  readonly condition: Condition
  readonly webhook: { readonly url: string; readonly format: Format; readonly secret: string }
  readonly paused: boolean
  /** Since when its condition is what it is and is looked at; a canonical timestamp. What was before is none of its business. */
  readonly since: string
}

/** The knowledge of a watch about its condition, from one look to the next. */
export interface Memory {
  /** The `since` of the watch: with another one it begins with nothing. */
  readonly since: string
  /** Whether the condition was looked at before. */
  readonly hasLooked: boolean
  /** Whether a count was above its number. */
  readonly isMet: boolean
  /** Marks of the flows or groups that were told of; the newest last. */
  readonly told: readonly string[]
  /** Flows without activity since then, and groups seen before, are told of or known; a canonical timestamp. */
  readonly floor: string
}

/** A match, as it is told. */
export interface Match {
  /** Logs, or flows or groups that are new. */
  readonly count: number
  /** The first flows or groups, by their names; none for logs. */
  readonly samples: readonly string[]
}

/** A match that is to be told of. */
export interface Firing {
  /** The id of its message, the same in every attempt. */
  readonly id: string
  readonly at: string
  readonly match: Match
}

/** A firing on its way to its receiver. */
export interface Delivery extends Firing {
  readonly attempts: number
  readonly nextAt: string
  /** The reason of the last failure. */
  readonly reason: string | null
}

export interface StoredState {
  /** Grows by one with each record of the watch; of two of the same number, the first one in the topic stands. */
  readonly revision: number
  /** The process that wrote it. */
  readonly by: string
  readonly memory: Memory
  /** The reason why the last look failed. */
  readonly error: string | null
  readonly delivery: Delivery | null
  /** Firings since the delivery began, as one. */
  readonly next: Firing | null
  /** Newest last. */
  readonly history: readonly Outcome[]
}

/** When watches of a Team were looked at last, by their ids; canonical timestamps. */
export type StoredEvaluations = Readonly<Record<string, string>>

export type WatchRecord =
  | { readonly kind: 'watch'; readonly team: string; readonly id: string; readonly value: StoredWatch | null }
  | { readonly kind: 'state'; readonly team: string; readonly id: string; readonly value: StoredState | null }
  | { readonly kind: 'evaluated'; readonly team: string; readonly id: ''; readonly value: StoredEvaluations | null }

export const encodeRecord = ({ kind, team, id, value }: WatchRecord): NewRecord => ({
  key: kind === 'evaluated' ? `${kind}/${team}` : `${kind}/${team}/${id}`,
  value: value === null ? null : JSON.stringify(value),
  headers: value === null ? {} : { 'content-type': 'application/json' },
})

/** Reads a record of the topic; undefined for anything that no process of this version wrote. Team ids hold no slash. */
export function decodeRecord({ key, value }: Pick<JournalRecord, 'key' | 'value'>): WatchRecord | undefined {
  const [kind, team, id = '', ...more] = String(key).split('/')
  if (team === undefined || more.length > 0 || (id === '') !== (kind === 'evaluated')) return undefined
  if (kind !== 'watch' && kind !== 'state' && kind !== 'evaluated') return undefined
  if (value === null) return { kind, team, id, value: null } as WatchRecord
  const json = parseObject(value)
  return json !== undefined && SHAPES[kind].every((name) => json[name] !== undefined)
    ? ({ kind, team, id, value: json } as unknown as WatchRecord)
    : undefined
}

/** The members that a value has to have; a later version may add some. */
const SHAPES: Readonly<Record<WatchRecord['kind'], readonly string[]>> = {
  watch: ['name', 'condition', 'webhook', 'paused', 'since'],
  state: ['revision', 'by', 'memory', 'error', 'delivery', 'next', 'history'],
  evaluated: [],
}

function parseObject(value: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(value.toString())
    return typeof json === 'object' && json !== null && !Array.isArray(json)
      ? (json as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

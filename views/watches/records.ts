import { jsonRecord } from '../../shared/contract/headers.ts'
import { parseJsonObject } from '../../shared/contract/json-object.ts'
import type { JournalRecord, NewRecord } from '../../shared/journal/journal.ts'
import type { Condition, Format, Outcome } from '../schemas/watches.ts'

/**
 * The records of the watches' topic. It is internal: it holds the secrets that sign messages, and its records may change with any version.
 * A key is `watch/<team>/<guid>`, `state/<team>/<guid>` or `evaluated/<team>`; compaction keeps the last record of each.
 */
export interface StoredWatch {
  readonly name: string
  readonly condition: Condition
  readonly webhook: { readonly url: string; readonly format: Format; readonly secret: string }
  readonly paused: boolean
  /** Since when this condition has been active; a canonical timestamp. Earlier logs are ignored. */
  readonly since: string
  /** Grows by one with each change, as that of a state; absent in a watch that is not written yet. */
  readonly revision?: number
  /** The change that wrote it. */
  readonly by?: string
}

/** The memory of a watch about its condition, from one evaluation to the next. */
export interface Memory {
  /** The watch's `since`; a memory with a different one is discarded. */
  readonly since: string
  /** Whether the condition has been evaluated before. */
  readonly hasLooked: boolean
  /** Whether the count exceeded its threshold. */
  readonly isMet: boolean
  /** Marks of the reported flows or groups, newest last. */
  readonly told: readonly string[]
  /** Flows without activity since then, and groups seen before then, count as reported; a canonical timestamp. */
  readonly floor: string
}

/** A match, as reported. */
export interface Match {
  /** The number of logs, or of new flows or groups. */
  readonly count: number
  /** The names of the first flows or groups; empty for logs. */
  readonly samples: readonly string[]
}

/** A match that is to be reported. */
export interface Firing {
  /** The id of its message, the same in every attempt. */
  readonly id: string
  readonly at: string
  readonly match: Match
}

/** A firing that is being delivered. */
export interface Delivery extends Firing {
  readonly attempts: number
  readonly nextAt: string
  /** The reason why the last attempt failed. */
  readonly reason: string | null
}

export interface StoredState {
  /** Grows by one with each record of the watch; of two records with the same number, the first in the topic wins. */
  readonly revision: number
  /** The process that wrote it. */
  readonly by: string
  readonly memory: Memory
  /** The reason why the last evaluation failed; null if it did not. */
  readonly error: string | null
  readonly delivery: Delivery | null
  /** Firings since the delivery began, merged into one. */
  readonly next: Firing | null
  /** Newest last. */
  readonly history: readonly Outcome[]
}

/** When watches of a Team were last evaluated, by id; canonical timestamps. */
export type StoredEvaluations = Readonly<Record<string, string>>

export type WatchRecord =
  | { readonly kind: 'watch'; readonly team: string; readonly id: string; readonly value: StoredWatch | null }
  | { readonly kind: 'state'; readonly team: string; readonly id: string; readonly value: StoredState | null }
  | { readonly kind: 'evaluated'; readonly team: string; readonly id: ''; readonly value: StoredEvaluations | null }

export const encodeRecord = ({ kind, team, id, value }: WatchRecord): NewRecord =>
  jsonRecord(kind === 'evaluated' ? `${kind}/${team}` : `${kind}/${team}/${id}`, value)

/** Decodes a record of the topic; undefined for records in another format. Team ids contain no slash. */
export function decodeRecord({ key, value }: Pick<JournalRecord, 'key' | 'value'>): WatchRecord | undefined {
  const [kind, team, id = '', ...more] = String(key).split('/')
  if (team === undefined || more.length > 0 || (id === '') !== (kind === 'evaluated')) return undefined
  if (kind !== 'watch' && kind !== 'state' && kind !== 'evaluated') return undefined
  if (value === null) return { kind, team, id, value: null } as WatchRecord
  const json = parseJsonObject(String(value))
  return json !== undefined && SHAPES[kind].every((name) => json[name] !== undefined)
    ? ({ kind, team, id, value: json } as unknown as WatchRecord)
    : undefined
}

/** The required members of each value; a later version may add more. */
const SHAPES: Readonly<Record<WatchRecord['kind'], readonly string[]>> = {
  watch: ['name', 'condition', 'webhook', 'paused', 'since'],
  state: ['revision', 'by', 'memory', 'error', 'delivery', 'next', 'history'],
  evaluated: [],
}

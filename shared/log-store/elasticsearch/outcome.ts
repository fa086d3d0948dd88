/**
 * The meaning of a `_bulk` answer for one document. A document is refused only for a fault of its own; anything that an operator can fix (a
 * full disk, a closed index, a missing privilege) is retried or halts, and never costs a document.
 */
type ItemVerdict =
  | { readonly verdict: 'stored' }
  | { readonly verdict: 'duplicate' }
  /** Retry this document later; `blocked` if that cannot succeed until somebody acts. */
  | { readonly verdict: 'retry'; readonly blocked: boolean; readonly reason: string }
  /** The index was removed while the request was under way, as by a rebuild: by now its name may stand for another one. */
  | { readonly verdict: 'gone'; readonly reason: string }
  | { readonly verdict: 'refused'; readonly reason: string }
  | { readonly verdict: 'halt'; readonly reason: string }

/** An error in Elasticsearch's words. `reason` may quote the document, so it is matched against and never passed on. */
export interface ErrorBody {
  readonly type?: string
  readonly reason?: string
  /** The name of the index that the error is about, where it is about one. */
  readonly index?: string
  readonly root_cause?: readonly ErrorBody[]
}

/** The part of a `filter_path` that keeps, of the errors at a path, the facts that tell an obstacle. */
export const errorAt = (path: string): string => ['type', 'reason', 'index'].map((fact) => `${path}.${fact}`).join()

/** Whether a search was refused because the beginning of a word in it stands for more words than a search may have. */
export const hasTooManyClauses = ({ root_cause: [cause] = [] }: ErrorBody): boolean =>
  /too many (?:nested )?clauses/i.test(cause?.reason ?? '')

export interface BulkItem {
  readonly status: number
  readonly error?: ErrorBody
  readonly failure_store?: string
  /** `noop` for a document that a pipeline dropped, with a status of 200. */
  readonly result?: string
  /** Present if requested. */
  readonly _seq_no?: number
  readonly _primary_term?: number
}

const INDEX_CLOSED = 'index_closed_exception'
/** Errors caused by the cluster's state, whatever their status (a full disk answers 429, a closed index 400). */
const BLOCKED_TYPES: ReadonlySet<string> = new Set(['cluster_block_exception', INDEX_CLOSED])
const OVERLOAD_TYPES: ReadonlySet<string> = new Set(['es_rejected_execution_exception', 'circuit_breaking_exception'])

/** A cluster that has no state or no master yet, as at its start, blocks everything too, but that passes by itself. */
const isBlocked = ({ type = '', reason }: ErrorBody = {}): boolean =>
  BLOCKED_TYPES.has(type) && !reason?.includes('[SERVICE_UNAVAILABLE/')

/** A block as Elasticsearch tells it: `index [sluice-flows-v1] blocked by: [FORBIDDEN/8/index write (api)];`. It quotes no document. */
const BLOCK = /^(?:index \[([\w.-]+)\] )?blocked by: \[[A-Z_]+\/\d+\/([^\],;]+)/

/** The type of an error, with the block or other obstacle that an operator has to remove, if it is one. */
export function typeOf(error: ErrorBody): string {
  const { type = '', reason = '' } = error
  if (type === INDEX_CLOSED && error.index !== undefined) return `${type} (${error.index})`
  const [, index = 'the cluster', block] = (type === 'cluster_block_exception' && BLOCK.exec(reason)) || []
  return block === undefined ? (mendable(error) ?? type) : `${type} (${index}: ${block})`
}

/** Reads one item of a `_bulk` answer. A conflict is a duplicate: `create` found the id, or `index` a newer version. */
export function classifyItem(item: BulkItem): ItemVerdict {
  const { status } = item
  const type = item.error?.type ?? 'no error type'
  if (item.result === 'noop') return { verdict: 'retry', blocked: true, reason: 'a pipeline dropped the document' }
  if (status === 200 || status === 201) return storedUnlessDiverted(item)
  // A 404 without an error means that a deletion found nothing to delete.
  if (status === 409 || (status === 404 && item.error === undefined)) return { verdict: 'duplicate' }
  const block = isBlocked(item.error) ? typeOf(item.error ?? {}) : mendable(item.error)
  if (block !== undefined) return { verdict: 'retry', blocked: true, reason: block }
  if (status === 429 || status >= 500 || OVERLOAD_TYPES.has(type)) {
    return { verdict: 'retry', blocked: false, reason: `${status} ${type}` }
  }
  if (isGone(item.error)) return { verdict: 'gone', reason: `${status} ${type}` }
  if (status === 401 || status === 403 || status === 404) return { verdict: 'halt', reason: `${status} ${type}` }
  return { verdict: 'refused', reason: refusal(status, item.error) }
}

/** We use no failure store, but an operator's template may add one; a document in it cannot be found. */
function storedUnlessDiverted({ failure_store: failureStore }: BulkItem): ItemVerdict {
  if (failureStore !== 'used') return { verdict: 'stored' }
  return { verdict: 'refused', reason: 'the document went to a failure store' }
}

/** Obstacles that an operator has to remove, although they are answered like a bad request: only the texts tell. */
const MENDABLE: readonly (readonly [text: RegExp, what: string])[] = [
  [/maximum (?:normal|frozen) shards open/, 'no shards left'],
  [/^Number of documents in the index can't exceed/, 'a full shard'],
  [/^pipeline with id \[.*\] does not exist/, 'a missing pipeline'],
  [/^(?:no write index is defined for alias|alias \[.*\] has more than one index)/, 'an alias of several indices'],
  [
    /^\[\d+:\d+\] Can't find dynamic template for .* name \[sluice\] of field \[team\]$/,
    'an index without its template: run `sluice indices apply`',
  ],
  [
    /^\[\d+:\d+\] (?:mapping set to strict|failed to parse: Limit of total fields \[\d+\] has been exceeded)/,
    'a mapping changed by hand',
  ],
]
const TYPES_OF_MENDABLE = [
  'validation_exception',
  'illegal_argument_exception',
  'document_parsing_exception',
  'strict_dynamic_mapping_exception',
]

/**
 * A part of each action that makes Elasticsearch refuse the document if the index does not map its field `team`: a write makes a missing
 * index, and in a cluster without our templates that would take fields of any type. Where the field is mapped, it means nothing.
 */
export const ONLY_MAPPED = { dynamic_templates: { team: 'sluice' } } as const

/** The obstacle, in the words of `mendable`, that the cluster may have no more shards. */
export const NO_SHARDS = 'validation_exception (no shards left)'

/** The obstacle behind an error, for a message; undefined if there is none that an operator could remove. */
export function mendable({ type = '', reason = '' }: ErrorBody = {}): string | undefined {
  if (!TYPES_OF_MENDABLE.includes(type)) return undefined
  const found = MENDABLE.find(([text]) => text.test(reason))
  return found && `${type} (${found[1]})`
}

const isGone = (error: ErrorBody | undefined): boolean =>
  error?.type === 'index_not_found_exception' && !error.reason?.includes('action.auto_create_index')

/** Names the error and our field, but nothing from the document. */
function refusal(status: number, error: ErrorBody | undefined): string {
  const field = /failed to parse field \[(\w+)\]/.exec(error?.reason ?? '')?.[1]
  return `Elasticsearch answered ${status} ${error?.type ?? 'without a type'}${field === undefined ? '' : ` for the field ${field}`}`
}

/** Where to look for what answers in the place of Elasticsearch. */
export const AT_PROXY = '(check ELASTICSEARCH_URL, and any proxy there)'
/** Elasticsearch names its errors. */
export const UNNAMED = `without an error of Elasticsearch ${AT_PROXY}`

/** The meaning of a failed `_bulk` request for all its documents. */
type RequestVerdict =
  /** Nothing is known, or nothing was done: resend all of them, which `create` makes safe. */
  | { readonly verdict: 'retry'; readonly blocked: boolean; readonly reason: string }
  /** The request is too large, or one document spoils the rest: send halves. A document that is alone is refused. */
  | { readonly verdict: 'split'; readonly reason: string }
  | { readonly verdict: 'halt'; readonly reason: string }

/**
 * Classifies a whole request's failure; `status` is null if there was no answer. A bulk request of several `documents` can be divided, any
 * other cannot.
 */
export function classifyRequest(status: number | null, error: ErrorBody | undefined, documents = 1): RequestVerdict {
  const type = error?.type ?? ''
  const reason = status === null ? type || 'no answer' : `${status} ${typeOf(error ?? {}) || UNNAMED}`
  if (status === null) return { verdict: 'retry', blocked: false, reason }
  // While the index of its users is missing, as for a moment after a restart, Elasticsearch refuses the right logins too.
  if (status === 401 || isBlocked(error) || mendable(error) !== undefined)
    return { verdict: 'retry', blocked: true, reason }
  if (status === 408 || status === 429 || status >= 500) return { verdict: 'retry', blocked: false, reason }
  // An entry is accepted within MAX_ENTRY_BYTES, however little a proxy lets through.
  if (status === 413 && documents === 1)
    return { verdict: 'retry', blocked: true, reason: `${status} for one document` }
  // A single id that Elasticsearch does not allow makes it refuse the whole request.
  if (status === 413 || type === 'action_request_validation_exception') return { verdict: 'split', reason }
  // A proxy without a route, as while it is configured, refuses what may pass later.
  if (type === '') return { verdict: 'retry', blocked: true, reason }
  return { verdict: 'halt', reason }
}

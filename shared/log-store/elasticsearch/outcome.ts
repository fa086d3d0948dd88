/**
 * The meaning of an answer of `_bulk` for one document. A document is refused only for a fault of its own; anything
 * that an operator can cure (a full disk, a closed index, a missing privilege) is retried or halts, and never costs a document.
 */
export type ItemVerdict =
  | { readonly verdict: 'stored' }
  | { readonly verdict: 'duplicate' }
  /** Try this document again later; `blocked` where somebody has to act before that can succeed. */
  | { readonly verdict: 'retry'; readonly blocked: boolean; readonly reason: string }
  | { readonly verdict: 'refused'; readonly reason: string }
  | { readonly verdict: 'halt'; readonly reason: string }

/** An error as Elasticsearch words it. `reason` may quote the document, so it is matched against and never passed on. */
export interface ErrorBody {
  readonly type?: string
  readonly reason?: string
}

export interface BulkItem {
  readonly status: number
  readonly error?: ErrorBody
  readonly failure_store?: string
  /** Where they were asked for. */
  readonly _seq_no?: number
  readonly _primary_term?: number
}

/** Errors that the cluster's state causes, whatever status they carry (a full disk answers 429, a closed index 400). */
const BLOCKED_TYPES: ReadonlySet<string> = new Set(['cluster_block_exception', 'index_closed_exception'])
const OVERLOAD_TYPES: ReadonlySet<string> = new Set(['es_rejected_execution_exception', 'circuit_breaking_exception'])

/** Reads one item of a `_bulk` answer. A conflict is a duplicate: `create` met the id, or `index` a newer version. */
export function classifyItem(item: BulkItem): ItemVerdict {
  const { status } = item
  const type = item.error?.type ?? 'no error type'
  if (status === 200 || status === 201) return storedUnlessDiverted(item)
  // A 404 without an error is a deletion that found nothing to delete.
  if (status === 409 || (status === 404 && item.error === undefined)) return { verdict: 'duplicate' }
  if (BLOCKED_TYPES.has(type) || isShardLimit(item.error)) return { verdict: 'retry', blocked: true, reason: type }
  if (status === 429 || status >= 500 || OVERLOAD_TYPES.has(type)) {
    return { verdict: 'retry', blocked: false, reason: `${status} ${type}` }
  }
  if (status === 401 || status === 403 || status === 404) return { verdict: 'halt', reason: `${status} ${type}` }
  return { verdict: 'refused', reason: refusal(status, item.error) }
}

/** Nothing of ours has a failure store, but a template of the operator's may add one: there the document is not to be found. */
function storedUnlessDiverted({ failure_store: failureStore }: BulkItem): ItemVerdict {
  if (failureStore !== 'used') return { verdict: 'stored' }
  return { verdict: 'refused', reason: 'the document went to a failure store' }
}

/** A cluster at its limit of shards says so with the status and type of a bad request; only the text tells. */
const isShardLimit = (error: ErrorBody | undefined): boolean =>
  error?.type === 'validation_exception' && /maximum (normal|frozen) shards open/.test(error.reason ?? '')

/** Names the error and our field, and nothing that the document held. */
function refusal(status: number, error: ErrorBody | undefined): string {
  const field = /failed to parse field \[(\w+)\]/.exec(error?.reason ?? '')?.[1]
  return `Elasticsearch answered ${status} ${error?.type ?? 'without a type'}${field === undefined ? '' : ` for the field ${field}`}`
}

/** The meaning of a failed `_bulk` request for all its documents. */
export type RequestVerdict =
  /** Nothing is known, or nothing was done: send all of them again, which `create` makes safe. */
  | { readonly verdict: 'retry'; readonly blocked: boolean; readonly reason: string }
  /** Too large, or one document spoils the rest: send halves. A document alone is refused. */
  | { readonly verdict: 'split'; readonly reason: string }
  | { readonly verdict: 'halt'; readonly reason: string }

/** Reads a whole request's failure; `status` is null where no answer came. */
export function classifyRequest(status: number | null, error: ErrorBody | undefined): RequestVerdict {
  const type = error?.type ?? ''
  const reason = status === null ? type || 'no answer' : `${status} ${type}`.trim()
  if (status === null) return { verdict: 'retry', blocked: false, reason }
  if (BLOCKED_TYPES.has(type)) return { verdict: 'retry', blocked: true, reason }
  if (status === 408 || status === 429 || status >= 500) return { verdict: 'retry', blocked: false, reason }
  // One id that Elasticsearch does not allow makes it turn away the whole request.
  if (status === 413 || type === 'action_request_validation_exception') return { verdict: 'split', reason }
  return { verdict: 'halt', reason }
}

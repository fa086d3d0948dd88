import type { Problem } from '../../shared/contract/errors.ts'
import { STATUS } from '../../shared/http/status.ts'
import { type Dialect, type RefusedEntry, type Reply, unconfirmedBatch } from '../ingest/replies.ts'

/** The status of what may be sent again: OTLP's clients send again after 429, 502, 503 and 504, and after nothing else. */
const RETRYABLE_STATUS = 503

/** `google.rpc.Code` for an HTTP status. */
const RPC_CODE: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 413: 8, 415: 3, 503: 14 }
const RPC_UNKNOWN = 2

/** Most kinds of refusal that an answer describes, and most characters of the details of one. */
const KINDS_MAX = 5
const DETAILS_CHARACTERS_MAX = 300

/** How OTLP/HTTP answers with JSON encoding. Clients look at the type to the letter. */
export const OTLP: Dialect = {
  failed,
  processed,
  statusOf: ({ strictStatus }) => strictStatus,
  headers: { 'content-type': 'application/json' },
}

/** A `google.rpc.Status`; our code is the reason of its ErrorInfo. */
function failed({ code, message, details, retryable }: Problem): Reply {
  const strictStatus = retryable ? RETRYABLE_STATUS : STATUS[code]
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: code,
    domain: 'sluice',
    ...(details !== null && { metadata: { details: JSON.stringify(details) } }),
  }
  const body = JSON.stringify({ code: RPC_CODE[strictStatus] ?? RPC_UNKNOWN, message, details: [info] })
  return { body, strictStatus, retryable }
}

/** Clients neither read which records were rejected nor send a part again: what the journal did not confirm fails the whole. */
function processed(total: number, refused: readonly RefusedEntry[]): Reply {
  const unconfirmed = unconfirmedBatch(total, refused)
  if (unconfirmed !== undefined) return failed(unconfirmed)
  // 64-bit integers are text in the JSON of protobuf.
  const partialSuccess = { rejectedLogRecords: String(refused.length), errorMessage: summaryOf(refused) }
  return { body: refused.length === 0 ? '{}' : JSON.stringify({ partialSuccess }), strictStatus: 200, retryable: false }
}

/** The kinds of refusal, each with its count. */
function summaryOf(refused: readonly RefusedEntry[]): string {
  const kinds = new Map<string, number>()
  for (const { problem } of refused) {
    const kind = describe(problem)
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  const told = [...kinds].slice(0, KINDS_MAX).map(([kind, records]) => `${records} with ${kind}`)
  const rest = kinds.size - told.length
  return rest > 0 ? `${told.join(' ')} And ${rest} more kinds of refusal.` : told.join(' ')
}

function describe({ code, message, details }: Problem): string {
  const more = details === null ? '' : ` Details: ${JSON.stringify(details).slice(0, DETAILS_CHARACTERS_MAX)}.`
  return `${code}: ${message}${more}`
}

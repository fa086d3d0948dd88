import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { type Problem, problem, STATUS } from '../../shared/contract/errors.ts'
import { failureBody, retryAfterOf, successBody } from '../../shared/http/answer.ts'
import { UNCONFIRMED, type UnconfirmedReason } from '../publisher/publication.ts'

/** The answer to an ingestion request. */
export interface Reply {
  readonly body: string | Uint8Array
  /** The reason of a refusal, for the status line. */
  readonly reason?: string
  /** The HTTP status if the client asked for strict statuses; otherwise it is 200 (specification 4.1). */
  readonly strictStatus: number
  /** Seconds after which a retry, whole or in part, may succeed; undefined if it cannot. */
  readonly retryAfterSeconds: number | undefined
  /** The trailers that end a gRPC call. */
  readonly trailers?: OutgoingHttpHeaders
}

/** An entry of a batch that was not accepted. */
export interface RefusedEntry {
  readonly index: number
  readonly problem: Problem
}

/** Maximum refused entries that an answer lists; its count includes all. */
const ERRORS_LISTED_MAX = 100

const MULTI_STATUS = 207

/** How an endpoint reports the outcome of a request to its sender. */
export interface Dialect {
  /** The request, or its one entry, was refused. */
  readonly failed: (cause: Problem) => Reply
  /** A batch of `total` entries was processed; `refused` is in the order of the entries. */
  readonly processed: (total: number, refused: readonly RefusedEntry[]) => Reply
  readonly statusOf: (reply: Reply, headers: IncomingHttpHeaders) => number
  /** Headers of every answer, in addition to those that say when to retry. */
  readonly headers?: OutgoingHttpHeaders
}

/** The reply to an entry that is durable. */
export const created = (id: string): Reply => ({
  body: `{"success":true,"data":{"id":"${id}"}}`,
  strictStatus: 200,
  retryAfterSeconds: undefined,
})

/** The reply to a request that was refused, or whose only entry was. */
export const failed = (cause: Problem): Reply => ({
  body: failureBody(cause),
  reason: cause.message,
  strictStatus: STATUS[cause.code],
  retryAfterSeconds: retryAfterOf(cause),
})

/** The reply to a batch of `total` entries; `refused` is in the order of the entries. */
export function processed(total: number, refused: readonly RefusedEntry[]): Reply {
  const [first] = refused
  const count = total - refused.length
  if (first === undefined) {
    return {
      body: successBody({ message: `Successfully processed ${count} log entries`, count }),
      strictStatus: 200,
      retryAfterSeconds: undefined,
    }
  }
  const again = refused.find((entry) => entry.problem.retryable)
  const retryAfterSeconds = again && retryAfterOf(again.problem)
  const errors = refused.slice(0, ERRORS_LISTED_MAX).map((entry) => ({ index: entry.index, ...entry.problem }))
  if (count === 0) {
    // The details are not those of the first entry, which its message may refer to.
    const message = `No entry was taken, for the reasons in details.errors. The first: ${first.problem.message}`
    const details = { ...outcomeOf(refused), rejected: refused.length, errors }
    // A sender that looks at the status alone must not drop the entries that a repeat would store.
    const strictStatus = STATUS[(again ?? first).problem.code]
    return { ...failed({ ...first.problem, message, details }), strictStatus, retryAfterSeconds }
  }
  const message = `Successfully processed ${count} of ${total} log entries`
  return {
    body: successBody({ message, count, rejected: refused.length, errors }),
    strictStatus: MULTI_STATUS,
    retryAfterSeconds,
  }
}

/**
 * The dialect of the specification (4.1): the status is 200 unless the client asked for strict statuses. Rate limits are beyond it (8.2),
 * so a request above one gets its real status, at which clients and proxies slow down.
 */
export const ENVELOPE: Dialect = {
  failed,
  processed,
  statusOf: ({ strictStatus }, headers) =>
    strictStatus === STATUS.rate_limited || isStrict(headers['x-strict-status']) ? strictStatus : 200,
}

/** Whether the client asked for strict statuses, as shippers do that look at the status alone. */
const isStrict = (header: string | readonly string[] | undefined): boolean =>
  header !== undefined && String(header).toLowerCase() === 'true'

/**
 * The problem of a batch that is to be resent whole, as some of its entries were not confirmed. For senders that cannot resend a part of a
 * batch: they send the confirmed entries twice, but otherwise the others would be lost.
 */
export function unconfirmedBatch(total: number, refused: readonly RefusedEntry[]): Problem | undefined {
  const again = refused.filter((entry) => entry.problem.retryable)
  const [first] = again
  if (first === undefined) return undefined
  const counts = {
    unconfirmed: again.length,
    rejected: refused.length - again.length,
    accepted: total - refused.length,
  }
  return { ...first.problem, details: { ...outcomeOf(again), ...counts } }
}

/**
 * The dialect of senders that read the status alone, and resend a whole batch or nothing. `statusOf` returns the status of a processed batch
 * by its reply and the number of its refused entries.
 */
export const wholeBatches = (statusOf: (reply: Reply, refused: number) => number): Dialect => ({
  failed,
  processed: (total, refused) => {
    const unconfirmed = unconfirmedBatch(total, refused)
    if (unconfirmed !== undefined) return failed(unconfirmed)
    const reply = processed(total, refused)
    return { ...reply, strictStatus: statusOf(reply, refused.length) }
  },
  statusOf: ({ strictStatus }) => strictStatus,
})

/** The outcome of a batch that failed like an unconfirmed entry: unknown if that of any of its entries is unknown. */
function outcomeOf(refused: readonly RefusedEntry[]): object {
  if (refused[0]?.problem.code !== 'server_error') return {}
  const unknown = refused.some(({ problem: { details } }) => (details as { outcome?: unknown })?.outcome === 'unknown')
  return { outcome: unknown ? 'unknown' : 'not_written' }
}

/** The refusal of an entry that was not confirmed durable. */
export function unconfirmed(reason: UnconfirmedReason): Problem {
  const { outcome, message } = UNCONFIRMED[reason]
  return problem('server_error', { outcome }, message)
}

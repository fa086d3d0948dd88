import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { type Problem, problem } from '../../shared/contract/errors.ts'
import { failureBody, retryAfterOf, successBody } from '../../shared/http/answer.ts'
import { STATUS } from '../../shared/http/status.ts'
import { UNCONFIRMED, type UnconfirmedReason } from '../publisher/publication.ts'

/** The answer to an ingestion request. */
export interface Reply {
  readonly body: string | Uint8Array
  /** The HTTP status where the client asked for strict statuses; else it is 200 (specification 4.1). */
  readonly strictStatus: number
  /** After how many seconds sending it again, whole or in part, may help; undefined where it does not. */
  readonly retryAfterSeconds: number | undefined
  /** How a call of gRPC ends. */
  readonly trailers?: OutgoingHttpHeaders
}

/** An entry of a batch that was not accepted. */
export interface RefusedEntry {
  readonly index: number
  readonly problem: Problem
}

/** Most refused entries that an answer lists; it counts all. */
const ERRORS_LISTED_MAX = 100

const MULTI_STATUS = 207

/** How an endpoint tells its senders what became of a request. */
export interface Dialect {
  /** The request, or its one entry, was refused. */
  readonly failed: (cause: Problem) => Reply
  /** A batch of `total` entries was worked off; `refused` is in the order of the entries. */
  readonly processed: (total: number, refused: readonly RefusedEntry[]) => Reply
  readonly statusOf: (reply: Reply, headers: IncomingHttpHeaders) => number
  /** Headers of every answer, beside the ones that say when to try again. */
  readonly headers?: OutgoingHttpHeaders
}

/** The entry is durable. */
export const created = (id: string): Reply => ({
  body: `{"success":true,"data":{"id":"${id}"}}`,
  strictStatus: 200,
  retryAfterSeconds: undefined,
})

/** The request, or its one entry, was refused. */
export const failed = (cause: Problem): Reply => ({
  body: failureBody(cause),
  strictStatus: STATUS[cause.code],
  retryAfterSeconds: retryAfterOf(cause),
})

/** A batch was worked off. */
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
    const details = { ...outcomeOf(refused), rejected: refused.length, errors }
    return { ...failed({ ...first.problem, details }), retryAfterSeconds }
  }
  const message = `Successfully processed ${count} of ${total} log entries`
  return {
    body: successBody({ message, count, rejected: refused.length, errors }),
    strictStatus: MULTI_STATUS,
    retryAfterSeconds,
  }
}

/**
 * The dialect of the specification (4.1): the status is 200, unless the client asked for one that tells. Of rates it says nothing (8.2),
 * so a request above one has its real status, at which clients and what stands between slow down.
 */
export const ENVELOPE: Dialect = {
  failed,
  processed,
  statusOf: ({ strictStatus }, headers) =>
    strictStatus === STATUS.rate_limited || isStrict(headers['x-strict-status']) ? strictStatus : 200,
}

/** Some shippers look at nothing but the status: this header gives them one that tells. */
const isStrict = (header: string | readonly string[] | undefined): boolean =>
  header !== undefined && String(header).toLowerCase() === 'true'

/**
 * Why a batch as a whole is to be sent again: of its entries some were not confirmed. For senders that cannot send a part of a
 * batch again; what was confirmed they then send twice, where keeping quiet would lose the rest.
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

/** Of a batch that failed as one entry without confirmation would: what is true of all of its entries together. */
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

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import {
  type ErrorCode,
  type Offender,
  type Problem,
  ProblemError,
  problem,
  problemSaying,
  refuseFields,
  STATUS,
} from '../../shared/contract/errors.ts'
import { answerProblem } from '../../shared/http/answer.ts'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import { askWithin } from '../../shared/runtime/waiting.ts'

/** The expectation of a parameter or field that takes one of these texts. */
export const mustBeOneOf = (choices: readonly string[]): string =>
  `must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`

/** The same for whole numbers between two, both included. */
export const mustBeWhole = (min: number, max: number): string => `must be a whole number from ${min} to ${max}`

/**
 * A reader's unknown key authenticates nobody, hence 401; at the ingestion endpoints the same code means that the key does not belong to
 * the target's Team, which is 403.
 */
export const VIEW_STATUS: Readonly<Record<ErrorCode, number>> = { ...STATUS, invalid_api_key: 401 }

/** Maximum problems that a refusal names: a few kilobytes of unknown names would be answered with more than a megabyte. */
const NAMED_MAX = 20

/** A refusal that names the invalid parameters, the first 20 of many. */
export function invalidParameters(problems: readonly Offender[]): ProblemError {
  const details = problems.slice(0, NAMED_MAX)
  const others = problems.length - details.length
  const messages = details.map((one) => `${one.path}: ${one.message}.`)
  const message = [...messages, ...(others > 0 ? [`There are ${others} more.`] : [])].join(' ')
  return new ProblemError({ code: 'invalid_request', message, details, retryable: false })
}

/** The same for the fields of a body, with JSON pointers as paths. */
export const invalidFields = (problems: readonly Offender[]): ProblemError =>
  new ProblemError(refuseFields(problems.slice(0, NAMED_MAX)).problem)

/** A refusal of a change that conflicts with the current state; `message` states the conflict and the remedy. */
export const conflict = (message: string): ProblemError => new ProblemError(problemSaying('conflict', message))

/** A refusal of a change of something, such as `the keys`, that was changed since it was planned. */
export const overtaken = (subject: string): ProblemError =>
  conflict(`Somebody else changed ${subject} at the same time. Look at what is there now, and try again.`)

/** Refuses what a path names, and the Team does not have. The page leaves out the remedy, which begins with "Check the". */
export const notFound = (message: string, remedy: `Check the ${string}; ${string}.`): ProblemError =>
  new ProblemError(problemSaying('not_found', `${message} ${remedy}`))

/** A temporary refusal: the sender may retry. */
export const unavailable = (message: string): ProblemError => new ProblemError(problem('server_error', null, message))

/** A refusal for this many seconds; `message` says which limit was exceeded. */
export const rateLimited = (message: string, retryAfterSeconds: number): ProblemError =>
  new ProblemError(problem('rate_limited', { retryAfterSeconds }, message))

/** The problem for an error that the request itself caused; undefined for others. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof ProblemError) return error.problem
  // Express throws it for a path that it cannot decode.
  if (error instanceof URIError)
    return invalidParameters([{ path: 'path', message: 'must be percent-encoded UTF-8' }]).problem
  return undefined
}

/** Answers a refusal with its real HTTP status. RFC 9110, 11.6.1 requires a challenge with each 401. */
export function answerFailure(response: ServerResponse, cause: Problem, headers: OutgoingHttpHeaders = {}): void {
  const status = VIEW_STATUS[cause.code]
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer realm="sluice"' } : {}
  answerProblem(response, cause, { 'cache-control': 'no-store', ...challenge, ...headers }, status)
}

/** The time in which a store answers that is not down, however much it has to do. */
const STORE_ANSWERS_WITHIN_MS = 1_000

/** Tells whether a store answers at all: one that does not ends no read in time, however narrow that is. */
export function createStoreCheck(store: LogStoreReader): () => Promise<boolean> {
  const ask = askWithin(STORE_ANSWERS_WITHIN_MS, () => store.health())
  return async () => (await ask())?.ready === true
}

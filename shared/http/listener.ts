import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Express } from 'express'
import { type Problem, ProblemError, problem } from '../contract/errors.ts'
import type { Logger } from '../runtime/logger.ts'
import { answerProblem } from './answer.ts'
import { answerMethodNotAllowed, SERVED_METHODS } from './method-not-allowed.ts'

/** Answers a request; an error it throws is a fault of ours. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

/** Finds the handler of a request's target; undefined if the application handles it. */
export type Routes = (target: string) => Handler | undefined

/** The refusal of a target that no route took. */
export type Unknown = (target: string) => Problem

/**
 * The listener of an HTTP server: one of the `first` routes or the application answers a request; the listener itself answers those that no
 * route took, as `unknown` says, and those whose route threw. It is outside of the router because Express does not route every target, and
 * because Express changes the prototypes of each request and its response, which slows down all later work: requests that come by the ten
 * thousand per second bypass it.
 */
export const createListener =
  (
    app: Express,
    logger: Logger,
    first: Routes = () => undefined,
    unknown: Unknown = () => problem('not_found'),
  ): RequestListener =>
  (request, response) => {
    const target = request.url ?? '/'
    const answerRestOf = (error?: unknown): void => answerRest(error, () => unknown(target), request, response, logger)
    const handler = first(target)
    if (handler === undefined) return app(request as never, response as never, answerRestOf)
    try {
      handler(request, response)?.catch(answerRestOf)
    } catch (error) {
      answerRestOf(error)
    }
  }

/** The query parameters of a request, parsed here so that no setting of the application changes how. */
export function parametersOf({ url = '' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start === -1 ? '' : url.slice(start))
}

function answerRest(
  error: unknown,
  unknown: () => Problem,
  request: IncomingMessage,
  response: ServerResponse,
  logger: Logger,
): void {
  const isUnknown = error === undefined || error === null
  const cause = isUnknown ? unknown() : problemOf(error, request, logger)
  // The status line has been sent: the answer can only be cut off, so that nobody takes it for a complete one.
  if (response.headersSent) response.destroy()
  // No path accepts it, as it would return a request with its key and cookie (RFC 9110, 9.3.8).
  else if (isUnknown && request.method === 'TRACE') answerMethodNotAllowed(response, SERVED_METHODS)
  else answerProblem(response, cause, { 'cache-control': 'no-store' })
}

function problemOf(error: unknown, { method }: IncomingMessage, logger: Logger): Problem {
  if (error instanceof ProblemError) return error.problem
  // The router throws this for a path that it cannot decode.
  if (error instanceof URIError) return problem('malformed_request', null, 'The path is not percent-encoded UTF-8.')
  logger.error({ err: error, method }, 'a request failed')
  return problem('server_error', null, 'The request failed for a reason of the server.')
}

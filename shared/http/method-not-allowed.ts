import type { ServerResponse } from 'node:http'
import type { IRouter, RequestHandler } from 'express'
import { ERRORS, problemSaying } from '../contract/errors.ts'
import { answerProblem } from './answer.ts'

/** The methods that any path accepts, for methods that no path accepts: `CONNECT` and `TRACE`. */
export const SERVED_METHODS = 'GET, HEAD, POST, PATCH, DELETE'

/** Answers GET and HEAD on a path, and refuses every other method, with `refusal` in place of the usual message. */
export const serveReads = (router: IRouter, path: string | RegExp, answer: RequestHandler, refusal?: string): unknown =>
  router
    .route(path)
    .get(answer)
    .all((_request, response) => answerMethodNotAllowed(response, 'GET, HEAD', refusal))

/**
 * Refuses a method that the path does not accept, with the `Allow` header that RFC 9110, 15.5.6 requires. `message` replaces the default.
 */
export function answerMethodNotAllowed(response: ServerResponse, allow: string, message?: string): void {
  const remedy = `Use ${allow.split(', ').join(' or ')}.`
  const cause = problemSaying('method_not_allowed', message ?? `${ERRORS.method_not_allowed.message} ${remedy}`)
  answerProblem(response, cause, { allow, 'cache-control': 'no-store' })
}

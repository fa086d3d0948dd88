import type { ServerResponse } from 'node:http'
import { problem } from '../contract/errors.ts'
import { answerProblem } from './answer.ts'
import { STATUS } from './status.ts'

/** The methods that some path takes, for what no path takes: `CONNECT` and `TRACE`. */
export const SERVED_METHODS = 'GET, HEAD, POST, PATCH, DELETE'

/**
 * Answers a method that the path does not take; RFC 9110, 15.5.6 wants the header `Allow` with it. `message` replaces the usual one.
 */
export function answerMethodNotAllowed(response: ServerResponse, allow: string, message?: string): void {
  const usual = problem('method_not_allowed')
  const cause = { ...usual, message: message ?? usual.message }
  answerProblem(response, STATUS[cause.code], cause, { allow })
}

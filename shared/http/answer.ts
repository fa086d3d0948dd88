import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Problem } from '../errors.ts'

/** Seconds after which a retryable request should be sent again. */
export const RETRY_AFTER_SECONDS = 1

/** Answers JSON text in one write. Headers set before are kept. */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  response.end(body)
}

export const successBody = (data: unknown): string => JSON.stringify({ success: true, data })

/** The failure envelope (specification 4.1), with `retryable` added. */
export const failureBody = ({ code, message, details, retryable }: Problem): string =>
  JSON.stringify({ success: false, error: { code, message, details: details ?? null, retryable } })

const RETRY_HEADERS: OutgoingHttpHeaders = { 'retry-after': String(RETRY_AFTER_SECONDS) }
const NO_HEADERS: OutgoingHttpHeaders = {}

/** The header that says when to send again, where that may help. */
export const retryHeaders = (retryable: boolean): OutgoingHttpHeaders => (retryable ? RETRY_HEADERS : NO_HEADERS)

/** Answers a refusal; where it may be retried, a header says when. */
export function answerProblem(
  response: ServerResponse,
  status: number,
  cause: Problem,
  headers: OutgoingHttpHeaders = {},
): void {
  answerJson(response, status, failureBody(cause), { ...retryHeaders(cause.retryable), ...headers })
}

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Problem } from '../contract/errors.ts'

/** Seconds after which a retryable request should be sent again. */
export const RETRY_AFTER_SECONDS = 1

/** Answers JSON, or what the headers name as its type, in one write. Headers set before are kept; those given win over these. */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array,
  headers: OutgoingHttpHeaders = {},
): void {
  const { 'content-type': type = 'application/json; charset=utf-8', ...others } = headers
  // Names and values in turn: what Node needs least time for.
  const list = ['content-type', type, 'content-length', Buffer.byteLength(body), 'x-content-type-options', 'nosniff']
  for (const name in others) list.push(name, others[name] as string)
  response.writeHead(status, list)
  response.end(body)
}

export const successBody = (data: unknown): string => JSON.stringify({ success: true, data })

/** The failure envelope (specification 4.1), with `retryable` added. */
export const failureBody = ({ code, message, details, retryable }: Problem): string =>
  JSON.stringify({ success: false, error: { code, message, details: details ?? null, retryable } })

const RETRY_HEADERS: OutgoingHttpHeaders = { 'retry-after': String(RETRY_AFTER_SECONDS) }
const NO_HEADERS: OutgoingHttpHeaders = {}

/** When to send again, in seconds: as the refusal's details say, where they do. Undefined where that does not help. */
export function retryAfterOf({ retryable, details }: Problem): number | undefined {
  if (!retryable) return undefined
  const { retryAfterSeconds = RETRY_AFTER_SECONDS } = (details ?? {}) as { readonly retryAfterSeconds?: number }
  return retryAfterSeconds
}

/** The header that says after how many seconds to send again, where that may help. */
export const retryHeaders = (seconds: number | undefined): OutgoingHttpHeaders =>
  seconds === undefined
    ? NO_HEADERS
    : seconds === RETRY_AFTER_SECONDS
      ? RETRY_HEADERS
      : { 'retry-after': String(seconds) }

/** Answers a refusal; where it may be retried, a header says when. */
export function answerProblem(
  response: ServerResponse,
  status: number,
  cause: Problem,
  headers: OutgoingHttpHeaders = {},
): void {
  answerJson(response, status, failureBody(cause), { ...retryHeaders(retryAfterOf(cause)), ...headers })
}

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type Problem, STATUS } from '../contract/errors.ts'

/** Seconds after which a retryable request should be resent. */
export const RETRY_AFTER_SECONDS = 1

/** Answers JSON, or the content type in `headers`, in one write. Headers set before are kept; those given take precedence. */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array,
  headers: OutgoingHttpHeaders,
): void {
  const { 'content-type': type = 'application/json; charset=utf-8', ...others } = headers
  // Alternating names and values, the form that Node writes fastest.
  const list = ['content-type', type, 'content-length', Buffer.byteLength(body), 'x-content-type-options', 'nosniff']
  for (const name in others) list.push(name, others[name] as string)
  response.writeHead(status, list)
  response.end(body)
}

/** Proxies have a few kilobytes of room for the status line and the headers. */
const REASON_CHARACTERS_MAX = 256

/**
 * Says in the reason phrase (RFC 9112, 4) what a refusal says in its body: many clients print the status line and drop the body, such as
 * OpenTelemetry's exporter and `requests` in Python, and log4j2.
 */
export function setReason(response: ServerResponse, message: string): void {
  response.statusMessage = message.slice(0, REASON_CHARACTERS_MAX).replaceAll(/[^ -~]/g, '?')
}

/** The success envelope (specification 4.1) around data that are JSON text already. */
export const successText = (json: string): string => `{"success":true,"data":${json}}`

export const successBody = (data: unknown): string => successText(JSON.stringify(data))

/** The failure envelope (specification 4.1), with `retryable` added. */
export const failureBody = ({ code, message, details, retryable }: Problem): string =>
  JSON.stringify({ success: false, error: { code, message, details: details ?? null, retryable } })

const RETRY_HEADERS: OutgoingHttpHeaders = { 'retry-after': String(RETRY_AFTER_SECONDS) }
const NO_HEADERS: OutgoingHttpHeaders = {}

/** Seconds to wait before a retry, from the refusal's details if they say so; undefined if a retry does not help. */
export function retryAfterOf({ retryable, details }: Problem): number | undefined {
  if (!retryable) return undefined
  const { retryAfterSeconds = RETRY_AFTER_SECONDS } = (details ?? {}) as { readonly retryAfterSeconds?: number }
  return retryAfterSeconds
}

/** The header that tells a client when to retry, if that may help. */
export const retryHeaders = (seconds: number | undefined): OutgoingHttpHeaders =>
  seconds === undefined
    ? NO_HEADERS
    : seconds === RETRY_AFTER_SECONDS
      ? RETRY_HEADERS
      : { 'retry-after': String(seconds) }

/** Answers a refusal with the status of its code and these headers; if it may be retried, another one says when. */
export function answerProblem(
  response: ServerResponse,
  cause: Problem,
  headers: OutgoingHttpHeaders,
  status = STATUS[cause.code],
): void {
  setReason(response, cause.message)
  answerJson(response, status, failureBody(cause), { ...retryHeaders(retryAfterOf(cause)), ...headers })
}

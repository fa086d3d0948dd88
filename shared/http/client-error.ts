import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Problem, problem } from '../errors.ts'
import { failureBody, RETRY_AFTER_SECONDS } from './answer.ts'
import { STATUS } from './status.ts'

/** How long a sender may go on talking to a connection that has had its last answer. */
const LINGER_MS = 2_000

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/**
 * A server's `clientError` handler: answers what is not valid HTTP, or came too late, with the envelope of every other failure,
 * and ends the connection. A sender that is gone, or has had its answer already, gets none.
 */
export function answerClientError(error: Error, socket: Duplex): void {
  const { code = '' } = error as NodeJS.ErrnoException
  // The check that Node makes in its own handler: a second status line in the middle of an answer would corrupt it.
  const { _httpMessage: begun } = socket as Duplex & { _httpMessage?: ServerResponse }
  if (!socket.writable || code === 'ECONNRESET' || begun?.headersSent === true) {
    socket.destroy()
    return
  }
  const cause = problemOf(code)
  const status = STATUS[cause.code]
  const body = failureBody(cause)
  socket.end(
    [
      `HTTP/1.1 ${status} ${REASONS[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(cause.retryable ? [`Retry-After: ${RETRY_AFTER_SECONDS}`] : []),
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  // Destroyed at once, unread bytes would reset the connection and take the answer with them.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function problemOf(code: string): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return problem('headers_too_large')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('request_timeout', null, 'The request did not arrive in time.')
    default:
      return problem('malformed_request')
  }
}

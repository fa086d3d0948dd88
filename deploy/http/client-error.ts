import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Problem, problem, STATUS } from '../../shared/contract/errors.ts'
import { failureBody, retryAfterOf, retryHeaders } from '../../shared/http/answer.ts'
import { refuseForPieces } from '../../shared/http/body.ts'
import { SERVED_METHODS } from '../../shared/http/method-not-allowed.ts'
import { closeInStages } from './closing.ts'
import { connectionOf, isAnswered, isUnasked, owedAnswers } from './connection.ts'
import { HTTP2_REFUSED, refuseInHttp2 } from './http2.ts'
import { CHOPPED_BODY } from './pieces.ts'

/**
 * A server's `clientError` handler: answers requests that are not valid HTTP, or came too late, with the envelope of every other failure,
 * and ends the connection. Earlier requests are answered first. A sender that is gone, or has had its answer already, gets none.
 */
export function answerClientError(error: Error, socket: Duplex): void {
  if (socket.writableEnded) return
  // Node times the headers of the first request from the start of the connection; one on which nothing was asked has the idle time.
  if (codeOf(error) === TIMEOUT && isUnasked(socket)) return
  if (!socket.writable || codeOf(error) === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const connection = connectionOf(socket)
  if (connection.closing) return
  connection.closing = true
  // Requests behind this one in the same read are not taken, and would later look like answered ones.
  const wasAnswered = isAnswered(socket)
  const owed = owedAnswers(socket)
  const before = owed.findLast(({ req }) => req.complete)
  if (before === undefined) {
    endWith(error, socket as Socket, wasAnswered)
    return
  }
  socket.pause()
  // At most the faulty request waits behind it, and it must not begin.
  if (owed.at(-1) !== before) connection.waiting.pop()?.removeAllListeners('socket')
  before.once('finish', () => endWith(error, socket as Socket, wasAnswered))
}

/** A server's `connect` handler. */
export function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy())
  // Node has detached the connection, and with it the earlier answers.
  if (owedAnswers(socket).length > 0) socket.destroy()
  else answerOnSocket(socket as Socket, problem('method_not_allowed', null, 'Sluice is no proxy.'))
}

function endWith(error: Error, socket: Socket, wasAnswered: boolean): void {
  if (socket.writableEnded) return
  // A second status line in the middle of an answer would corrupt it.
  if (owedAnswers(socket)[0]?.headersSent) socket.destroy()
  else if (wasAnswered) closeInStages(socket)
  else if (codeOf(error) === HTTP2_PREFACE && refuseInHttp2(socket, (error as ClientError).rawPacket)) return
  else answerOnSocket(socket, problemOf(error))
}

/** Answers anything that is not HTTP/1.1 in HTTP/1.1, and ends the connection. */
export function answerOnSocket(socket: Socket, cause: Problem): void {
  const status = STATUS[cause.code]
  const body = failureBody(cause)
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...(cause.code === 'method_not_allowed' && { allow: SERVED_METHODS }),
    ...retryHeaders(retryAfterOf(cause)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  closeInStages(socket)
}

/** Node's error code for a request that does not arrive in time. */
const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT'

/** The parser's error code for the preface of HTTP/2. */
const HTTP2_PREFACE = 'HPE_PAUSED_H2_UPGRADE'

/** The parser's words for a version that it does not know. */
const UNKNOWN_VERSION = 'Invalid HTTP version'

/** Node's error for a faulty request, with the bytes that were parsed last. */
type ClientError = Error & { readonly rawPacket?: Buffer }

const codeOf = (error: NodeJS.ErrnoException): string => error.code ?? ''

function problemOf(error: Error): Problem {
  switch (codeOf(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return problem('headers_too_large')
    case TIMEOUT:
      return problem('request_timeout', null, 'The request did not arrive in time.')
    case CHOPPED_BODY:
      return refuseForPieces().problem
    case 'HPE_INVALID_VERSION':
      // The parser has the same code for a line break without CR, and for other text behind the version.
      return reasonOf(error)?.reason === UNKNOWN_VERSION
        ? problem('http_version_not_supported')
        : problem('malformed_request', reasonOf(error))
    case HTTP2_PREFACE:
      return HTTP2_REFUSED
    default:
      return problem('malformed_request', reasonOf(error))
  }
}

/** The fault, in the parser's own words. */
function reasonOf(error: Error & { readonly reason?: unknown }): { readonly reason: string } | null {
  return typeof error.reason === 'string' ? { reason: error.reason } : null
}

import { performServerHandshake } from 'node:http2'
import type { Socket } from 'node:net'
import { problemSaying, STATUS } from '../../shared/contract/errors.ts'
import { answerCall, GRPC_CODE, isGone, isGrpc, statusTrailers } from '../../shared/grpc/call.ts'
import { failureBody } from '../../shared/http/answer.ts'
import { destroyAfterLinger } from './closing.ts'
import type { HttpSocket } from './connection.ts'

/** The beginning of every HTTP/2 connection (RFC 9113, 3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Maximum concurrent streams of a connection; few, as all that arrive in one read are begun in one go. */
export const CALLS_MAX = 16
/** The share of MAX_CONNECTIONS that the gRPC port may have: a connection there holds as much as several of HTTP/1.1. */
export const GRPC_CONNECTIONS_SHARE = 1 / 4
/** Streams that a client may begin and cancel at once, and per second after that; one more ends its connection. */
export const CANCELLED_MAX = { streamResetBurst: 32, streamResetRate: 16 } as const

/** Whether the first bytes of a connection, however few, can be those of HTTP/2. */
export const mayBeHttp2 = (first: Buffer): boolean =>
  PREFACE.subarray(0, first.length).equals(first.subarray(0, PREFACE.length))

/** Connections that are refused in HTTP/2 at a time: each brings up to `CALLS_MAX` calls in one go, and nobody needs a key for that. */
export const REFUSED_AT_ONCE_MAX = 50
let refusedNow = 0

/** The refusal of HTTP/2 on a port for HTTP/1.1. */
export const HTTP2_REFUSED = problemSaying(
  'http_version_not_supported',
  'This port speaks HTTP/1.1: send OTLP as http/protobuf. gRPC has a port of its own, which the setting OTLP_GRPC_PORT opens.',
)

/**
 * Refuses an HTTP/2 request in HTTP/2, as its clients show nothing of an answer in HTTP/1.1. `received` are the bytes at which the HTTP/1.1
 * parser stopped. Returns false if they are no more than the preface, which clients follow with settings, if too many connections are being
 * refused, or if this one cannot be detached from the parser.
 */
export function refuseInHttp2(socket: Socket, received: Buffer | undefined): boolean {
  const { parser } = socket as HttpSocket
  if (received === undefined || received.length <= PREFACE.length || !mayBeHttp2(received)) return false
  // `unconsume` is private to Node.
  if (refusedNow >= REFUSED_AT_ONCE_MAX || typeof parser?.unconsume !== 'function') return false
  refusedNow += 1
  socket.once('close', () => {
    refusedNow -= 1
  })
  parser.unconsume()
  for (const event of ['data', 'end', 'drain', 'timeout', 'resume', 'pause']) socket.removeAllListeners(event)
  socket.pause()
  // Copied, as the parser reuses its buffer.
  socket.unshift(Buffer.from(received))
  const session = performServerHandshake(socket, { settings: { maxConcurrentStreams: CALLS_MAX }, ...CANCELLED_MAX })
  session.on('error', () => undefined)
  session.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    if (isGrpc(headers)) answerCall(stream, '', statusTrailers(GRPC_CODE.unimplemented, HTTP2_REFUSED.message))
    else if (!isGone(stream)) {
      stream.respond({ ':status': STATUS[HTTP2_REFUSED.code], 'content-type': 'application/json; charset=utf-8' })
      stream.end(failureBody(HTTP2_REFUSED))
    }
  })
  destroyAfterLinger(socket)
  return true
}

import type { IncomingHttpHeaders } from 'node:http'
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'

/** A gRPC call on HTTP/2: its metadata are headers, and the stream takes the answer. */
export type GrpcCall = ServerHttp2Stream & { readonly headers: IncomingHttpHeaders }

/** Answers a call; an error it throws is a fault of ours. */
export type CallHandler = (call: GrpcCall) => Promise<void> | void

/** The methods of a server by path. */
export type Methods = ReadonlyMap<string, CallHandler>

/** The status codes that are used here (google.rpc.Code). */
export const GRPC_CODE = { ok: 0, unimplemented: 12 } as const

/** Bytes of a message's prefix: whether it is compressed, and its length. */
export const PREFIX_BYTES = 5

export const GRPC_TYPE = 'application/grpc'
const GRPC_TYPES = /^application\/grpc(?:\+proto)?[ \t]*(?:;|$)/i

export const isGrpc = (headers: IncomingHttpHeaders): boolean => GRPC_TYPES.test(headers['content-type'] ?? '')

/** An uncompressed message, framed for an answer. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(PREFIX_BYTES + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, PREFIX_BYTES)
  return frame
}

/** The trailers that end a call; `details` is a google.rpc.Status. */
export function statusTrailers(code: number, message = '', details?: Uint8Array): OutgoingHttpHeaders {
  return {
    'grpc-status': String(code),
    ...(message !== '' && { 'grpc-message': percentEncoded(message) }),
    ...(details !== undefined && {
      'grpc-status-details-bin': Buffer.from(details).toString('base64').replace(/=+$/, ''),
    }),
  }
}

/** Encodes everything but printable ASCII, as the gRPC protocol demands. */
const percentEncoded = (text: string): string => text.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent)

/** Whether nobody waits for an answer: the packet that brought a request may have cancelled it as well. */
export const isGone = ({ destroyed, closed }: ServerHttp2Stream): boolean => destroyed || closed

/** Answers with these frames, if any, and these trailers. A caller that is gone gets nothing. */
export function answerCall(
  stream: ServerHttp2Stream,
  frames: string | Uint8Array,
  trailers: OutgoingHttpHeaders,
  headers: OutgoingHttpHeaders = {},
): void {
  if (isGone(stream) || stream.headersSent) return
  const all = { ':status': 200, 'content-type': GRPC_TYPE, ...headers }
  if (frames.length === 0) {
    stream.respond({ ...all, ...trailers }, { endStream: true })
    // The rest of the request is not read (RFC 9113, 8.1). If the stream were closed at once, it would end without its answer.
    setImmediate(() => {
      if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
    })
    return
  }
  stream.respond(all, { waitForTrailers: true })
  stream.once('wantTrailers', () => {
    if (!isGone(stream)) stream.sendTrailers(trailers)
  })
  stream.end(frames)
}

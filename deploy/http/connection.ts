import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * A connection's requests, as far as Node does not keep them. A client may send several without waiting for answers (RFC 9112, 9.3.2): the
 * first one has begun, and the others wait for their turn, while nothing more is read. At a faulty request, or one too many, no further one
 * is taken, and the connection ends with the answer to the last that was.
 */
interface Connection {
  /** Answers whose turn has not come, oldest first; their requests have not begun. */
  readonly waiting: ServerResponse[]
  /** Whether no further request of this connection is taken. */
  closing: boolean
}

const CONNECTION = Symbol('connection')

/** Private fields of a server's socket in Node (lib/_http_server.js, lib/_http_common.js). */
export interface HttpSocket extends Socket {
  /** The answer whose turn it is. */
  readonly _httpMessage?: ServerResponse | null
  readonly parser?: {
    /** The request whose headers came last, until its body has been read. */
    readonly incoming: IncomingMessage | null
    /** Called for each request; a result of 1 makes the parser treat it as a request without a body. */
    onIncoming: (request: IncomingMessage & { upgrade?: boolean }, keepAlive: boolean) => number
    /** Stops it reading the connection. */
    unconsume?: () => void
    /** Stops it once the present call returns; the rest of its input then counts as an error. */
    pause?: () => void
  } | null
  [CONNECTION]?: Connection
}

export function connectionOf(socket: Duplex): Connection {
  const own = socket as HttpSocket
  own[CONNECTION] ??= { waiting: [], closing: false }
  return own[CONNECTION]
}

/** Whether nothing was asked on a connection yet, not even in part. */
export const isUnasked = (socket: Duplex): boolean => (socket as Socket).bytesRead === 0

/** The answers that a connection still owes, in the order of their requests. */
export function owedAnswers(socket: Duplex): readonly ServerResponse[] {
  const { _httpMessage: current, [CONNECTION]: connection } = socket as HttpSocket
  const begun = current === undefined || current === null || current.writableFinished ? [] : [current]
  return [...begun, ...(connection?.waiting ?? [])]
}

/** Whether the input of a connection belongs to the body of a request that was already answered. */
export function isAnswered(socket: Duplex): boolean {
  const { incoming } = (socket as HttpSocket).parser ?? {}
  if (incoming === undefined || incoming === null || incoming.complete) return false
  return !owedAnswers(socket).some(({ req }) => req === incoming)
}

/** Maximum requests of a connection that wait for their turn to be answered. */
export const WAITING_MAX = 32

/** Makes the parser go on to the next request. */
const SKIP_BODY = 1

/**
 * Begins each request when its turn to be answered has come (RFC 9112, 9.3.2), not when it arrives: answers that cannot be sent yet would
 * be held in memory. Nothing more is read from a connection while one of its requests waits.
 */
export const inTurn =
  (begin: RequestListener): RequestListener =>
  (request, response) => {
    if (response.socket !== null) return begin(request, response)
    const { socket } = request
    const connection = connectionOf(socket)
    connection.waiting.push(response)
    socket.pause()
    response.once('socket', () => {
      connection.waiting.shift()
      if (connection.waiting.length === 0 && !connection.closing) socket.resume()
      // In an event loop turn of its own: otherwise answers made without waiting would follow one another and starve other connections.
      setImmediate(() => {
        if (!socket.destroyed) begin(request, response)
      })
    })
  }

/**
 * Limits the waiting requests of a connection, for a server whose listeners are called `inTurn`. One read of a socket can bring thousands:
 * those beyond the limit are not taken, and the answer to the last one taken says `Connection: close`, so that the client knows which to
 * send again (RFC 9112, 9.6).
 */
export function limitPipelining(socket: HttpSocket): void {
  const connection = connectionOf(socket)
  // Node resumes reading after each request that was received completely.
  socket.on('resume', () => {
    if (connection.waiting.length > 0 || connection.closing) socket.pause()
  })
  const { parser } = socket
  // Without Node's private method there is no limit, but requests still begin in turn.
  if (typeof parser?.onIncoming !== 'function') return
  const take = parser.onIncoming
  parser.onIncoming = (request, keepAlive) => {
    if (connection.waiting.length < WAITING_MAX && !connection.closing) return take(request, keepAlive)
    // Either an answer that ends the connection is already due, or the last one says so.
    if (!connection.closing) connection.waiting.at(-1)?.setHeader('connection', 'close')
    connection.closing = true
    // Node hands the socket over for a CONNECT, which here would cut off the answers before it.
    request.upgrade = false
    // Input behind it is not parsed either: `answerClientError` hears that the parser stopped, and leaves the connection as it is.
    parser.pause?.()
    return SKIP_BODY
  }
}

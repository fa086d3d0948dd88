import type { RequestListener, Server } from 'node:http'
import { connectionOf, type HttpSocket } from './connection.ts'

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
export function limitPipelining(server: Server): void {
  server.on('connection', (socket: HttpSocket) => {
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
  })
}

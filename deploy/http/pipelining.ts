import type { RequestListener, Server } from 'node:http'
import { connectionOf, type HttpSocket } from './connection.ts'

/** Most requests of a connection that wait for their turn to be answered. */
export const WAITING_MAX = 32

/** Has the parser go on to the next request. */
const SKIP_BODY = 1

/**
 * Begins each request when its turn to be answered has come (RFC 9112, 9.3.2), and not when it arrives: answers that nobody can be
 * sent yet would be held in memory. Nothing more is read from a connection while one of its requests waits.
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
      // In a turn of the event loop of its own: answers that are made without waiting would else follow one another, and nobody else be served.
      setImmediate(() => {
        if (!socket.destroyed) begin(request, response)
      })
    })
  }

/**
 * Bounds what a connection holds of requests that wait, for a server whose listeners are called `inTurn`. One read of a socket can
 * bring thousands of them: those beyond the bound are not taken, and the answer to the last one that is says `Connection: close`,
 * so that its client knows what to send again (RFC 9112, 9.6).
 */
export function limitPipelining(server: Server, waitingMax = WAITING_MAX): void {
  server.on('connection', (socket: HttpSocket) => {
    const connection = connectionOf(socket)
    // Node reads on after each request that was received as a whole.
    socket.on('resume', () => {
      if (connection.waiting.length > 0 || connection.closing) socket.pause()
    })
    const { parser } = socket
    // Without what Node keeps to itself the bound is missing, but requests begin in turn all the same.
    if (typeof parser?.onIncoming !== 'function') return
    const take = parser.onIncoming
    parser.onIncoming = (request, keepAlive) => {
      if (connection.waiting.length < waitingMax && !connection.closing) return take(request, keepAlive)
      // An answer that ends the connection is to come already, or else the last one says so.
      if (!connection.closing) connection.waiting.at(-1)?.setHeader('connection', 'close')
      connection.closing = true
      // Node hands the socket over for a CONNECT, which here would cut the answers before it.
      request.upgrade = false
      // Nor is what came behind it looked at: `answerClientError` hears that the parser stopped, and leaves the connection as it is.
      parser.pause?.()
      return SKIP_BODY
    }
  })
}

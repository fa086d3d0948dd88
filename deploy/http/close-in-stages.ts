import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { owedAnswers } from './connection.ts'

/** How long a sender may keep sending on a connection that has had its last answer. */
const LINGER_MS = 2_000

/**
 * Ends a connection after its last answer: further input is discarded until the sender ends it too, or for 2 s. If it were closed at once,
 * unread bytes would reset it, and a sender that has not read the answer yet would lose it (RFC 9112, 9.6).
 */
export function closeInStages(socket: Socket): void {
  socket.end()
  // The listeners that parse requests, and those that stop reading.
  socket.removeAllListeners('data').removeAllListeners('resume')
  socket.on('data', () => undefined).resume()
  destroyAfterLinger(socket)
}

/** Destroys a connection after `LINGER_MS`, unless it has ended by itself. */
export function destroyAfterLinger(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}

/** Makes Node end every connection of a server in this way. */
export function closeConnectionsInStages(server: Server): void {
  server.on('connection', (socket: Socket) => {
    // Node calls this once the last answer is written.
    socket.destroySoon = () => closeInStages(socket)
  })
}

/**
 * Makes a server reset a connection that it destroys in the middle of an answer, unless that is sent in chunks. In HTTP/1.0 an answer can
 * end with its connection: a reader, or a proxy that passes it on in chunks, would take the part for the whole.
 */
export function resetCutAnswers(server: Server): void {
  server.on('connection', (socket: Socket) => {
    const { destroy } = socket
    socket.destroy = (error) => {
      socket.destroy = destroy
      const isCut = owedAnswers(socket).some(({ headersSent, chunkedEncoding }) => headersSent && !chunkedEncoding)
      return isCut ? socket.resetAndDestroy() : socket.destroy(error)
    }
  })
}

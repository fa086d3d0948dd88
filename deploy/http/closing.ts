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

/**
 * Resets a connection that is destroyed in the middle of an answer, unless that is sent in chunks. In HTTP/1.0 an answer can end with its
 * connection: a reader, or a proxy that passes it on in chunks, would take the part for the whole.
 */
export function resetCutAnswers(socket: Socket): void {
  const { destroy } = socket
  socket.destroy = (error) => {
    socket.destroy = destroy
    const isCut = owedAnswers(socket).some(({ headersSent, chunkedEncoding }) => headersSent && !chunkedEncoding)
    return isCut ? socket.resetAndDestroy() : socket.destroy(error)
  }
}

/** How often to check the progress of an answer whose reader has closed its half of the connection. */
const LOOK_MS = 1_000

const READS: readonly (string | undefined)[] = ['GET', 'HEAD']

/**
 * Answers a client that closes its half of a connection once it has sent its requests (RFC 9112, 9.6), and drops a reader that went away,
 * which looks the same. After `lookMs` without a byte, a reader whose answer has not begun is sent `100 Continue`, which clients skip
 * (RFC 9110, 15.2): if nobody holds the connection any more, this gets it reset. If it cannot be sent, the reader is dropped. Requests
 * other than reads are always answered. The server has to leave such connections open (`httpAllowHalfOpen`).
 */
export function answerHalfClosed(socket: Socket, lookMs = LOOK_MS): void {
  socket.once('end', () => {
    let before = socket.bytesWritten
    const look = (): void => {
      const owed = owedAnswers(socket)
      const hasWrites = owed.some(({ req }) => !READS.includes(req.method))
      // The stall limit of every connection covers bytes that have not left yet.
      const hasProgress = socket.writableLength > 0 || socket.bytesWritten > before
      const [next] = owed
      if (hasWrites || hasProgress) before = socket.bytesWritten
      else if (next === undefined || next.headersSent || next.req.httpVersion === '1.0') socket.destroy()
      else next.writeContinue()
    }
    const timer = setInterval(look, lookMs).unref()
    socket.once('close', () => clearInterval(timer))
  })
}

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { owedAnswers } from './connection.ts'

/** How often the progress of an answer is looked at whose reader has closed its half of the connection. */
const LOOK_MS = 1_000

const READS: readonly (string | undefined)[] = ['GET', 'HEAD']

/**
 * Answers clients that close their half of a connection once they have sent their requests (RFC 9112, 9.6), and lets go of readers
 * that went away, which looks the same. After `lookMs` without a byte, a reader whose answer has not begun is sent `100 Continue`, which
 * clients skip (RFC 9110, 15.2): a connection that nobody has any more is reset by it. Where that cannot be sent, the reader is let go.
 * Requests other than reads are always answered.
 */
export function answerHalfClosed(server: Server & { httpAllowHalfOpen?: boolean }, lookMs = LOOK_MS): void {
  server.httpAllowHalfOpen = true
  server.on('connection', (socket: Socket) => {
    socket.once('end', () => closeWithoutReader(socket, lookMs))
  })
}

function closeWithoutReader(socket: Socket, lookMs: number): void {
  let before = socket.bytesWritten
  const look = (): void => {
    const owed = owedAnswers(socket)
    const hasWrites = owed.some(({ req }) => !READS.includes(req.method))
    // Bytes that have not left yet are waited for by the limit of every connection.
    const hasProgress = socket.writableLength > 0 || socket.bytesWritten > before
    const [next] = owed
    if (hasWrites || hasProgress) before = socket.bytesWritten
    else if (next === undefined || next.headersSent || next.req.httpVersion === '1.0') socket.destroy()
    else next.writeContinue()
  }
  const timer = setInterval(look, lookMs).unref()
  socket.once('close', () => clearInterval(timer))
}

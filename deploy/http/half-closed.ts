import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { owedAnswers } from './connection.ts'

/** How often to check the progress of an answer whose reader has closed its half of the connection. */
const LOOK_MS = 1_000

const READS: readonly (string | undefined)[] = ['GET', 'HEAD']

/**
 * Answers clients that close their half of a connection once they have sent their requests (RFC 9112, 9.6), and drops readers that went
 * away, which looks the same. After `lookMs` without a byte, a reader whose answer has not begun is sent `100 Continue`, which clients skip
 * (RFC 9110, 15.2): if nobody holds the connection any more, this gets it reset. If it cannot be sent, the reader is dropped. Requests
 * other than reads are always answered.
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
    // The stall limit of every connection covers bytes that have not left yet.
    const hasProgress = socket.writableLength > 0 || socket.bytesWritten > before
    const [next] = owed
    if (hasWrites || hasProgress) before = socket.bytesWritten
    else if (next === undefined || next.headersSent || next.req.httpVersion === '1.0') socket.destroy()
    else next.writeContinue()
  }
  const timer = setInterval(look, lookMs).unref()
  socket.once('close', () => clearInterval(timer))
}

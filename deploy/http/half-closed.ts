import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { owedAnswers } from './connection.ts'

/** How long a reader that has closed its half of the connection may go without getting anything of its answer. */
const GRACE_MS = 1_000

const READS: readonly (string | undefined)[] = ['GET', 'HEAD']

/**
 * Answers clients that close their half of a connection once they have sent their requests (RFC 9112, 9.6), and lets go of readers
 * that went away, which looks the same: within `graceMs` something has to be written. Requests other than reads are always answered.
 */
export function answerHalfClosed(server: Server & { httpAllowHalfOpen?: boolean }, graceMs = GRACE_MS): void {
  server.httpAllowHalfOpen = true
  server.on('connection', (socket: Socket) => {
    socket.once('end', () => closeWithoutProgress(socket, graceMs))
  })
}

function closeWithoutProgress(socket: Socket, graceMs: number): void {
  let before = socket.bytesWritten
  const look = (): void => {
    const hasWrites = owedAnswers(socket).some(({ req }) => !READS.includes(req.method))
    // Bytes that have not left yet are waited for by the limit of every connection.
    const hasProgress = socket.writableLength > 0 || socket.bytesWritten > before
    before = socket.bytesWritten
    if (!hasWrites && !hasProgress) socket.destroy()
  }
  const timer = setInterval(look, graceMs).unref()
  socket.once('close', () => clearInterval(timer))
}

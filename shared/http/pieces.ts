import type { IncomingMessage, Server } from 'node:http'

/** Each piece of a body takes its time, however short it is: so many may be, and beyond them so many bytes have to come with each. */
export const PIECES_FREE = 2_048
export const PIECE_BYTES_MIN = 64

/** Whether a body comes in more pieces than its bytes allow. */
export const isChopped = (pieces: number, bytes: number, free = PIECES_FREE): boolean =>
  pieces > free + bytes / PIECE_BYTES_MIN

/** A request with a method that Node keeps to itself. */
type Dumpable = IncomingMessage & { _dump?: () => void }

/**
 * Cuts connections that go on with a body in too many pieces, whoever reads it, or where nobody does. The readers of bodies refuse it at
 * half as many, so that a sender who listens is told.
 */
export function limitPieces(server: Server): void {
  server.prependListener('request', (request: Dumpable) => {
    // Other bodies come in as few pieces as packets.
    if (request.headers['transfer-encoding'] === undefined) return
    const push = request.push.bind(request)
    let pieces = 0
    let bytes = 0
    request.push = (piece: Buffer | null) => {
      pieces += 1
      bytes += piece?.length ?? 0
      if (!isChopped(pieces, bytes, 2 * PIECES_FREE)) return push(piece)
      request.socket.destroy()
      return false
    }
    // Node's own, of a body that nobody reads, would have the pieces pass by uncounted.
    request._dump = () => {
      request.removeAllListeners('data')
      request.resume()
    }
  })
}

import type { IncomingMessage, Server } from 'node:http'
import { isChopped, PIECES_FREE } from '../../shared/http/body.ts'

/** A request with a private method of Node. */
type Dumpable = IncomingMessage & { _dump?: () => void }

/** The `clientError` code for a body in too many pieces. */
export const CHOPPED_BODY = 'ERR_CHOPPED_BODY'

/**
 * Ends connections whose body comes in too many pieces, whether or not anything reads it. The readers of bodies refuse it at half as many;
 * a body behind other requests has no reader yet, and must not take away their answers (`answerClientError`).
 */
export function limitPieces(server: Server): void {
  server.prependListener('request', (request: Dumpable) => {
    // Other bodies have no more pieces than packets.
    if (request.headers['transfer-encoding'] === undefined) return
    const push = request.push.bind(request)
    let pieces = 0
    let bytes = 0
    let isOver = false
    request.push = (piece: Buffer | null) => {
      // The rest is discarded; `false` would make Node stop reading the connection instead.
      if (isOver) return true
      pieces += 1
      bytes += piece?.length ?? 0
      if (!isChopped(pieces, bytes, 2 * PIECES_FREE)) return push(piece)
      isOver = true
      const { socket } = request
      const error = Object.assign(new Error('a body comes in too many pieces'), { code: CHOPPED_BODY })
      if (!server.emit('clientError', error, socket)) socket.destroy()
      return true
    }
    // Node's own method, for a body that nobody reads, would let the pieces pass uncounted.
    request._dump = () => {
      request.removeAllListeners('data')
      request.resume()
    }
  })
}

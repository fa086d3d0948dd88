import type { Server } from 'node:http'

/**
 * Asks a sender that waits for it (`Expect: 100-continue`) to go on only where its body can fit; one that announces more than
 * `bodyBytesMax` is answered 413 before it sends anything.
 */
export function answerExpectContinue(server: Server, bodyBytesMax: number): void {
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) <= bodyBytesMax) response.writeContinue()
    server.emit('request', request, response)
  })
}

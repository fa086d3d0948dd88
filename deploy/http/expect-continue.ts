import type { Server } from 'node:http'
import { problem } from '../../shared/contract/errors.ts'
import { answerProblem } from '../../shared/http/answer.ts'
import { STATUS } from '../../shared/http/status.ts'
import { inTurn } from './pipelining.ts'

/**
 * Tells a sender that waits for it (`Expect: 100-continue`) to go on only if its body can fit; one that announces more than `bodyBytesMax`
 * is answered 413 before it sends anything, and one that expects anything else 417 (RFC 9110, 10.1.1).
 */
export function answerExpectContinue(server: Server, bodyBytesMax: number): void {
  server.on(
    'checkContinue',
    inTurn((request, response) => {
      if (Number(request.headers['content-length'] ?? 0) <= bodyBytesMax) response.writeContinue()
      server.emit('request', request, response)
    }),
  )
  server.on(
    'checkExpectation',
    inTurn((_request, response) => {
      const cause = problem('expectation_failed')
      // It is unknown whether a body follows, so the connection cannot be reused.
      answerProblem(response, STATUS[cause.code], cause, { connection: 'close' })
    }),
  )
}

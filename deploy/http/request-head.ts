import type { IncomingMessage, Server } from 'node:http'
import { type Problem, problem } from '../../shared/contract/errors.ts'
import { answerProblem } from '../../shared/http/answer.ts'
import { inTurn } from './connection.ts'

/** A host and a port (RFC 9110, 7.2); the host may be empty. */
const HOST = /^(?:\[[^[\]\s]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/

const CODING = 'Transfer-Encoding can only be chunked, once. Name the compression of the body in Content-Encoding.'

/** The refusal of a request by its head alone; undefined if it is not refused. */
export function headProblem({ httpVersion, url, headers, rawHeaders }: IncomingMessage): Problem | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return problem('http_version_not_supported')
  const hosts = countOf(rawHeaders, 'host')
  // RFC 9112, 3.2: a proxy in front of this server may have used another one.
  if (hosts > 1) return problem('malformed_request', null, `The request has ${hosts} Host headers in place of one.`)
  if (hosts === 0 && httpVersion === '1.1') return problem('malformed_request', null, 'The request has no Host header.')
  if (!HOST.test(headers.host ?? '')) return problem('malformed_request', null, 'The Host header names no host.')
  const coding = headers['transfer-encoding']
  // Node would read the body of another coding as it is, once the chunks are removed.
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return problem('malformed_request', null, CODING)
  return originForm(url ?? '') === undefined
    ? problem('malformed_request', null, 'The target of the request is neither a path nor a URL.')
    : undefined
}

/** The path and query of a request target, which proxies may send in absolute form (RFC 9112, 3.2.2); undefined if it has none. */
export function originForm(target: string): string | undefined {
  if (target.startsWith('/') || target === '*') return target
  const url = URL.parse(target)
  return url === null || !url.pathname.startsWith('/') ? undefined : url.pathname + url.search
}

/** Counts a header in the raw list of alternating names and values, as Node keeps only the first of some headers. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const own = rawHeaders[at]
    if (own?.length === name.length && own.toLowerCase() === name) count += 1
  }
  return count
}

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
      answerProblem(response, cause, { connection: 'close' })
    }),
  )
}

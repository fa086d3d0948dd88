import type { IncomingMessage } from 'node:http'
import { type Problem, problem } from '../../shared/contract/errors.ts'

/** A host and a port (RFC 9110, 7.2); the host may be empty. */
const HOST = /^(?:\[[^[\]\s]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/

/** Why a request is refused by its head, whatever it asks for; undefined where it is not. */
export function headProblem({ httpVersion, url, headers, rawHeaders }: IncomingMessage): Problem | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return problem('http_version_not_supported')
  const hosts = countOf(rawHeaders, 'host')
  // RFC 9112, 3.2: a proxy before this server may have gone by another one.
  if (hosts > 1) return problem('malformed_request', null, `The request has ${hosts} Host headers in place of one.`)
  if (hosts === 0 && httpVersion === '1.1') return problem('malformed_request', null, 'The request has no Host header.')
  if (!HOST.test(headers.host ?? '')) return problem('malformed_request', null, 'The Host header names no host.')
  return originForm(url ?? '') === undefined
    ? problem('malformed_request', null, 'The target of the request is neither a path nor a URL.')
    : undefined
}

/** The path and query of a request's target, of which a proxy may send the absolute form (RFC 9112, 3.2.2). Undefined: it has none. */
export function originForm(target: string): string | undefined {
  if (target.startsWith('/') || target === '*') return target
  const url = URL.parse(target)
  return url === null || !url.pathname.startsWith('/') ? undefined : url.pathname + url.search
}

/** Node keeps the first of some headers only, so they are counted as they came: names and values in turn. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const own = rawHeaders[at]
    if (own?.length === name.length && own.toLowerCase() === name) count += 1
  }
  return count
}

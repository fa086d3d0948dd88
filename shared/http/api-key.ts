import type { IncomingHttpHeaders } from 'node:http'

/**
 * The Team key that a request presents, or undefined if it has none: `X-API-Key`, else `X-Seq-ApiKey`, as Seq's clients send it, else
 * `Authorization: Bearer`.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  for (const name of ['x-api-key', 'x-seq-apikey']) {
    const key = headers[name]
    if (typeof key === 'string' && key !== '') return key
  }
  const bearer = /^Bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')
  return bearer?.[1]
}

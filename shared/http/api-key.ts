import type { IncomingHttpHeaders } from 'node:http'

/** The Team key that a request presents, or undefined where it has none: `X-API-Key`, else `Authorization: Bearer`. */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const own = headers['x-api-key']
  if (typeof own === 'string' && own !== '') return own
  const bearer = /^Bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')
  return bearer?.[1]
}

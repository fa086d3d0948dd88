import type { TLSSocket } from 'node:tls'
import type { Forwarded, Proxies } from '../../shared/http/proxies.ts'

export const SESSION_COOKIE = 'sluice_session'

/** The value of a cookie in a request. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

interface CookieScope {
  readonly basePath: string
  /** Whether the browser may send it over https only. */
  readonly secure: boolean
}

/** The `Set-Cookie` header of a session; 0 seconds delete the cookie. No script can read it, and no other site can have it sent. */
export const sessionCookie = (value: string, maxAgeSeconds: number, { basePath, secure }: CookieScope): string =>
  [
    `${SESSION_COOKIE}=${value}`,
    // With a trailing slash, the path would not cover the base path itself.
    `Path=${basePath}`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(secure ? ['Secure'] : []),
  ].join('; ')

/** Whether the browser used https, to this server or to a trusted proxy in front of it. */
export const isSecure = (request: Forwarded, proxies: Proxies): boolean =>
  (request.socket as TLSSocket).encrypted === true || proxies.protocolOf(request)?.toLowerCase() === 'https'

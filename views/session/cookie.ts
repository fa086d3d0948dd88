import type { TLSSocket } from 'node:tls'
import type { Forwarded, Proxies } from '../../shared/http/proxies.ts'

/** The name of the cookie that holds the session. */
export const SESSION_COOKIE = 'sluice_session'

/** The value of a cookie that a request brings. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

export interface CookieScope {
  readonly basePath: string
  /** Whether the browser is to send it over https only. */
  readonly secure: boolean
}

/** The `Set-Cookie` of a session; 0 seconds take it away. No script can read it, and no other site can have it sent. */
export const sessionCookie = (value: string, maxAgeSeconds: number, { basePath, secure }: CookieScope): string =>
  [
    `${SESSION_COOKIE}=${value}`,
    // A slash at its end would leave out the base path itself.
    `Path=${basePath}`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(secure ? ['Secure'] : []),
  ].join('; ')

/** Whether the browser spoke https, with this server or with a trusted proxy before it. */
export const isSecure = (request: Forwarded, proxies: Proxies): boolean =>
  (request.socket as TLSSocket).encrypted === true || proxies.protocolOf(request)?.toLowerCase() === 'https'

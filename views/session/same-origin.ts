import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ProblemError, problem } from '../../shared/errors.ts'

/**
 * Refuses a request that another site may have made a browser send. Every request that changes something and is authenticated by
 * the cookie has to pass it; one that presents a key by itself need not, as no browser adds a key. Throws `cross_origin`.
 */
export function requireSameOrigin({ headers }: Pick<IncomingMessage, 'headers'>): void {
  if (!isSameOrigin(headers)) throw new ProblemError(problem('cross_origin'))
}

/**
 * Whether the browser says that the page is of this origin. `Sec-Fetch-Site` tells it outright, but only on https and on
 * localhost; elsewhere `Origin`, which comes with every such request, has to name the host that was asked. The scheme is left
 * out, as a proxy may end TLS. A request with neither is refused: it cannot be told from a forged one.
 */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = headers
  if (origin === undefined || !URL.canParse(origin)) return false
  const { host } = new URL(origin)
  // No other site can make a browser set X-Forwarded-Host without asking first, which nothing here allows.
  return host !== '' && [headers.host, firstOf(headers['x-forwarded-host'])].some((own) => own?.toLowerCase() === host)
}

/** The value of the proxy that is nearest to the client. */
export const firstOf = (value: string | readonly string[] | undefined): string | undefined =>
  (typeof value === 'string' ? value : value?.[0])?.split(',')[0]?.trim()

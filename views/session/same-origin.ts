import { ProblemError, problem } from '../../shared/contract/errors.ts'
import type { Forwarded, Proxies } from '../../shared/http/proxies.ts'

/**
 * Refuses a request that another site may have made a browser send. Every request that changes something and is authenticated by
 * the cookie has to pass it; one that presents a key by itself need not, as no browser adds a key. Throws `cross_origin`.
 */
export function requireSameOrigin(request: Forwarded, proxies: Proxies): void {
  if (!isSameOrigin(request, proxies)) throw new ProblemError(problem('cross_origin'))
}

/**
 * Whether the browser says that the page is of this origin. `Sec-Fetch-Site` tells it outright, but only on https and on
 * localhost; elsewhere `Origin`, which comes with every such request, has to name the host that was asked. The scheme is left
 * out, as a proxy may end TLS. A request with neither is refused: it cannot be told from a forged one.
 */
export function isSameOrigin(request: Forwarded, proxies: Proxies): boolean {
  const { 'sec-fetch-site': site, origin, host: asked } = request.headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined || !URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return host !== '' && [asked, proxies.hostOf(request)].some((own) => own?.toLowerCase() === host)
}

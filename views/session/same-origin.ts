import { ProblemError, problem, problemSaying } from '../../shared/contract/errors.ts'
import type { Forwarded, Proxies } from '../../shared/http/proxies.ts'

/**
 * Refuses a request that another site may have made a browser send. Every state-changing request authenticated by the cookie has to pass
 * it; one that presents a key need not, as browsers never add a key. Throws `cross_origin`.
 */
export function requireSameOrigin(request: Forwarded, proxies: Proxies): void {
  if (isSameOrigin(request, proxies)) return
  const { 'sec-fetch-site': site, origin, host } = request.headers
  // With `Sec-Fetch-Site` no host was compared here.
  if (site !== undefined || origin === undefined) throw new ProblemError(problem('cross_origin'))
  const remedy = "If that is Sluice's page, the proxy in front of it has to pass on Host as it is, with the port."
  const message = `A page of the origin ${origin} sent the request to the host ${host}. ${remedy}`
  throw new ProblemError(problemSaying('cross_origin', message))
}

/**
 * Whether the browser attests that the page has this origin. `Sec-Fetch-Site` states it directly, but only on https and localhost;
 * elsewhere `Origin`, sent with every such request, has to name the requested host. The scheme is ignored, as a proxy may terminate TLS. A
 * request with neither header is refused, because it could be forged.
 */
export function isSameOrigin(request: Forwarded, proxies: Proxies): boolean {
  const { 'sec-fetch-site': site, origin, host: asked } = request.headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined || !URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  const owns = [asked, proxies.hostOf(request)].filter((own) => own !== undefined)
  // Parsed as well, since some proxies name the default port, which an origin leaves out.
  return host !== '' && owns.some((own) => URL.parse(`${protocol}//${own}`)?.host === host)
}

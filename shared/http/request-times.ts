import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Metrics } from '../runtime/metrics.ts'
import type { Handler } from './listener.ts'

/** The template of the path that took a request. Express notes its own under the same name. */
interface Route {
  readonly path: unknown
}

/** A request with what is noted of it until its answer has ended. */
type Timed = IncomingMessage & { route?: Route; begunAt?: number }

/** Notes the route of every request that the handler gets. */
export const routed =
  (route: Route, handler: Handler): Handler =>
  (request, response) => {
    const timed: Timed = request
    timed.route = route
    return handler(request, response)
  }

/**
 * Takes the time of requests by route and class of status. `begunAt` is of `performance.now()`; without a route it counts as `other`,
 * without a status as `none`.
 */
export function createRequestTimes(
  metrics: Metrics,
): (route: unknown, status: number | undefined, begunAt: number) => void {
  const histogram = metrics.histogram('sluice_http_request_seconds')
  return (route = 'other', status, begunAt) => {
    const statusClass = status === undefined ? 'none' : `${Math.floor(status / 100)}xx`
    histogram.observe({ route: String(route), status_class: statusClass }, (performance.now() - begunAt) / 1_000)
  }
}

/** Takes the time of all requests of a listener. */
export function timed(listener: RequestListener, metrics: Metrics): RequestListener {
  const observe = createRequestTimes(metrics)
  // One function for all responses: thousands of them end every second.
  function end(this: ServerResponse): void {
    const { route, begunAt = 0 }: Timed = this.req
    observe(route?.path, this.headersSent ? this.statusCode : undefined, begunAt)
  }
  return (request, response) => {
    const begun: Timed = request
    begun.begunAt = performance.now()
    response.once('close', end)
    listener(request, response)
  }
}

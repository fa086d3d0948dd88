import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { saysTraced, validTraceparent } from '../contract/headers.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Span, Tracer } from '../runtime/tracing.ts'
import type { Handler } from './listener.ts'

/** The template of the path that matched a request. Express stores its own under the same name. */
interface Route {
  readonly path: unknown
}

/** A request with what is recorded about it until its answer has ended. */
type Timed = IncomingMessage & { route?: Route; begunAt?: number; span?: Span | undefined }

/** Records the route of every request that reaches the handler. */
export const routed =
  (route: Route, handler: Handler): Handler =>
  (request, response) => {
    const timed: Timed = request
    timed.route = route
    return handler(request, response)
  }

/**
 * Measures the duration of requests by route and status class. `begunAt` is from `performance.now()`; a missing route counts as `other`, a
 * missing status as `none`.
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

/**
 * The span of a request, if it is traced: a part of the sender's trace, if there is one. From here on the request's `traceparent` names
 * this span, and so do its records.
 */
export function spanOfRequest(tracer: Tracer, headers: IncomingHttpHeaders): Span | undefined {
  const parent = validTraceparent(headers['traceparent'])
  if (!tracer.sample(parent === undefined ? undefined : saysTraced(parent))) return undefined
  const span = tracer.start('request', { kind: 'server', parent, attributes: {} })
  headers['traceparent'] = span.traceparent
  return span
}

/** The `error.type` of an answer with this status; undefined for no error. */
export const failureOf = (status: number | undefined): string | undefined =>
  status === undefined ? 'no_answer' : status >= 500 ? String(status) : undefined

function endOf(request: Timed, status: number | undefined) {
  const { method = '_OTHER', route } = request
  const attributes = {
    'http.request.method': method,
    'url.scheme': 'http',
    ...(route !== undefined && { 'http.route': String(route.path) }),
    ...(status !== undefined && { 'http.response.status_code': status }),
  }
  return { name: route === undefined ? method : `${method} ${route.path}`, attributes, failure: failureOf(status) }
}

/** Measures the duration of all requests of a listener, and traces them if there is a tracer. */
export function timed(listener: RequestListener, metrics: Metrics, tracer: Tracer | null = null): RequestListener {
  const observe = createRequestTimes(metrics)
  // One function for all responses, as thousands of them end every second.
  function end(this: ServerResponse): void {
    const { route, begunAt = 0, span }: Timed = this.req
    const status = this.headersSent ? this.statusCode : undefined
    observe(route?.path, status, begunAt)
    span?.end(endOf(this.req, status))
  }
  return (request, response) => {
    const begun: Timed = request
    begun.begunAt = performance.now()
    if (tracer !== null) begun.span = spanOfRequest(tracer, request.headers)
    response.once('close', end)
    listener(request, response)
  }
}

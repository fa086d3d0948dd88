import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

const ALLOWED_HEADERS =
  'content-type, content-encoding, x-api-key, x-seq-apikey, x-project-id, authorization, idempotency-key, x-strict-status, traceparent'

/** Two hours: the longest that Chromium keeps the answer to a preflight. */
const MAX_AGE_SECONDS = '7200'

/** Marks the answer for browsers; a preflight is answered by it. */
export type Cors = (request: IncomingMessage, response: ServerResponse) => 'answered' | 'marked'

/**
 * Lets browser apps of these origins (`*`: of every one) send logs and read the answers, refusals too; answers their preflights
 * (Fetch standard, CORS protocol). Undefined where there are no origins.
 */
export function createCors(origins: readonly string[]): Cors | undefined {
  if (origins.length === 0) return undefined
  const allowed = new Set(origins)

  function mark({ origin }: IncomingHttpHeaders, response: ServerResponse): void {
    const anyone = allowed.has('*')
    if (!anyone) response.setHeader('vary', 'Origin')
    if (!anyone && (origin === undefined || !allowed.has(origin))) return
    response.setHeader('access-control-allow-origin', anyone ? '*' : String(origin))
    response.setHeader('access-control-expose-headers', 'Retry-After')
  }

  return (request, response) => {
    mark(request.headers, response)
    if (!isPreflight(request)) return 'marked'
    response.writeHead(204, {
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': MAX_AGE_SECONDS,
    })
    response.end()
    return 'answered'
  }
}

const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

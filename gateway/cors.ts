import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { answerMethodNotAllowed } from '../shared/http/method-not-allowed.ts'

const ALLOWED_HEADERS =
  'content-type, content-encoding, x-api-key, x-seq-apikey, x-project-id, authorization, idempotency-key, x-strict-status, traceparent'

/** Two hours: the longest that Chromium keeps the answer to a preflight. */
const MAX_AGE_SECONDS = '7200'

const REFUSED = 'Pages of this origin may not send logs. Ask the operator to list the origin in CORS_ORIGINS.'

/** Sets the CORS headers of an answer; a preflight is answered here. */
type Cors = (request: IncomingMessage, response: ServerResponse) => 'answered' | 'marked'

/**
 * Lets browser apps of these origins (`*`: any origin) send logs and read the answers, refusals included. Answers their preflights (Fetch
 * standard, CORS protocol); a preflight from another origin gets a refusal, which browsers show in their list of requests.
 */
export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins)

  /** Sets the headers of an allowed origin; returns whether it is allowed. */
  function mark({ origin }: IncomingHttpHeaders, response: ServerResponse): boolean {
    const anyone = allowed.has('*')
    if (!anyone && allowed.size > 0) response.setHeader('vary', 'Origin')
    if (!anyone && (origin === undefined || !allowed.has(origin))) return false
    response.setHeader('access-control-allow-origin', anyone ? '*' : String(origin))
    response.setHeader('access-control-expose-headers', 'Retry-After')
    return true
  }

  return (request, response) => {
    const isAllowed = mark(request.headers, response)
    if (!isPreflight(request)) return 'marked'
    if (!isAllowed) {
      answerMethodNotAllowed(response, 'POST', REFUSED)
      return 'answered'
    }
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

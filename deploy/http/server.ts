import { createServer, type RequestListener, type Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { answerProblem } from '../../shared/http/answer.ts'
import { steadyClock, systemClock } from '../../shared/runtime/clock.ts'
import type { Config } from '../../shared/runtime/config.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { answerClientError, refuseTunnel } from './client-error.ts'
import { answerHalfClosed, closeInStages, resetCutAnswers } from './closing.ts'
import { inTurn, limitPipelining } from './connection.ts'
import { letGoOfStalled, limitConnections, limitUnasked } from './connection-limits.ts'
import { createListening, type ListenAddress, type ListeningServer } from './listening.ts'
import { limitPieces } from './pieces.ts'
import { answerExpectContinue, headProblem, originForm } from './request-head.ts'

/** Maximum time for the headers of a request to arrive. */
const HEADERS_TIMEOUT_MS = 15_000
/** Checks per timeout, so that no connection exceeds it by much. */
const CHECKS_PER_TIMEOUT = 10
/** How often a draining server looks for connections that have become idle. */
const DRAIN_POLL_MS = 50

interface HttpServerOptions extends ListenAddress {
  readonly name: string
  readonly listener: RequestListener
  readonly config: Config
  readonly metrics: Metrics
}

/**
 * Listens for HTTP, within the configured limits on connections. `stop` takes no new connection, lets every request that was taken end with
 * its answer, and cuts off the rest at the deadline.
 */
export function createHttpServer({ name, listener, config, metrics, ...address }: HttpServerOptions): ListeningServer {
  const server = createLimitedServer(config, metrics, (request, response) => {
    if (!server.listening) response.setHeader('connection', 'close')
    const cause = headProblem(request)
    if (cause !== undefined) return answerProblem(response, cause, { connection: 'close' })
    // Express reads the absolute form with Node's legacy parser, which accepts some invalid URLs and warns about others.
    request.url = originForm(request.url ?? '') ?? '/'
    listener(request, response)
  })
  const closeIdle = limitUnasked(server, config.IDLE_TIMEOUT_MS)
  return createListening(name, server, address, (deadline) => close(server, deadline, closeIdle))
}

function createLimitedServer(config: Config, metrics: Metrics, listener: RequestListener): Server {
  const requestTimeout = config.REQUEST_TIMEOUT_MS
  // At most endpoints a body has a timeout of its own, which gives a better answer and so has to come first.
  const headersTimeout = Math.min(HEADERS_TIMEOUT_MS, requestTimeout - config.BODY_TIMEOUT_MS)
  const server = createServer(
    {
      keepAliveTimeout: config.IDLE_TIMEOUT_MS,
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval: Math.ceil(headersTimeout / CHECKS_PER_TIMEOUT),
      // Checked with the rest of the head, as Node's own answer has no envelope.
      requireHostHeader: false,
    },
    inTurn(listener),
  )
  limitConnections(server, { connectionsMax: config.MAX_CONNECTIONS, metrics })
  letGoOfStalled(server)
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => {
    limitPipelining(socket)
    answerHalfClosed(socket)
    resetCutAnswers(socket)
    // Node calls this once the last answer is written.
    socket.destroySoon = () => closeInStages(socket)
  })
  limitPieces(server)
  answerExpectContinue(server, config.MAX_BODY_BYTES)
  server.on('clientError', answerClientError)
  server.on('connect', refuseTunnel)
  return server
}

function close(server: Server, deadline: number, closeIdle: () => void): Promise<void> {
  return new Promise((resolve) => {
    // The time of day may be set back meanwhile.
    const end = steadyClock.now() + deadline - systemClock.now()
    const poll = setInterval(() => {
      if (steadyClock.now() >= end) server.closeAllConnections()
      // After the reads of this turn of the event loop: a connection with an unread request only seems idle.
      else setImmediate(closeIdle)
    }, DRAIN_POLL_MS)
    // An HTTP server closes idle connections at once, and so resets those on which a request has arrived and is not read yet.
    NetServer.prototype.close.call(server, () => {
      clearInterval(poll)
      resolve()
    })
  })
}

import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { systemClock } from '../shared/clock.ts'
import { answerExpectContinue } from '../shared/http/expect-continue.ts'
import type { Service } from '../shared/lifecycle.ts'

/** Longest wait for the headers of a request. */
const HEADERS_TIMEOUT_MS = 15_000
/** Longer than the idle time of common load balancers, so that they and not we close idle connections. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000
/** How often a draining server looks for connections that have become idle. */
const DRAIN_POLL_MS = 50

export interface HttpServerOptions {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly listener: RequestListener
  /** Most bytes of a body that a sender which asks first may go on to send. */
  readonly bodyBytesMax: number
  /** Answers what is no HTTP request at all; must end the socket. */
  readonly onClientError: (error: Error, socket: Duplex) => void
}

export interface HttpServer extends Service {
  /** `http://host:port` with the port that was taken, `localhost` for every interface; valid once started. */
  url(): string
}

/**
 * Listens for HTTP. `stop` takes no new connection, lets every request that was taken end with its answer, and cuts what is left
 * at the deadline.
 */
export function createHttpServer({
  name,
  host,
  port,
  listener,
  bodyBytesMax,
  onClientError,
}: HttpServerOptions): HttpServer {
  let stopping: Promise<void> | undefined
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS },
    (request, response) => {
      if (stopping !== undefined) response.setHeader('connection', 'close')
      listener(request, response)
    },
  )
  // The body has a timeout of its own, which ends in an answer; this one would cut the connection.
  server.requestTimeout = 0
  server.on('clientError', onClientError)
  answerExpectContinue(server, bodyBytesMax)

  return {
    name,
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', (error) => reject(listenError(error, host, port)))
        server.listen(port, host, resolve)
      }),
    stop: (deadline) => {
      stopping ??= server.listening ? close(server, deadline) : Promise.resolve()
      return stopping
    },
    url: () => {
      const { port: taken } = server.address() as AddressInfo
      return `http://${named(host)}:${taken}`
    },
  }
}

/** The host as a URL has it; every interface is none to connect to. */
function named(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function close(server: Server, deadline: number): Promise<void> {
  return new Promise((resolve) => {
    const poll = setInterval(() => {
      if (systemClock.now() >= deadline) server.closeAllConnections()
      else server.closeIdleConnections()
    }, DRAIN_POLL_MS)
    server.close(() => {
      clearInterval(poll)
      resolve()
    })
  })
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE')
    return new Error(`port ${port} on ${host} is taken; set PORT to another one`, { cause: error })
  if (error.code === 'EACCES')
    return new Error(`port ${port} on ${host} needs privileges; set PORT to one above 1023`, { cause: error })
  return error
}

import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Config } from '../../shared/runtime/config.ts'
import { createDeadlines } from '../../shared/runtime/deadlines.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { isUnasked, owedAnswers } from './connection.ts'
import { GRPC_CONNECTIONS_SHARE } from './http2.ts'

/** The share of the maximum number of connections above which idle ones are closed, to make room for new ones. */
const CROWDED_SHARE = 0.9
/** How often to look for idle connections then; a shorter pause does not count as idle. */
const LOOK_MS = 1_000
/** How long an answer may wait for its reader to take some of it. */
export const STALL_TIMEOUT_MS = 60_000

interface ConnectionsOptions {
  readonly connectionsMax: number
  readonly lookMs?: number
  /** Whether a connection that is silent waits for this server. */
  readonly isBusy?: (socket: Socket) => boolean
  readonly metrics: Metrics
}

/** Open files that are no connections of clients: a server with all roles has 50, and more towards Kafka and Elasticsearch. */
const OTHER_FILES = 128

/**
 * The settings with no more connections than the process may open files for, those of the gRPC port included: where the system cannot
 * accept a connection, no idle one would ever be closed for it. Warns if these are fewer than configured.
 */
export function withinFileLimit<Settings extends Pick<Config, 'MAX_CONNECTIONS'>>(
  config: Settings,
  logger: Pick<Logger, 'warn'>,
  openFiles = openFilesMax(),
): Settings {
  const { MAX_CONNECTIONS } = config
  const connectionsMax = Math.max(1, Math.floor((openFiles - OTHER_FILES) / (1 + GRPC_CONNECTIONS_SHARE)))
  if (connectionsMax >= MAX_CONNECTIONS) return config
  logger.warn(
    { openFiles, MAX_CONNECTIONS, connectionsMax },
    'fewer connections than MAX_CONNECTIONS are taken, as the process may not open as many files; raise its limit (ulimit -n)',
  )
  return { ...config, MAX_CONNECTIONS: connectionsMax }
}

/** The limit of the process, which Node has raised as far as it may; infinite where it is unknown, as on Windows. */
function openFilesMax(): number {
  // A report asks the DNS for the names of the connections' ends, unless it leaves out the network.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } }
  const soft = userLimits?.open_files.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/** Whether an answer is owed, and the client has taken all that was sent of it. */
const waitsForAnswer = (socket: Socket): boolean => socket.writableLength === 0 && owedAnswers(socket).length > 0

/** The bytes that were received, and those that were sent and have left the process. */
const traffic = (socket: Socket): number => socket.bytesRead + socket.bytesWritten - socket.writableLength

/**
 * Limits the number of connections of a server. From nine tenths of `connectionsMax` on, those without traffic for `lookMs` are closed,
 * unless they wait for an answer. At the limit, each new connection takes the place of the oldest of which no request is complete; where
 * every connection has asked, the new one is closed at once.
 */
export function limitConnections(server: Server, options: ConnectionsOptions): void {
  const { connectionsMax, lookMs = LOOK_MS, isBusy = waitsForAnswer, metrics } = options
  const connections = metrics.gauge('sluice_connections')
  const refused = metrics.counter('sluice_connections_refused_total')
  /** The traffic of each connection at the last check. */
  const open = new Map<Socket, number | undefined>()
  /** The connections of which no request was complete when this was looked at, oldest first. */
  const withoutRequest = new Set<Socket>()

  function oldestWithoutRequest(): Socket | undefined {
    for (const socket of withoutRequest) {
      withoutRequest.delete(socket)
      if (socket.bytesWritten === 0 && !isBusy(socket)) return socket
    }
    return undefined
  }

  // Node's own limit, `maxConnections`, can only close the new one.
  server.on('connection', (socket: Socket) => {
    if (open.size >= connectionsMax) {
      refused.inc()
      const leaving = oldestWithoutRequest()
      if (leaving === undefined) return void socket.destroy()
      leaving.destroy()
    }
    open.set(socket, undefined)
    withoutRequest.add(socket)
    connections.inc()
    socket.once('close', () => {
      open.delete(socket)
      withoutRequest.delete(socket)
      connections.dec()
    })
  })
  const look = (): void => {
    if (open.size <= connectionsMax * CROWDED_SHARE) return
    for (const [socket, before] of open) {
      const now = traffic(socket)
      if (now === before && !isBusy(socket)) socket.destroy()
      else open.set(socket, now)
    }
  }
  // After the reads of this turn of the event loop: a connection with an unread request only seems idle.
  const timer = setInterval(() => setImmediate(look), lookMs).unref()
  server.on('close', () => clearInterval(timer))
}

/**
 * Drops a client that has taken nothing of its answer for this long. A client that still waits for its answer is not dropped, as nothing is
 * written to it yet.
 */
export function letGoOfStalled(server: HttpServer, timeoutMs = STALL_TIMEOUT_MS): void {
  // Node counts written bytes that leave as activity (net.Socket.setTimeout).
  server.timeout = timeoutMs
  server.on('timeout', (socket: Socket) => {
    if (!waitsForAnswer(socket) && !isUnasked(socket)) socket.destroy()
  })
}

/**
 * Closes connections on which nothing was asked for this long; Node's own limit, `keepAliveTimeout`, begins with the first answer. Returns a
 * function that closes all idle connections, and these, as Node does not count them as idle either.
 */
export function limitUnasked(server: HttpServer, timeoutMs: number): () => void {
  const open = new Set<Socket>()
  const deadlines = createDeadlines()
  const closeUnasked = (socket: Socket): void => {
    if (isUnasked(socket)) socket.destroy()
  }
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    // After the reads of this turn of the event loop, one of which may bring a request.
    const deadline = deadlines.add(performance.now() + timeoutMs, () => setImmediate(closeUnasked, socket))
    socket.once('close', () => {
      open.delete(socket)
      deadlines.cancel(deadline)
    })
  })
  return () => {
    // Node counts a connection as idle once its answer was handed over, even if much of the answer has not left yet.
    if (![...open].some(({ writableLength }) => writableLength > 0)) server.closeIdleConnections()
    open.forEach(closeUnasked)
  }
}

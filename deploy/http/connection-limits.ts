import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { owedAnswers } from './connection.ts'

/** The share of the maximum number of connections above which idle ones are closed, to make room for new ones. */
const CROWDED_SHARE = 0.9
/** How often to look for idle connections then; a shorter pause does not count as idle. */
const LOOK_MS = 1_000
/** How long an answer may wait for its reader to take some of it. */
export const STALL_TIMEOUT_MS = 60_000

export interface ConnectionsOptions {
  readonly connectionsMax: number
  readonly lookMs?: number
  /** Whether an answer is owed on a connection. */
  readonly isBusy?: (socket: Socket) => boolean
  readonly onOpen: () => void
  readonly onClose: () => void
  /** Called for each connection that was closed at once, as there were too many. */
  readonly onRefused: () => void
}

/** Counts the connections of a server. */
export function countedIn(metrics: Metrics): Pick<ConnectionsOptions, 'onOpen' | 'onClose' | 'onRefused'> {
  const connections = metrics.gauge('sluice_connections')
  const refused = metrics.counter('sluice_connections_refused_total')
  return { onOpen: () => connections.inc(), onClose: () => connections.dec(), onRefused: () => refused.inc() }
}

const isOwed = (socket: Socket): boolean => owedAnswers(socket).length > 0

/**
 * Limits the number of connections of a server. New ones are closed at once when there are `connectionsMax`. Before that, connections are
 * closed that owe no answer and had no traffic for `lookMs`.
 */
export function limitConnections(server: Server, options: ConnectionsOptions): void {
  const { connectionsMax, lookMs = LOOK_MS, isBusy = isOwed, onOpen, onClose, onRefused } = options
  /** The bytes that each connection had sent and received at the last check. */
  const open = new Map<Socket, number | undefined>()
  server.maxConnections = connectionsMax
  server.on('drop', onRefused)
  server.on('connection', (socket: Socket) => {
    open.set(socket, undefined)
    onOpen()
    socket.once('close', () => {
      open.delete(socket)
      onClose()
    })
  })
  const look = (): void => {
    if (open.size <= connectionsMax * CROWDED_SHARE) return
    for (const [socket, before] of open) {
      const bytes = socket.bytesRead + socket.bytesWritten
      if (bytes === before && !isBusy(socket)) socket.destroy()
      else open.set(socket, bytes)
    }
  }
  const timer = setInterval(look, lookMs).unref()
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
    const isWaiting = isOwed(socket) && socket.writableLength === 0
    if (!isWaiting) socket.destroy()
  })
}

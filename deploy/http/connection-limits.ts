import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { owedAnswers } from './connection.ts'

/** The share of all connections from which on idle ones are closed, to make room for new ones. */
const CROWDED_SHARE = 0.9
/** How often idle connections are looked for then; shorter pauses are no idleness. */
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

/** Has the connections of a server counted. */
export function countedIn(metrics: Metrics): Pick<ConnectionsOptions, 'onOpen' | 'onClose' | 'onRefused'> {
  const connections = metrics.gauge('sluice_connections')
  const refused = metrics.counter('sluice_connections_refused_total')
  return { onOpen: () => connections.inc(), onClose: () => connections.dec(), onRefused: () => refused.inc() }
}

const isOwed = (socket: Socket): boolean => owedAnswers(socket).length > 0

/**
 * Bounds how many connections a server has. New ones are closed at once when there are `connectionsMax`. Before it comes to that,
 * those are closed that owe no answer and on which nothing came or went for `lookMs`.
 */
export function limitConnections(server: Server, options: ConnectionsOptions): void {
  const { connectionsMax, lookMs = LOOK_MS, isBusy = isOwed, onOpen, onClose, onRefused } = options
  /** The bytes that came and went by each connection at the last look. */
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
 * Lets go of a client that takes nothing of its answer for so long. One that is still waiting for its answer is none: nothing is
 * written to it yet.
 */
export function letGoOfStalled(server: HttpServer, timeoutMs = STALL_TIMEOUT_MS): void {
  // Node regards bytes of a write that leave as progress (net.Socket.setTimeout).
  server.timeout = timeoutMs
  server.on('timeout', (socket: Socket) => {
    const isWaiting = isOwed(socket) && socket.writableLength === 0
    if (!isWaiting) socket.destroy()
  })
}

import { constants, performServerHandshake, type ServerHttp2Session } from 'node:http2'
import { createServer, type Server, type Socket } from 'node:net'
import { problemSaying } from '../../shared/contract/errors.ts'
import {
  answerCall,
  type CallHandler,
  GRPC_CODE,
  GRPC_TYPE,
  type GrpcCall,
  isGone,
  isGrpc,
  type Methods,
  statusTrailers,
} from '../../shared/grpc/call.ts'
import { createRequestTimes, failureOf, spanOfRequest } from '../../shared/http/request-times.ts'
import type { BaseServices } from '../../shared/role.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import type { Config } from '../../shared/runtime/config.ts'
import { createCooperative, inOneStep } from '../../shared/runtime/cooperative.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { Attributes } from '../../shared/runtime/tracing.ts'
import { answerOnSocket } from './client-error.ts'
import { destroyAfterLinger } from './closing.ts'
import { limitConnections, STALL_TIMEOUT_MS } from './connection-limits.ts'
import { CALLS_MAX, CANCELLED_MAX, GRPC_CONNECTIONS_SHARE, mayBeHttp2 } from './http2.ts'
import { createListening, type ListenAddress, type ListeningServer } from './listening.ts'

/** Node's default limit for the headers of HTTP/1.1. */
export const METADATA_BYTES_MAX = 16 * 1024

const SETTINGS = { maxConcurrentStreams: CALLS_MAX, maxHeaderListSize: METADATA_BYTES_MAX }

export interface GrpcServerOptions extends ListenAddress, Pick<BaseServices, 'logger' | 'metrics' | 'tracer'> {
  readonly methods: Methods
  readonly config: Pick<Config, 'MAX_CONNECTIONS' | 'IDLE_TIMEOUT_MS'>
  readonly stallTimeoutMs?: number
}

/**
 * Listens for gRPC without encryption, within the configured limits on connections. `stop` takes no new connection and no new call, lets
 * every call that was taken end with its answer, and cuts off the rest at the deadline.
 */
export function createGrpcServer(options: GrpcServerOptions): ListeningServer {
  const { methods, config, metrics, logger, tracer = null } = options
  const observe = createRequestTimes(metrics)
  const connections = createConnections(options, (call) => {
    const path = String(call.headers[':path'])
    const method = methods.get(path)
    const begunAt = performance.now()
    const span = tracer === null || method === undefined ? undefined : spanOfRequest(tracer, call.headers)
    call.once('close', () => {
      const sent = call.sentHeaders?.[':status']
      const status = sent === undefined ? undefined : Number(sent)
      observe(method && path, status, begunAt)
      span?.end({ name: path.slice(1), attributes: ofCall(path), failure: failureOf(status) })
    })
    if (!isGrpc(call.headers)) answerNoCall(call)
    else if (method === undefined) answerCall(call, '', unknownMethod(methods))
    else void serve(method, call, logger)
  })
  const server = createServer(connections.take)
  limitConnections(server, {
    connectionsMax: Math.ceil(config.MAX_CONNECTIONS * GRPC_CONNECTIONS_SHARE),
    isBusy: connections.isBusy,
    metrics,
  })
  return createListening('grpc', server, options, (deadline) => close(server, connections, deadline))
}

const ofCall = (path: string): Attributes => ({ 'rpc.system.name': 'grpc', 'rpc.method': path.slice(1) })

async function serve(method: CallHandler, call: GrpcCall, logger: Logger): Promise<void> {
  try {
    await method(call)
  } catch (err) {
    logger.error({ err }, 'a call failed')
    call.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
}

const unknownMethod = (methods: Methods) =>
  statusTrailers(
    GRPC_CODE.unimplemented,
    `This server takes logs, no traces and no metrics: it has the method ${[...methods.keys()].join(' ')} alone.`,
  )

/** Answers HTTP/2 that is not gRPC. A caller that is gone gets nothing. */
function answerNoCall(call: GrpcCall): void {
  if (isGone(call)) return
  const text = `This port takes gRPC (${GRPC_TYPE}). Send HTTP to the port of the setting PORT.\n`
  call.respond({ ':status': 415, 'content-type': 'text/plain; charset=utf-8' })
  call.end(text)
}

interface Connection {
  session?: ServerHttp2Session
  /** Calls that are not completely answered. */
  calls: number
}

interface Connections {
  readonly take: (socket: Socket) => void
  readonly isBusy: (socket: Socket) => boolean
  /** Takes no further calls; lets those in progress end. */
  endAll(): void
  destroyAll(): void
}

function createConnections(
  { config, stallTimeoutMs = STALL_TIMEOUT_MS }: GrpcServerOptions,
  serve: (call: GrpcCall) => void,
): Connections {
  const open = new Map<Socket, Connection>()
  /** New connections begin in turn, with other work in between, as each may bring all of its calls at once. */
  const turns = createCooperative()

  function end(socket: Socket): void {
    const session = open.get(socket)?.session
    if (session === undefined) socket.destroy()
    else session.close()
  }

  function endIdle(socket: Socket): void {
    end(socket)
    // A client that reads nothing does not notice that its connection is closed.
    destroyAfterLinger(socket)
  }

  function begin(socket: Socket, connection: Connection): void {
    if (socket.destroyed) return
    const session = performServerHandshake(socket, { settings: SETTINGS, ...CANCELLED_MAX })
    connection.session = session
    // Errors need no handling: the end of the session says it all.
    session.on('error', () => undefined)
    session.on('timeout', () => endIdle(socket))
    session.setTimeout(config.IDLE_TIMEOUT_MS)
    session.on('stream', (stream, headers) => {
      stream.on('error', () => undefined)
      connection.calls += 1
      session.setTimeout(0)
      stream.once('close', () => {
        connection.calls -= 1
        if (connection.calls === 0 && !session.destroyed) session.setTimeout(config.IDLE_TIMEOUT_MS)
      })
      // Node counts bytes that leave as activity. Before its answer, a call waits for us.
      stream.setTimeout(stallTimeoutMs)
      stream.on('timeout', () => {
        if (stream.headersSent) session.destroy()
        else stream.setTimeout(stallTimeoutMs)
      })
      serve(Object.assign(stream, { headers }))
    })
  }

  return {
    take: (socket) => {
      const connection: Connection = { calls: 0 }
      open.set(socket, connection)
      socket.on('error', () => undefined)
      socket.once('close', () => open.delete(socket))
      const destroy = (): void => void socket.destroy()
      socket.setTimeout(config.IDLE_TIMEOUT_MS, destroy)
      socket.once('readable', () => {
        socket.setTimeout(0, destroy)
        const first: Buffer | null = socket.read()
        if (first === null) return
        if (!mayBeHttp2(first)) return answerOnSocket(socket, NO_HTTP2)
        socket.unshift(first)
        void turns.run(
          'connections',
          inOneStep(() => begin(socket, connection)),
        )
      })
    },
    isBusy: (socket) => (open.get(socket)?.calls ?? 0) > 0,
    endAll: () => {
      for (const socket of open.keys()) end(socket)
    },
    destroyAll: () => {
      for (const [socket, { session }] of open) {
        session?.destroy()
        socket.destroy()
      }
    },
  }
}

const NO_HTTP2 = problemSaying(
  'malformed_request',
  'This port takes OTLP over gRPC, which is HTTP/2. Send HTTP/1.1, OTLP over HTTP too, to the port of the setting PORT.',
)

function close(server: Server, connections: Connections, deadline: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => connections.destroyAll(), Math.max(0, deadline - systemClock.now()))
    server.close(() => {
      clearTimeout(timer)
      resolve()
    })
    connections.endAll()
  })
}

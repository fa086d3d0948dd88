import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Requests of a connection, beside what Node keeps of them. */
export interface Connection {
  /** Answers whose turn has not come, oldest first; their requests have not begun. */
  readonly waiting: ServerResponse[]
  /** Whether no further request of this connection is taken. */
  closing: boolean
}

const CONNECTION = Symbol('connection')

/** Fields of a server's socket that Node keeps for itself (lib/_http_server.js, lib/_http_common.js). */
export interface HttpSocket extends Socket {
  /** The answer whose turn it is. */
  readonly _httpMessage?: ServerResponse | null
  readonly parser?: {
    /** The request whose headers came last, until its body has been read. */
    readonly incoming: IncomingMessage | null
    /** Called for each request; the parser takes 1 for a request without a body. */
    onIncoming: (request: IncomingMessage & { upgrade?: boolean }, keepAlive: boolean) => number
    /** Has it no longer read the connection. */
    unconsume?: () => void
    /** Has it stop once the present call returns; what it was given and has not looked at is an error then. */
    pause?: () => void
  } | null
  [CONNECTION]?: Connection
}

export function connectionOf(socket: Duplex): Connection {
  const own = socket as HttpSocket
  own[CONNECTION] ??= { waiting: [], closing: false }
  return own[CONNECTION]
}

/** The answers that a connection still owes, in the order of their requests. */
export function owedAnswers(socket: Duplex): readonly ServerResponse[] {
  const { _httpMessage: current, [CONNECTION]: connection } = socket as HttpSocket
  const begun = current === undefined || current === null || current.writableFinished ? [] : [current]
  return [...begun, ...(connection?.waiting ?? [])]
}

/** Whether what a connection receives belongs to the body of a request that has had its answer. */
export function isAnswered(socket: Duplex): boolean {
  const { incoming } = (socket as HttpSocket).parser ?? {}
  if (incoming === undefined || incoming === null || incoming.complete) return false
  return !owedAnswers(socket).some(({ req }) => req === incoming)
}

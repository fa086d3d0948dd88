import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** A connection's requests, as far as Node does not keep them. */
export interface Connection {
  /** Answers whose turn has not come, oldest first; their requests have not begun. */
  readonly waiting: ServerResponse[]
  /** Whether no further request of this connection is taken. */
  closing: boolean
}

const CONNECTION = Symbol('connection')

/** Private fields of a server's socket in Node (lib/_http_server.js, lib/_http_common.js). */
export interface HttpSocket extends Socket {
  /** The answer whose turn it is. */
  readonly _httpMessage?: ServerResponse | null
  readonly parser?: {
    /** The request whose headers came last, until its body has been read. */
    readonly incoming: IncomingMessage | null
    /** Called for each request; a result of 1 makes the parser treat it as a request without a body. */
    onIncoming: (request: IncomingMessage & { upgrade?: boolean }, keepAlive: boolean) => number
    /** Stops it reading the connection. */
    unconsume?: () => void
    /** Stops it once the present call returns; the rest of its input then counts as an error. */
    pause?: () => void
  } | null
  [CONNECTION]?: Connection
}

export function connectionOf(socket: Duplex): Connection {
  const own = socket as HttpSocket
  own[CONNECTION] ??= { waiting: [], closing: false }
  return own[CONNECTION]
}

/** Whether nothing was asked on a connection yet, not even in part. */
export const isUnasked = (socket: Duplex): boolean => (socket as Socket).bytesRead === 0

/** The answers that a connection still owes, in the order of their requests. */
export function owedAnswers(socket: Duplex): readonly ServerResponse[] {
  const { _httpMessage: current, [CONNECTION]: connection } = socket as HttpSocket
  const begun = current === undefined || current === null || current.writableFinished ? [] : [current]
  return [...begun, ...(connection?.waiting ?? [])]
}

/** Whether the input of a connection belongs to the body of a request that was already answered. */
export function isAnswered(socket: Duplex): boolean {
  const { incoming } = (socket as HttpSocket).parser ?? {}
  if (incoming === undefined || incoming === null || incoming.complete) return false
  return !owedAnswers(socket).some(({ req }) => req === incoming)
}

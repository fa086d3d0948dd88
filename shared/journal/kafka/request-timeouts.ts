import { Connection } from '@platformatic/kafka'

/** The longest that a timer of Node can be set to, so that the library's own limit never passes. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1

/** What the connections of a client carry as their `context`. */
export interface RequestLimits {
  readonly requestTimeoutMs: number
}

/**
 * A request that is not answered in time costs its connection, as in Kafka's own clients. The library (1.35.0) keeps the connection and
 * the request instead, and ends that request a second time when the connection is closed later. By then its place in the queue belongs
 * to another request, which is ended in its stead, or the thread dies of "op is not a function".
 */
const send = Connection.prototype.send
Connection.prototype.send = function (this: Connection, ...args: unknown[]) {
  const { requestTimeoutMs } = (this.context ?? {}) as Partial<RequestLimits>
  if (requestTimeoutMs === undefined) return Reflect.apply(send, this, args)
  const callback = args.at(-1) as (error: Error | null, answer: unknown) => void
  const timer = setTimeout(() => this.socket.destroy(), requestTimeoutMs)
  const onEnd = (error: Error | null, answer: unknown): void => {
    clearTimeout(timer)
    callback(error, answer)
  }
  return Reflect.apply(send, this, [...args.slice(0, -1), onEnd])
}

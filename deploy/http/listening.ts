import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Service } from '../../shared/runtime/lifecycle.ts'

/** An address to listen on; the port comes from a setting. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
  readonly setting: 'PORT' | 'METRICS_PORT' | 'OTLP_GRPC_PORT'
}

export interface ListeningServer extends Service {
  /** `http://host:port` with the actual port, and `localhost` if it listens on every interface; valid once started. */
  url(): string
}

/** A server as a service; `close` ends what is in progress, by the deadline at the latest. */
export function createListening(
  name: string,
  server: Server,
  { host, port, setting }: ListenAddress,
  close: (deadline: number) => Promise<void>,
): ListeningServer {
  let stopping: Promise<void> | undefined
  return {
    name,
    start: () =>
      new Promise((resolve, reject) => {
        // A connection that the system cannot accept is an error of the server as well. Without a listener it would end the process.
        server.on('error', (error) => {
          if (server.listening) process.emitWarning(error)
          else reject(listenError(error, { host, port, setting }))
        })
        server.listen(port, host, resolve)
      }),
    stop: (deadline) => {
      stopping ??= server.listening ? close(deadline) : Promise.resolve()
      return stopping
    },
    url: () => {
      const { port: taken } = server.address() as AddressInfo
      return `http://${named(host)}:${taken}`
    },
  }
}

/** Rejects where a server cannot listen at the address, with what to change; listens there for a moment. */
export async function tryListening(address: ListenAddress): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()))
  const { start, stop } = createListening('trial', server, address, close)
  await start()
  await stop(0)
}

/** The host as in a URL; clients cannot connect to the address for every interface. */
function named(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** The address is another machine's, a name that stands for none, or an IPv6 address where the system has no IPv6. */
const NO_ADDRESS: readonly (string | undefined)[] = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EAFNOSUPPORT']

function listenError(error: NodeJS.ErrnoException, { host, port, setting }: ListenAddress): Error {
  if (error.code === 'EADDRINUSE')
    return new Error(`port ${port} on ${host} is taken; set ${setting} to another one`, { cause: error })
  if (error.code === 'EACCES')
    return new Error(`port ${port} on ${host} needs privileges; set ${setting} to one above 1023`, { cause: error })
  if (NO_ADDRESS.includes(error.code))
    return new Error(
      `HOST=${host} is no address of this machine (${error.code}); set one of its own, without brackets, or 0.0.0.0 for all`,
      { cause: error },
    )
  return error
}

import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** A connection for sending raw bytes. */
export interface RawConnection {
  readonly socket: Socket
  send(...parts: readonly (string | Uint8Array)[]): void
  /** Everything received so far. */
  received(): string
  /** Resolves with everything received once the connection is closed, even by a reset. */
  readonly closed: Promise<string>
  /** The code of the error that ended it; undefined after a normal end. */
  failure(): string | undefined
}

/** Connects to a local port. Data is read at once unless `paused`. */
export function openRaw(port: number, { paused = false } = {}): RawConnection {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  let failure: string | undefined
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  if (paused) socket.pause()
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failure = error.code
  })
  socket.on('end', () => socket.end())
  return {
    socket,
    send: (...parts) => {
      for (const part of parts) socket.write(part)
    },
    received: () => received,
    closed: new Promise((resolve) => socket.on('close', () => resolve(received))),
    failure: () => failure,
  }
}

/** Sends bytes on a new connection and returns everything received until the server closed it. */
export function exchangeRaw(port: number, ...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const connection = openRaw(port)
  connection.send(...parts)
  return connection.closed
}

/** Splits received text into responses by `Content-Length`. */
export function answersIn(text: string): readonly { status: number; head: string; body: string }[] {
  const answers = []
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`no end of the headers in ${JSON.stringify(rest)}`)
    const head = rest.slice(0, end)
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
    answers.push({ status: Number(head.split(' ')[1]), head, body: rest.slice(end + 4, end + 4 + length) })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

export interface BareServer {
  readonly port: number
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly server: Server
  /** Cuts its connections; resolves when all have ended. */
  close(): Promise<void>
}

/** A bare server on a free port; `prepare` is called before it listens. */
export async function startBare(
  listener: RequestListener,
  prepare: (server: Server) => void = () => {},
  options = {},
): Promise<BareServer> {
  const server = createServer(options, listener)
  prepare(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

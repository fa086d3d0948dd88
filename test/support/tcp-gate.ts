import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A port in front of another, by which a server can be made to seem down for a while. */
export interface TcpGate {
  /** Starts listening; connections are forwarded to the target. */
  open(): Promise<void>
  /** Refuses new connections. Existing ones end between a response and the next request, as when a server stops. */
  close(): void
}

/** A response counts as complete when neither side has sent anything for this long. */
const QUIET_MS = 200
const CHECK_MS = 20

/** A gate between two ports of 127.0.0.1, initially closed. */
export function createTcpGate(port: number, target: number): TcpGate {
  const endIfAnswered = new Set<() => void>()
  let checks: NodeJS.Timeout | undefined

  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    let last = { isAnswer: true, at: performance.now() }
    const end = (): void => {
      endIfAnswered.delete(check)
      for (const socket of [client, upstream]) socket.destroy()
    }
    const check = (): void => {
      if (last.isAnswer && performance.now() - last.at > QUIET_MS) end()
    }
    const relay = (from: Socket, to: Socket, isAnswer: boolean): void => {
      from.on('data', (data) => {
        last = { isAnswer, at: performance.now() }
        to.write(data)
      })
      from.on('error', end).on('close', end)
    }
    endIfAnswered.add(check)
    relay(client, upstream, false)
    relay(upstream, client, true)
  })

  return {
    open: async () => {
      clearInterval(checks)
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    close: () => {
      server.close()
      checks = setInterval(() => {
        for (const check of endIfAnswered) check()
        if (endIfAnswered.size === 0) clearInterval(checks)
      }, CHECK_MS)
    },
  }
}

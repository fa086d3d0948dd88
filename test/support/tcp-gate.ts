import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A port in front of another, at which a server seems to be gone for a while. */
export interface TcpGate {
  /** Listens; connections that come lead to the target. */
  open(): Promise<void>
  /** Refuses connections from now on. Those that there are end between an answer and the next request, as when a server stops. */
  close(): void
}

/** An answer is over where the target has sent nothing more for so long, nor the client. */
const QUIET_MS = 200
const CHECK_MS = 20

/** A gate at a port of 127.0.0.1 to another, shut at first. */
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

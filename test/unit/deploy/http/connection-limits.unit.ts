import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { letGoOfStalled, limitConnections } from '../../../../deploy/http/connection-limits.ts'
import { eventually } from '../../../support/eventually.ts'
import { openRaw, type RawConnection, startBare } from '../../../support/raw-http.ts'

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const MAX = 10

let close: () => void
afterEach(() => close())

describe('the number of connections', () => {
  let open: number

  async function start(begin: RequestListener): Promise<() => RawConnection> {
    open = 0
    const started = await startBare(begin, (server) =>
      limitConnections(server, {
        connectionsMax: MAX,
        lookMs: 5,
        onOpen: () => {
          open += 1
        },
        onClose: () => {
          open -= 1
        },
        onRefused: () => undefined,
      }),
    )
    close = started.close
    return () => {
      const connection = openRaw(started.port)
      connection.send(GET)
      return connection
    }
  }

  test('idle ones make room when it comes near the limit, and not before', async () => {
    const connect = await start((_request, response) => void response.end('ok'))
    const idle = Array.from({ length: MAX - 1 }, connect)
    await eventually(() => idle.every(({ received }) => received().endsWith('ok')))
    for (let looks = 0; looks < 5; looks += 1) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(open).toBe(MAX - 1)
    const { closed } = connect()
    await Promise.all([...idle.map((one) => one.closed), closed])
    await eventually(() => open === 0)
  })

  test('those that wait for an answer, or are being used, are kept', async () => {
    const connect = await start((request, response) => {
      if (request.headers['x-wait'] === undefined) response.end('ok')
    })
    const waiting = Array.from({ length: MAX - 1 }, connect)
    for (const { send } of waiting) send('GET / HTTP/1.1\r\nHost: x\r\nX-Wait: 1\r\n\r\n')
    await eventually(() => waiting.every(({ received }) => received().endsWith('ok')))
    await connect().closed
    await eventually(() => open === MAX - 1)
  })
})

describe('a client that', () => {
  const TIMEOUT_MS = 40

  async function start(begin: RequestListener): Promise<number> {
    const started = await startBare(begin, (server) => letGoOfStalled(server, TIMEOUT_MS), {
      keepAliveTimeout: TIMEOUT_MS,
      keepAliveTimeoutBuffer: 0,
    })
    close = started.close
    return started.port
  }

  test('takes nothing of its answer is let go', async () => {
    const gone = Promise.withResolvers<void>()
    const port = await start((_request, response) => {
      response.on('close', gone.resolve)
      response.write('x'.repeat(16_000_000))
    })
    const { send, socket } = openRaw(port, { paused: true })
    send(GET)
    await gone.promise
    socket.destroy()
  })

  test('waits for an answer that takes its time gets it', async () => {
    let waited = 0
    const port = await start((_request, response) => {
      const timer = setInterval(() => {
        waited += 1
        if (waited < 5) return
        clearInterval(timer)
        response.end('found')
      }, TIMEOUT_MS)
    })
    const { send, received } = openRaw(port)
    send(GET)
    await eventually(() => received().endsWith('found'))
  })

  test('sends nothing after its answer is let go, too', async () => {
    const port = await start((_request, response) => void response.end('ok'))
    const { send, closed } = openRaw(port)
    send(GET)
    expect(await closed).toContain('ok')
  })
})

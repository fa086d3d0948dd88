import type { RequestListener } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { letGoOfStalled, limitConnections, withinFileLimit } from '../../../../deploy/http/connection-limits.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { eventually } from '../../../support/eventually.ts'
import { answersIn, openRaw, type RawConnection, startBare } from '../../../support/raw-http.ts'

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const WAIT = 'GET / HTTP/1.1\r\nHost: x\r\nX-Wait: 1\r\n\r\n'
const MAX = 10

describe('the limit of open files', () => {
  const settings = { MAX_CONNECTIONS: 2_000, PORT: 8080 }
  const warnings: unknown[] = []
  const logger = { warn: (fields: unknown) => void warnings.push(fields) }

  test.each([2_628, Number.POSITIVE_INFINITY])('of %d leaves room for all connections', (openFiles) => {
    expect(withinFileLimit(settings, logger, openFiles)).toBe(settings)
    expect(warnings).toEqual([])
  })

  test('below the connections lets fewer be taken, with a warning', () => {
    expect(withinFileLimit(settings, logger, 1_024)).toEqual({ MAX_CONNECTIONS: 716, PORT: 8080 })
    expect(warnings).toEqual([{ openFiles: 1_024, MAX_CONNECTIONS: 2_000, connectionsMax: 716 }])
  })

  test('of this process is found', () => {
    const one = { MAX_CONNECTIONS: Number.MAX_SAFE_INTEGER }
    expect(withinFileLimit(one, logger).MAX_CONNECTIONS).toBeLessThan(one.MAX_CONNECTIONS)
  })
})

let close = async (): Promise<void> => undefined
afterEach(async () => {
  vi.useRealTimers()
  await close()
})

describe('the number of connections', () => {
  interface Counted {
    readonly connect: (sent?: string) => RawConnection
    readonly open: () => Promise<number | undefined>
    readonly refused: () => Promise<number | undefined>
  }

  async function start(begin: RequestListener, lookMs = 5): Promise<Counted> {
    const metrics = createMetrics()
    const started = await startBare(begin, (server) =>
      limitConnections(server, { connectionsMax: MAX, lookMs, metrics }),
    )
    close = started.close
    const connect = (sent = GET): RawConnection => {
      const connection = openRaw(started.port)
      connection.send(sent)
      return connection
    }
    return {
      connect,
      open: async () => (await metrics.gauge('sluice_connections').get()).values[0]?.value,
      refused: async () => (await metrics.counter('sluice_connections_refused_total').get()).values[0]?.value,
    }
  }

  test('idle ones make room when it comes near the limit, and not before', async () => {
    const { connect, open } = await start((_request, response) => void response.end('ok'))
    const idle = Array.from({ length: MAX - 1 }, () => connect())
    await eventually(() => idle.every(({ received }) => received().endsWith('ok')))
    for (let looks = 0; looks < 5; looks += 1) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await open()).toBe(MAX - 1)
    const { closed } = connect()
    await Promise.all([...idle.map((one) => one.closed), closed])
    await eventually(async () => (await open()) === 0)
  })

  test('those that wait for an answer, or are being used, are kept', async () => {
    const { connect, open } = await start((request, response) => {
      if (request.headers['x-wait'] === undefined) response.end('ok')
    })
    const waiting = Array.from({ length: MAX - 1 }, () => connect())
    for (const { send } of waiting) send(WAIT)
    await eventually(() => waiting.every(({ received }) => received().endsWith('ok')))
    await connect().closed
    await eventually(async () => (await open()) === MAX - 1)
  })

  test('those on which a request has just arrived are kept', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const { connect } = await start((_request, response) => void response.end('ok'))
    const idle = Array.from({ length: MAX }, () => connect())
    await eventually(() => idle.every(({ received }) => received().endsWith('ok')))
    vi.advanceTimersToNextTimer()
    await nextTurn()
    // The system has it at once; the server reads it in a later turn of the event loop.
    for (const { send } of idle) send(GET)
    vi.advanceTimersToNextTimer()
    await eventually(() => idle.every(({ received }) => answersIn(received()).length === 2))
  })

  test('those that take nothing of their answers make room, too', async () => {
    let begun = 0
    const { connect, open } = await start((request, response) => {
      begun += 1
      if (request.headers['x-wait'] === undefined) response.end('x'.repeat(16_000_000))
    }, 300)
    const unread = Array.from({ length: MAX - 1 }, () => connect())
    for (const { socket } of unread) socket.pause()
    const waiting = connect(WAIT)
    await eventually(() => begun === MAX)
    await eventually(async () => Number(await open()) < MAX)
    for (const { socket } of unread) socket.destroy()
    await eventually(async () => (await open()) === 1)
    waiting.socket.destroy()
  })

  test('at the limit, new ones take the place of the oldest without a request', async () => {
    const { connect, open, refused } = await start((_request, response) => void response.end('ok'), 60_000)
    const asked = connect()
    await eventually(() => asked.received().endsWith('ok'))
    const silent: RawConnection[] = []
    for (let number = 1; number < MAX; number += 1) {
      silent.push(connect('GET / HTTP/1.1\r\nHost:'))
      await eventually(async () => (await open()) === 1 + number)
    }
    const late = [connect(), connect()]
    await eventually(() => late.every(({ received }) => received().endsWith('ok')))
    await Promise.all(silent.slice(0, 2).map(({ closed }) => closed))
    expect([await open(), await refused()]).toEqual([MAX, 2])
    silent[2]?.send(' x\r\n\r\n')
    asked.send(GET)
    await eventually(() => silent[2]?.received().endsWith('ok') === true && answersIn(asked.received()).length === 2)
  })

  test('at the limit, new ones are closed where all have asked', async () => {
    const { connect, open, refused } = await start((_request, response) => void response.end('ok'), 60_000)
    const all = Array.from({ length: MAX }, () => connect())
    await eventually(() => all.every(({ received }) => received().endsWith('ok')))
    expect(await connect().closed).toBe('')
    expect([await open(), await refused()]).toEqual([MAX, 1])
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

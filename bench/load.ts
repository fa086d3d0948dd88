import { connect, type Socket } from 'node:net'
import { createAnswerReader } from './answers.ts'

export interface Load {
  readonly url: string
  /** Sent in turn, repeatedly. */
  readonly bodies: readonly (string | Uint8Array)[]
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
  readonly seconds: number
  /** Ends after this many requests, if that is sooner. */
  readonly requestsMax?: number
  /** Requests offered per second, regardless of responses; unset: as many as the connections can carry. */
  readonly rate?: number
  /** The beginning of a successful response's body. */
  readonly goodAnswer?: string
}

export interface LoadResult {
  /** Successful responses, including late ones: every request is awaited. */
  readonly answered: number
  readonly requestsPerSecond: number
  /** Milliseconds; at a fixed rate measured from when a request was due, not from when it could be sent. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

/** Maximum wait for outstanding responses after the end. */
const TAIL_MS = 30_000

/**
 * Sends POST requests over persistent connections, one at a time on each, and waits for every response. Uses bare sockets, to take as
 * little as possible of the machine that it shares with the measured program.
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const url = new URL(load.url)
  const requests = load.bodies.map((body) => requestOf(url, body, load.headers))
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(url)))
  try {
    return await drive(sockets, requests, load)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

function drive(sockets: readonly Socket[], requests: readonly Buffer[], load: Load): Promise<LoadResult> {
  const { seconds, rate, requestsMax = Number.POSITIVE_INFINITY, goodAnswer = '{"success":true' } = load
  const latencies: number[] = []
  const idle: (() => void)[] = []
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1_000
  let sent = 0
  let answered = 0
  let failed = 0
  let outstanding = 0
  let lastAnswerAt = startedAt

  /** When the next request is due. */
  const due = (now: number): number => (rate === undefined ? now : startedAt + (sent * 1_000) / rate)

  return new Promise((resolve) => {
    const finish = (): void => {
      clearInterval(ticks)
      clearTimeout(tail)
      latencies.sort((a, b) => a - b)
      resolve({
        answered,
        requestsPerSecond: answered / ((lastAnswerAt - startedAt) / 1_000),
        p50Ms: quantile(latencies, 0.5),
        p99Ms: quantile(latencies, 0.99),
        failed: failed + outstanding,
      })
    }
    const lane = (socket: Socket): (() => void) => {
      let dueAt: number | null = null
      const send = (): void => {
        const now = performance.now()
        dueAt = due(now)
        outstanding += 1
        socket.write(requests[sent++ % requests.length] as Buffer)
      }
      const settle = (good: boolean): void => {
        const now = performance.now()
        if (dueAt === null) return
        outstanding -= 1
        if (good) {
          answered += 1
          latencies.push(now - dueAt)
          lastAnswerAt = now
        } else failed += 1
        dueAt = null
        if (!socket.destroyed) idle.push(send)
        next(now)
      }
      const read = createAnswerReader(({ status, body }) => settle(status === 200 && body.startsWith(goodAnswer)))
      socket.on('data', read)
      socket.on('close', () => settle(false))
      socket.on('error', () => socket.destroy())
      return send
    }
    /** Sends due requests; finishes when there is nothing left to send and nothing outstanding. */
    const next = (now: number): void => {
      while (idle.length > 0 && now < endsAt && sent < requestsMax && due(now) <= now) idle.shift()?.()
      if (outstanding === 0 && (now >= endsAt || sent >= requestsMax || idle.length === 0)) finish()
    }
    const ticks = setInterval(() => next(performance.now()), 1)
    const tail = setTimeout(finish, seconds * 1_000 + TAIL_MS)
    for (const socket of sockets) idle.push(lane(socket))
    next(performance.now())
  })
}

const open = (url: URL): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })

function requestOf(url: URL, body: string | Uint8Array, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries({
    host: url.host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n`), Buffer.from(body)])
}

/** A quantile (`share` from 0 to 1) of sorted values; NaN if there are none. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

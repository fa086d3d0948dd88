import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ROW_TEXT_CHARACTERS_MAX } from '../../../shared/contract/rows.ts'
import {
  type LogStoreReader,
  PAGE_BYTES_MAX,
  ReadTooLargeError,
  TailCursorError,
} from '../../../shared/log-store/log-store.ts'
import { ROUTES } from '../../../views/api/routes.ts'
import { eventually } from '../../support/eventually.ts'
import {
  applicationLog,
  at,
  eventLog,
  KEY_A,
  KEY_B,
  startViews,
  type ViewsFixture,
} from '../../support/views-fixture.ts'

const config = { READ_BUFFER_BYTES: 64 * 1024 * 1024, READ_DEADLINE_MS: 10_000 }

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const held = async (): Promise<number> =>
  Number(/^sluice_read_bytes (\d+)$/m.exec(await views.metrics.registry.metrics())?.[1])

/** Asks; the answer is read when the test does. */
const ask = (
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(views.url)
    const { method = 'GET', headers = {} } = options
    request({ port, path, method, headers: { 'x-api-key': KEY_A, ...headers } }, resolve)
      .on('error', reject)
      .end()
  })

/** Views over a store of which one call is another. */
async function startOver(store: Partial<LogStoreReader>, more: Partial<typeof config> = {}): Promise<void> {
  await views.close()
  views = await startViews({ store, config: { ...config, ...more } })
}

/** A call that ends with its signal. */
const endless = (signals: AbortSignal[]) => (signal: AbortSignal | undefined) => {
  if (signal === undefined) throw new Error('a read without a signal')
  signals.push(signal)
  return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

describe('an item of a list', () => {
  const LONG = 'x'.repeat(100_000)

  test('has the beginning of a long text and says so; by its id it is whole', async () => {
    const entry = applicationLog({ message: LONG, exception: 'short', correlationKey: 'k', scopeData: { a: LONG } })
    views.store.add(entry)
    const item = { message: LONG.slice(0, ROW_TEXT_CHARACTERS_MAX), scopeData: {}, truncated: ['message', 'scopeData'] }
    for (const path of ['/api/application-logs', '/api/flows/k'])
      expect((await views.get<{ items: unknown[] }>(path)).data.items).toMatchObject([item])
    const context = `/api/application-logs/${entry.id}/context`
    views.store.add(applicationLog({ message: LONG, timestamp: at(1) }))
    expect((await views.get(context)).data).toMatchObject({
      entry: { message: LONG },
      after: [{ truncated: ['message'] }],
    })
    const { data } = await views.get(`/api/application-logs/${entry.id}`)
    expect([data['message'], 'truncated' in data]).toEqual([LONG, false])
    const file = await views.get('/api/application-logs/export')
    expect(JSON.parse(file.text.split('\n')[1] ?? '')).toMatchObject({ message: LONG })
  })

  test('without long texts has no word of it', async () => {
    views.store.add(eventLog())
    expect((await views.get<{ items: object[] }>('/api/event-logs')).data.items[0]).not.toHaveProperty('truncated')
  })
})

describe('an answer is compressed for whoever takes that', () => {
  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
    ['zstd', zstdDecompressSync],
  ] as const)('with %s', async (coding, decompress) => {
    views.store.add(...Array.from({ length: 200 }, (_, index) => eventLog({ timestamp: at(index) })))
    const plain = Buffer.concat(await (await ask('/api/event-logs?limit=200')).toArray())
    const response = await ask('/api/event-logs?limit=200', { headers: { 'accept-encoding': coding } })
    const body = Buffer.concat(await response.toArray())
    expect(response.headers).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' })
    expect(Number(response.headers['content-length'])).toBe(body.length)
    expect(body.length).toBeLessThan(plain.length / 5)
    expect(decompress(body).equals(plain)).toBe(true)
  })

  test('not where it is short, or nobody asked', async () => {
    const short = await ask('/api/event-logs', { headers: { 'accept-encoding': 'gzip' } })
    expect(short.headers['content-encoding']).toBeUndefined()
    short.resume()
  })
})

describe('HEAD', () => {
  test.each(ROUTES.map(({ path }) => path))('does not do the work of %s', async (path) => {
    const entry = path.includes('event-logs') ? eventLog() : applicationLog({ correlationKey: 'k' })
    views.store.add(entry)
    const target = path.replace(':id', entry.id).replace(':correlationKey', 'k').replace(':other', 'k')
    const response = await ask(target, { method: 'HEAD' })
    expect(response.statusCode).toBe(200)
    expect(await response.toArray()).toEqual([])
    expect(views.store.calls.filter((name) => name !== 'get' && name !== 'flow')).toEqual([])
    const whole = await ask(target)
    expect(response.headers['content-type']).toBe(whole.headers['content-type'])
    whole.destroy()
  })

  test('tells what is not there, and what cannot be asked', async () => {
    const id = '01981f2e-7c1a-7000-8000-9a3c5b7d1e42'
    for (const path of [
      `/api/event-logs/${id}`,
      `/api/event-logs/${id}/details`,
      '/api/flows/k',
      '/api/flows/k/export',
    ])
      expect((await ask(path, { method: 'HEAD' })).statusCode).toBe(404)
    expect((await ask('/api/event-logs?limit=x', { method: 'HEAD' })).statusCode).toBe(400)
  })
})

describe('a read that takes too long', () => {
  const READS = [
    ...['', '/histogram', '/facets', '/groups', '/series'].map((path) => `/api/event-logs${path}`),
    ...['/api/flows', '/api/flows/k', '/api/flows/statistics', '/api/flows/k/compare/k'],
  ]

  test.each(READS)('is ended in the store, and its reader is told what to change: %s', async (path) => {
    const signals: AbortSignal[] = []
    const end = endless(signals)
    await startOver(
      {
        search: (_filter, _page, signal) => end(signal),
        histogram: (_filter, _buckets, signal) => end(signal),
        facets: (_filter, _values, signal) => end(signal),
        groups: (_filter, _by, _limits, signal) => end(signal),
        series: (_filter, _request, signal) => end(signal),
        searchFlows: (_filter, _page, signal) => end(signal),
        flow: (_team, _key, signal) => end(signal),
      },
      { READ_DEADLINE_MS: 100 },
    )
    const answer = await views.get(path)
    expect(answer).toMatchObject({
      status: 422,
      error: {
        code: 'query_too_expensive',
        retryable: false,
        message: expect.stringMatching(/Narrow it: a shorter range/),
      },
    })
    // The waits of flows are given up before, so that there is time left for the read itself.
    expect(new Set(signals.map(({ aborted }) => aborted))).toEqual(new Set([true]))
    expect(await held()).toBe(0)
  })

  test.each([
    ['says so', () => Promise.resolve({ name: 'log-store', ready: false, reason: 'no answer' })],
    ['says nothing', () => new Promise<never>(() => undefined)],
  ])('is not blamed on its reader if the store does not answer, and %s', async (_what, health) => {
    await startOver({ search: (_filter, _page, signal) => endless([])(signal), health }, { READ_DEADLINE_MS: 100 })
    expect(await views.get('/api/event-logs')).toMatchObject({
      status: 503,
      error: { code: 'server_error', retryable: true },
    })
  })

  test('or too much memory is told so too', async () => {
    await startOver({ facets: () => Promise.reject(new ReadTooLargeError('too much')) })
    expect(await views.get('/api/event-logs/facets')).toMatchObject({
      status: 422,
      error: { code: 'query_too_expensive' },
    })
  })

  test('is ended when its reader goes', async () => {
    const signals: AbortSignal[] = []
    const end = endless(signals)
    await startOver({ search: (_filter, _page, signal) => end(signal) })
    const { port } = new URL(views.url)
    const going = request({ port, path: '/api/event-logs', headers: { 'x-api-key': KEY_A } })
    going.on('error', () => undefined).end()
    await eventually(() => signals.length === 1)
    going.destroy()
    await eventually(() => signals[0]?.aborted)
    await eventually(async () => (await held()) === 0)
  })

  test('of one Team leaves another its turn, and the Team is told when it has too many', async () => {
    const signals: AbortSignal[] = []
    const end = endless(signals)
    await startOver({
      search: (filter, _page, signal) =>
        filter.team === 'a' ? end(signal) : Promise.resolve({ entries: [], next: null }),
    })
    const all = Array.from({ length: 90 }, () => views.get('/api/event-logs'))
    const limited = await Promise.any(all)
    expect(limited).toMatchObject({ status: 429, error: { code: 'rate_limited', retryable: true } })
    expect(limited.headers.get('retry-after')).toBe('1')
    expect((await views.get('/api/event-logs', { 'x-api-key': KEY_B })).status).toBe(200)
    expect(signals.length).toBeLessThan(10)
    await views.close()
    await Promise.allSettled(all)
    views = await startViews()
  })
})

test('reads that need no store begin one in a turn of the event loop', async () => {
  let turn = 0
  const turns: number[] = []
  await views.close()
  views = await startViews({
    refusals: {
      of: () => {
        turns.push(turn)
        return []
      },
    },
  })
  const { port } = new URL(views.url)
  const sockets = Array.from({ length: 20 }, () => connect(Number(port), '127.0.0.1'))
  const ask = (path: string) => {
    for (const socket of sockets) socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY_A}\r\n\r\n`)
    return Promise.all(sockets.map((socket) => once(socket, 'data')))
  }
  // The server accepts one connection in a turn, so that requests on new ones never arrive together.
  await ask('/elsewhere')
  const count = (): void => {
    turn += 1
    if (turns.length < sockets.length) setImmediate(count)
  }
  count()
  await ask('/api/refusals')
  expect(new Set(turns).size).toBe(sockets.length)
  for (const socket of sockets) socket.destroy()
})

describe('the bytes of reads', () => {
  test('are held until their readers take them', async () => {
    views.store.add(
      ...Array.from({ length: 1_000 }, (_, index) => eventLog({ payload: 'x'.repeat(4_000), timestamp: at(index) })),
    )
    // More than the buffers of the connection take.
    const count = 8
    const socket = connect(Number(new URL(views.url).port), '127.0.0.1')
    socket.write(`GET /api/event-logs?limit=1000 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY_A}\r\n\r\n`.repeat(count))
    await eventually(() => views.store.calls.length === count)
    await eventually(async () => (await held()) > 8_000_000)
    socket.resume()
    await eventually(async () => (await held()) === 0)
    socket.pause()
    socket.write(`GET /api/event-logs?limit=1000 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY_A}\r\n\r\n`.repeat(count))
    await eventually(() => views.store.calls.length === 2 * count)
    await eventually(async () => (await held()) > 8_000_000)
    socket.destroy()
    await eventually(async () => (await held()) === 0)
  })

  test('of an export are those of a page, which is read when the one before was taken', async () => {
    views.store.add(
      ...Array.from({ length: 1_000 }, (_, index) => eventLog({ payload: 'x'.repeat(20_000), timestamp: at(index) })),
    )
    const unread = await ask('/api/event-logs/export')
    await eventually(() => views.store.calls.length >= 1)
    expect(await held()).toBe(2 * PAGE_BYTES_MAX)
    const before = views.store.calls.length
    expect(before).toBeLessThan(3)
    const text = Buffer.concat(await unread.toArray()).toString()
    expect(text.split('\n')).toHaveLength(1_001)
    await eventually(async () => (await held()) === 0)
  })
})

test('a place to resume from that no tail gave out is the sender’s mistake', async () => {
  const cursor = Buffer.from(JSON.stringify(['tail', 'no such place'])).toString('base64url')
  await startOver({ tail: () => Promise.reject(new TailCursorError('none of ours')) })
  const answer = await views.get('/api/event-logs/tail', { 'x-api-key': KEY_A, 'last-event-id': cursor })
  expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_request', details: [{ path: 'lastEventId' }] } })
})

import type { IncomingHttpHeaders } from 'node:http'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type Client,
  type ClientOptions,
  createClient,
  type Dropped,
  type LogInput,
  type Retry,
} from '../../../../clients/typescript/src/index.ts'
import { eventually } from '../../../support/eventually.ts'
import { startBare } from '../../../support/raw-http.ts'

interface Sent {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly at: number
}

interface Answered {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** A server's reaction to a request; undefined: it never answers; 'drip': its answer never ends. */
type Decide = (sent: Sent, number: number) => Answered | undefined | 'cut' | 'drip'

const STORED: Answered = { body: { success: true, data: {} } }
const refusal = (code: string, more: object = {}): object => ({
  success: false,
  error: { code, message: `because of ${code}`, details: null, retryable: false, ...more },
})
const entriesOf = ({ body }: Sent): readonly { message: string }[] => JSON.parse(body).logEntries
const messagesOf = (requests: readonly Sent[]): readonly string[] =>
  requests.flatMap((sent) => entriesOf(sent).map(({ message }) => message))
const entry = (message: string, more: Partial<LogInput> = {}): LogInput => ({
  categoryName: 'Test',
  message,
  level: 'Information',
  ...more,
})

let decide: Decide
let requests: Sent[]
let dropped: Dropped[]
let retries: Retry[]
let clients: Client[]
let server: Awaited<ReturnType<typeof startBare>>

beforeEach(async () => {
  decide = () => STORED
  requests = []
  dropped = []
  retries = []
  clients = []
  server = await startBare((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const sent = { path: request.url ?? '', headers: request.headers, body, at: performance.now() }
      requests.push(sent)
      const answer = decide(sent, requests.length)
      if (answer === undefined) return
      if (answer === 'cut') return void response.destroy()
      if (answer === 'drip') return void response.write('{"success":')
      response.writeHead(answer.status ?? 200, answer.headers)
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
    })
  })
})

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await server.close()
})

function clientWith(options: Partial<ClientOptions> = {}): Client {
  const client = createClient({
    url: `http://127.0.0.1:${server.port}`,
    apiKey: 'key',
    project: 'project-1',
    minBackOffMs: 1,
    maxBackOffMs: 2,
    onDropped: (report) => dropped.push(report),
    onRetry: (retry) => retries.push(retry),
    ...options,
  })
  clients.push(client)
  return client
}

describe('what is sent', () => {
  test('application logs go together, with the key, the Project, a time and the environment', async () => {
    const client = clientWith({ environment: 'Production', apiKey: ' key\n' })
    expect(client.log(entry('one', { exception: new Error('no'), scopeData: { n: 1n } }))).toBe(true)
    client.log(entry('two', { environment: 'Test', timestamp: '2026-01-31T09:30:00Z' }))
    await client.flush()
    expect(requests).toMatchObject([
      {
        path: '/api/ApplicationLogs/batch',
        headers: {
          'x-api-key': 'key',
          'content-type': 'application/json',
          'x-strict-status': 'true',
          'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/),
        },
      },
    ])
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      uniqueIdentifier: 'project-1',
      logEntries: [
        {
          categoryName: 'Test',
          message: 'one',
          level: 'Information',
          environment: 'Production',
          timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
          exception: expect.stringMatching(/^Error: no\n {4}at /),
          scopeData: { n: 1 },
        },
        expect.objectContaining({ message: 'two', environment: 'Test', timestamp: '2026-01-31T09:30:00Z' }),
      ],
    })
    expect(client.stats()).toEqual({ stored: 2, refused: 0, dropped: 0, pending: 0, pendingBytes: 0, retries: 0 })
  })

  test('an exception of any kind becomes text', async () => {
    const client = clientWith()
    for (const exception of [runInNewContext("new TypeError('no')"), { code: 'E42' }, 'a text', null])
      client.log(entry('one', { exception }))
    await client.flush()
    const { logEntries } = JSON.parse(requests[0]?.body ?? '')
    expect(logEntries.map(({ exception }: LogInput) => exception)).toEqual([
      expect.stringMatching(/^TypeError: no\n/),
      '{"code":"E42"}',
      'a text',
      null,
    ])
  })

  test('event logs go one by one, below the path of the address', async () => {
    const client = clientWith({ url: `http://127.0.0.1:${server.port}/logs` })
    client.event({ uniqueIdentifier: 'order', payload: { id: 1 }, level: 'error' })
    client.event({ uniqueIdentifier: 'order', payload: 'text', level: 'Error' })
    await client.flush()
    expect(requests.map(({ path }) => path)).toEqual(['/logs/api/ExternalLogs', '/logs/api/ExternalLogs'])
    expect(requests.map(({ body }) => JSON.parse(body).payload).toSorted()).toEqual(['text', '{"id":1}'])
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(2)
  })

  test('a batch is complete by its entries, by its bytes, and by the time of its first entry', async () => {
    const client = clientWith({ maxBatchEntries: 3, maxBatchBytes: 1_000, maxDelayMs: 30, maxInFlight: 1 })
    for (let index = 0; index < 4; index += 1) client.log(entry(`${index}`))
    await eventually(() => expect(requests.map((sent) => entriesOf(sent).length)).toEqual([3, 1]))
    client.log(entry('a'.repeat(600)))
    client.log(entry('b'.repeat(600)))
    client.log(entry('c'.repeat(2_000)))
    await client.flush()
    expect(requests.slice(2).map((sent) => entriesOf(sent).map(({ message }) => message[0]))).toEqual([
      ['a'],
      ['b'],
      ['c'],
    ])
  })

  test('no more requests than allowed are under way', async () => {
    decide = () => undefined
    const client = clientWith({ maxBatchEntries: 1, maxInFlight: 2, closeTimeoutMs: 50 })
    for (let index = 0; index < 5; index += 1) client.log(entry(`${index}`))
    await eventually(() => expect(requests).toHaveLength(2))
    await client.close()
    expect(requests).toHaveLength(2)
  })

  test('options that cannot be are told at once', () => {
    expect(() => clientWith({ url: 'http://' })).toThrow('Invalid URL')
    for (const url of [
      'logs.example',
      '127.0.0.1:8080',
      'localhost:8080',
      'ftp://logs.example',
      'https://name:password@logs.example',
    ])
      expect(() => clientWith({ url })).toThrow('url has to begin with http:// or https://, and to hold no password.')
    expect(() => clientWith({ apiKey: 'two\nlines' })).toThrow('invalid header value')
    expect(() => clientWith({ url: '' })).toThrow('url has to be given.')
    expect(() => clientWith({ apiKey: '' })).toThrow('apiKey has to be given.')
    expect(() => clientWith({ maxBatchEntries: 0 })).toThrow('maxBatchEntries has to be a number above 0')
    expect(() => clientWith({ maxDelayMs: Number.NaN })).toThrow('maxDelayMs')
  })
})

describe('what is sent again', () => {
  test.each<[string, ReturnType<Decide>]>([
    ['a broken connection', 'cut'],
    ['no answer in time', undefined],
    ['an answer that does not end in time', 'drip'],
    [
      'an unconfirmed entry',
      {
        status: 207,
        body: {
          success: true,
          data: { rejected: 1, errors: [{ index: 1, code: 'server_error', message: '', retryable: true }] },
        },
      },
    ],
    [
      'a journal that is away',
      { status: 503, headers: { 'retry-after': '0' }, body: refusal('server_error', { retryable: true }) },
    ],
    ['a proxy without a server behind it', { status: 502, body: '<html>' }],
    ['a page of something else', { status: 200, body: '<html>' }],
    ['an answer that is far too long', { status: 200, body: 'x'.repeat(5_000_000) }],
  ])('after %s: the same bytes under the same key', async (_what, trouble) => {
    decide = (_sent, number) => (number <= 2 ? trouble : STORED)
    const client = clientWith({ requestTimeoutMs: trouble === undefined || trouble === 'drip' ? 50 : 5_000 })
    client.log(entry('ä'))
    client.log(entry('two'))
    await client.flush()
    // A slow machine may take longer for an answer than the time that a request has here, which may also end before the request is seen.
    expect(requests.length).toBeGreaterThanOrEqual(3)
    expect(retries.length).toBeGreaterThanOrEqual(requests.length - 1)
    expect(new Set(requests.map(({ body, headers }) => `${headers['idempotency-key']} ${body}`)).size).toBe(1)
    expect(client.stats()).toMatchObject({ stored: 2, retries: retries.length, pending: 0 })
    expect(retries.map(({ failures }) => failures)).toEqual(retries.map((_, index) => index + 1))
    expect(dropped).toEqual([])
  })

  test('a server that is not there yet', async () => {
    const { port } = server
    await server.close()
    const client = clientWith({ url: `http://127.0.0.1:${port}`, closeTimeoutMs: 50 })
    client.log(entry('early'))
    await eventually(() => expect(retries.at(-1)).toMatchObject({ cause: expect.stringContaining('ECONNREFUSED') }))
    expect(client.stats()).toMatchObject({ pending: 1 })
  })

  test('a server without TLS says how its address begins', async () => {
    const client = clientWith({ url: `https://127.0.0.1:${server.port}`, closeTimeoutMs: 50 })
    client.log(entry('secret'))
    await eventually(() => expect(retries.at(-1)).toMatchObject({ cause: expect.stringContaining('http://') }))
  })

  test('a batch that fails for reasons of its own keeps no other waiting', async () => {
    decide = (sent) => (sent.body.includes('poison') ? 'cut' : STORED)
    const client = clientWith({ maxBatchEntries: 1, maxInFlight: 1, closeTimeoutMs: 50 })
    for (const message of ['poison', 'one', 'two', 'three']) client.log(entry(message))
    await eventually(() => expect(client.stats()).toMatchObject({ stored: 3, pending: 1 }))
  })

  test('one request at a time asks a server in trouble, and then all go on', async () => {
    let isDown = true
    let underWay = 0
    decide = () => (isDown ? 'cut' : STORED)
    const counted: typeof fetch = async (...request) => {
      underWay += 1
      if (retries.length > 0 && isDown) expect(underWay).toBe(1)
      return fetch(...request).finally(() => {
        underWay -= 1
      })
    }
    const client = clientWith({ maxBatchEntries: 1, fetch: counted })
    for (let index = 0; index < 20; index += 1) client.log(entry(`${index}`))
    await eventually(() => expect(retries.length).toBeGreaterThan(5))
    isDown = false
    await client.flush()
    expect(client.stats()).toMatchObject({ stored: 20, pending: 0 })
  })
})

describe('what the server asks to wait', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** Answers without a network, so that the time can be turned by hand. */
  const scripted = (...answers: readonly Response[]): { readonly fetch: typeof fetch; readonly times: number[] } => {
    const times: number[] = []
    const left = [...answers]
    return {
      times,
      fetch: async () => {
        times.push(performance.now())
        return left.shift() ?? Response.json({ success: true, data: {} })
      },
    }
  }

  test.each([429, 503])('%i: nothing is sent before Retry-After is over, not even by flush', async (status) => {
    const { fetch, times } = scripted(new Response('', { status, headers: { 'retry-after': '20' } }))
    const client = clientWith({ fetch })
    client.log(entry('one'))
    const flushed = client.flush()
    await vi.advanceTimersByTimeAsync(10_000)
    void client.flush()
    client.event({ uniqueIdentifier: 'e', payload: 'x', level: 'Error' })
    await vi.advanceTimersByTimeAsync(9_999)
    expect(times).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(10)
    await flushed
    expect(times).toHaveLength(3)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(20_000)
  })

  test('without one the pauses grow, and a flush does not wait for their end', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1)
    const failing = Array.from({ length: 8 }, () => new Response('', { status: 500 }))
    const { fetch, times } = scripted(...failing)
    const client = clientWith({ fetch, minBackOffMs: 1_000, maxBackOffMs: 16_000, maxDelayMs: 1 })
    client.log(entry('one'))
    await vi.advanceTimersByTimeAsync(63_000)
    const gaps = times.map((time, index) => Math.round((time - (times[index - 1] ?? time)) / 1_000))
    expect(gaps).toEqual([0, 1, 2, 4, 8, 16, 16])
    void client.flush()
    await vi.advanceTimersByTimeAsync(1)
    expect(times).toHaveLength(8)
    vi.restoreAllMocks()
  })
})

describe('what is refused', () => {
  test('single entries are reported with their place, their content and the reason; the others are stored', async () => {
    decide = () => ({
      status: 207,
      body: {
        success: true,
        data: {
          count: 2,
          rejected: 1,
          errors: [
            { index: 1, code: 'entry_too_large', message: 'Shorten it.', details: { limit: 5 }, retryable: false },
          ],
        },
      },
    })
    const client = clientWith()
    for (const message of ['one', 'two', 'three']) client.log(entry(message))
    await client.flush()
    expect(dropped).toEqual([
      {
        count: 1,
        reason: 'refused',
        code: 'entry_too_large',
        message: 'Shorten it.',
        refused: [
          {
            index: 1,
            code: 'entry_too_large',
            message: 'Shorten it.',
            details: { limit: 5 },
            entry: expect.objectContaining({ message: 'two' }),
          },
        ],
      },
    ])
    expect(client.stats()).toMatchObject({ stored: 2, refused: 1, pending: 0 })
  })

  test('a key that does not open costs the batch, which is reported in the words of the server', async () => {
    decide = () => ({ status: 403, body: refusal('invalid_api_key') })
    const client = clientWith()
    client.log(entry('one'))
    client.log(entry('two'))
    await client.flush()
    expect(dropped).toMatchObject([
      { count: 2, reason: 'refused', code: 'invalid_api_key', message: 'because of invalid_api_key' },
    ])
    expect(dropped[0]?.refused.map(({ entry }) => (entry as { message: string }).message)).toEqual(['one', 'two'])
    decide = () => STORED
    client.log(entry('three'))
    await client.flush()
    expect(client.stats()).toMatchObject({ stored: 1, refused: 2, pending: 0 })
  })

  test('a batch that has too many entries is sent in parts, and later ones are smaller', async () => {
    decide = (sent) =>
      entriesOf(sent).length > 10
        ? { status: 413, body: refusal('batch_too_large', { details: { limit: 10 } }) }
        : STORED
    const client = clientWith({ maxInFlight: 1 })
    const messages = Array.from({ length: 25 }, (_, index) => `${index}`)
    for (const message of messages) client.log(entry(message))
    await client.flush()
    const taken = requests.filter((sent) => entriesOf(sent).length <= 10)
    expect(messagesOf(taken).toSorted()).toEqual(messages.toSorted())
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(requests.length)
    const before = requests.length
    for (let index = 0; index < 20; index += 1) client.log(entry(`${index}`))
    await client.flush()
    expect(requests.slice(before).map((sent) => entriesOf(sent).length)).toEqual([10, 10])
    expect([client.stats(), dropped]).toMatchObject([{ stored: 45, refused: 0, pending: 0 }, []])
  })

  test('an entry that no proxy lets through is reported, and holds up nothing', async () => {
    decide = ({ body }) => (body.length > 10_000 ? { status: 413, body: '<html>' } : STORED)
    const client = clientWith()
    for (const message of ['one', 'x'.repeat(20_000), 'two']) client.log(entry(message))
    await client.flush()
    expect(dropped).toMatchObject([{ count: 1, reason: 'refused', code: 'http_413' }])
    expect(client.stats()).toMatchObject({ stored: 2, refused: 1, pending: 0 })
  })

  test('a batch of which parts may be stored is not divided', async () => {
    decide = (_sent, number) => (number === 1 ? 'cut' : { status: 413, body: refusal('payload_too_large') })
    const client = clientWith()
    client.log(entry('one'))
    client.log(entry('two'))
    await client.flush()
    expect([requests.length, client.stats()]).toMatchObject([2, { stored: 0, refused: 2 }])
  })

  test.each([
    ['server_error', 503, { outcome: 'not_written' }],
    ['rate_limited', 429, { retryAfterSeconds: 1 }],
  ])('a batch of which nothing was written is divided, also after %s', async (code, status, details) => {
    decide = (sent, number) =>
      number === 1
        ? { status, body: refusal(code, { details, retryable: true }) }
        : entriesOf(sent).length > 1
          ? { status: 413, body: refusal('payload_too_large') }
          : STORED
    const client = clientWith()
    client.log(entry('one'))
    client.log(entry('two'))
    await client.flush()
    expect([requests.length, client.stats()]).toMatchObject([4, { stored: 2, refused: 0 }])
  })

  test.each<[string, () => void]>([
    [
      'throws',
      () => {
        throw new Error('of the application')
      },
    ],
    ['rejects', () => Promise.reject(new Error('of the application'))],
  ])('a callback that %s ends nothing', async (_how, onDropped) => {
    decide = () => ({ body: refusal('invalid_api_key') })
    const client = clientWith({ onDropped })
    client.log(entry('one'))
    await client.flush()
    expect(client.stats()).toMatchObject({ refused: 1, pending: 0 })
  })
})

describe('what finds no room', () => {
  test('the memory is bounded: the newest are dropped and counted, and all that was taken is sent', async () => {
    decide = () => undefined
    const client = clientWith({ maxBufferBytes: 10_000, requestTimeoutMs: 100 })
    const messages = Array.from({ length: 500 }, (_, index) => `${index}`)
    const taken = messages.filter((message) => client.log(entry(message)))
    expect(client.stats()).toMatchObject({ pending: taken.length, dropped: 500 - taken.length })
    expect(client.stats().pendingBytes).toBeLessThanOrEqual(10_000)
    expect(taken.length).toBeGreaterThan(50)
    decide = () => STORED
    await client.flush()
    expect(dropped).toMatchObject([{ count: 500 - taken.length, reason: 'full' }])
    expect(client.stats()).toMatchObject({ stored: taken.length, pendingBytes: 0 })
    expect([...new Set(messagesOf(requests))].toSorted()).toEqual(messages.slice(0, taken.length).toSorted())
    expect(client.log(entry('later'))).toBe(true)
  })

  test('an entry of which no JSON can be made is counted, and the application is not disturbed', async () => {
    const client = clientWith()
    const hostile = {
      get boom(): string {
        throw new Error('getter')
      },
    }
    expect(client.log(entry('one', { scopeData: hostile }))).toBe(false)
    expect(client.log(undefined as unknown as LogInput)).toBe(false)
    let deep: object = {}
    for (let level = 0; level < 100_000; level += 1) deep = { deep }
    expect(client.log(entry('deep', { scopeData: { deep } }))).toBe(false)
    await client.flush()
    expect(dropped).toMatchObject([{ count: 3, reason: 'unserialisable', message: expect.stringContaining('toJSON') }])
    expect(requests).toEqual([])
  })
})

describe('flush and close', () => {
  test('flush waits for what was handed over before it, and for nothing after', async () => {
    const waiting: (() => void)[] = []
    const held: typeof fetch = (...request) =>
      new Promise((resolve) => waiting.push(() => void fetch(...request).then(resolve)))
    const client = clientWith({ fetch: held })
    client.log(entry('before'))
    let isFlushed = false
    const flushed = client.flush().then(() => {
      isFlushed = true
    })
    client.log(entry('after'))
    const later = client.flush()
    expect([waiting.length, isFlushed]).toEqual([2, false])
    waiting[0]?.()
    await flushed
    expect(client.stats()).toMatchObject({ stored: 1, pending: 1 })
    waiting[1]?.()
    await later
    await client.flush()
  })

  test('close sends what waits, and what comes later is dropped', async () => {
    const client = clientWith()
    client.log(entry('one'))
    await Promise.all([client.close(), client.close()])
    expect(client.log(entry('two'))).toBe(false)
    expect(messagesOf(requests)).toEqual(['one'])
    expect(client.stats()).toMatchObject({ stored: 1, dropped: 1 })
  })

  test('what is logged after close is told of when the process ends', async () => {
    const before = process.listeners('exit')
    const client = clientWith()
    await client.close()
    client.log(entry('late'))
    for (const listener of process.listeners('exit')) if (!before.includes(listener)) listener(0)
    expect(dropped).toMatchObject([{ count: 1, reason: 'closed' }])
    expect(process.listeners('exit')).toEqual(before)
  })

  test('close gives up on a server that does not answer, and tells how many', async () => {
    decide = () => undefined
    const client = clientWith({ maxBatchEntries: 2, requestTimeoutMs: 20, closeTimeoutMs: 100 })
    for (let index = 0; index < 5; index += 1) client.log(entry(`${index}`))
    const flushed = client.flush()
    await client.close()
    await flushed
    expect(dropped).toMatchObject([{ reason: 'closed', count: 5 }])
    expect(dropped[0]?.message).toMatch(/The last attempt failed: There was no answer within 20 ms\.$/)
    expect(client.stats()).toMatchObject({ stored: 0, dropped: 5, pending: 0, pendingBytes: 0 })
  })

  test('what is logged while an idle process sends the rest is not given up on with it', async () => {
    const before = process.listeners('beforeExit')
    const answers: (() => void)[] = []
    const client = clientWith({
      fetch: () => new Promise((resolve) => answers.push(() => resolve(Response.json(STORED.body)))),
    })
    client.log(entry('one'))
    for (const listener of process.listeners('beforeExit')) if (!before.includes(listener)) listener(0)
    await eventually(() => expect(answers).toHaveLength(1))
    client.event({ uniqueIdentifier: 'order', payload: 'two', level: 'Information' })
    answers[0]?.()
    await eventually(() => expect(client.stats().stored).toBe(1))
    answers[1]?.()
    await client.flush()
    expect(dropped).toEqual([])
    expect(client.stats()).toMatchObject({ stored: 2, dropped: 0 })
  })

  test('a flush and a close end although `fetch` itself logs, as instrumented ones do', async () => {
    const client = clientWith({
      maxDelayMs: 600_000,
      fetch: async () => {
        client.log(entry('sending'))
        return Response.json(STORED.body)
      },
    })
    client.log(entry('one'))
    await client.flush()
    expect(client.stats()).toMatchObject({ stored: 1, pending: 1 })
    await client.close()
    expect(client.stats()).toMatchObject({ stored: 2, pending: 0 })
    expect(dropped).toMatchObject([{ count: 1, reason: 'closed' }])
  })

  test('a client that is closed leaves nothing behind in the process', async () => {
    const count = (): number => process.listenerCount('beforeExit') + process.listenerCount('exit')
    const before = count()
    const client = clientWith()
    expect(count()).toBe(before + 2)
    await client.close()
    expect(count()).toBe(before)
  })
})

describe('without callbacks', () => {
  test('the console says what is dropped, once a minute and when the client ends', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    decide = () => ({ body: refusal('invalid_api_key') })
    const client = clientWith({ onDropped: undefined, onRetry: undefined, maxBatchEntries: 1 })
    client.log(entry('one'))
    client.log(entry('two'))
    client.log(entry('three'))
    await client.flush()
    const text = 'sluice-client: dropped 1 (refused): because of invalid_api_key'
    expect(warn.mock.calls).toEqual([[text]])
    await client.close()
    expect(warn.mock.calls).toEqual([[text], [`${text} (and 1 before)`]])
    warn.mockRestore()
  })

  test('the console says that nothing arrives', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    decide = () => 'cut'
    const client = clientWith({ onDropped: undefined, onRetry: undefined, maxDelayMs: 1, closeTimeoutMs: 50 })
    client.log(entry('one'))
    await eventually(() => expect(warn.mock.calls).toEqual([[expect.stringMatching(/^sluice-client: cannot send: /)]]))
    await client.close()
    expect(warn.mock.calls.slice(1)).toEqual([[expect.stringMatching(/^sluice-client: dropped 1 \(closed\): /)]])
    warn.mockRestore()
  })
})

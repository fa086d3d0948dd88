import dns from 'node:dns'
import { writeFileSync } from 'node:fs'
import { createServer as createPlainServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import net, { type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test, vi } from 'vitest'
import {
  type Connection,
  type ConnectionOptions,
  connect,
  ElasticsearchError,
  foundOf,
} from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { createAuthority } from '../../../../support/certificates.ts'
import { eventually } from '../../../../support/eventually.ts'
import { startBare } from '../../../../support/raw-http.ts'
import { temporaryFolder } from '../../../../support/sluice-process.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())

test('an authority that takes the place of another is used by the connections that follow', async () => {
  const [before, after] = [createAuthority('before'), createAuthority('after')]
  const { certificate, key } = after.issue('server', ['127.0.0.1'])
  const server = createServer({ cert: certificate, key }, (_request, response) => {
    response.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const caFile = join(folder.path, 'ca.pem')
  writeFileSync(caFile, before.certificate)
  const told: string[] = []
  const connection = connect(
    {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      auth: () => ({ type: 'none' }),
      caFile,
      onRefused: ({ message }) => told.push(message),
      requestTimeoutMs: 30_000,
    },
    0,
  )
  const ask = () => connection.send({ method: 'GET', path: '/' })
  try {
    await expect(ask()).rejects.toThrow('ELASTICSEARCH_CA_FILE has to name the authority')
    writeFileSync(caFile, 'half a cert')
    await expect(ask()).rejects.toThrow('ELASTICSEARCH_CA_FILE has to name the authority')
    expect(told).toEqual([expect.stringContaining('ELASTICSEARCH_CA_FILE cannot be read')])
    writeFileSync(caFile, after.certificate)
    expect(await Promise.all([ask(), ask()])).toEqual([{}, {}])
    // The first of two authorities is already written.
    writeFileSync(caFile, before.certificate + after.certificate.slice(0, 100))
    expect(await ask()).toEqual({})
    writeFileSync(caFile, '')
    expect(await ask()).toEqual({})
  } finally {
    await connection.close()
    server.close()
    server.closeAllConnections()
  }
})

test('a server that cannot be asked: with what to do about it', async () => {
  const authority = createAuthority('test')
  const { certificate, key } = authority.issue('server', ['127.0.0.1'], Date.now() - 60_000)
  const expired = createServer({ cert: certificate, key })
  const foreign = createPlainServer((_request, response) => response.end('hello'))
  const frozen = createPlainServer(() => undefined)
  const caFile = join(folder.path, 'known.pem')
  writeFileSync(caFile, authority.certificate)
  const portOf = async (server: Server): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }
  const failureOf = async (url: string, more = {}): Promise<string> => {
    const options = { auth: () => ({ type: 'none' }) as const, requestTimeoutMs: 30_000 }
    const connection = connect({ ...options, url, caFile, onRefused: (error) => expect.unreachable(error.message) })
    const failed = connection.send({ method: 'GET', path: '/', ...more })
    const { message } = (await failed.catch((error: unknown) => error)) as Error
    await connection.close()
    return message
  }
  try {
    const [expiredPort, foreignPort] = [await portOf(expired), await portOf(foreign)]
    expect(await failureOf(`https://127.0.0.1:${expiredPort}`)).toMatch(/certificate has expired; .* to be renewed/)
    expect(await failureOf(`http://127.0.0.1:${foreignPort}`)).toMatch(/not Elasticsearch: check ELASTICSEARCH_URL/)
    for (const url of ['http://127.0.0.1:1', `http://127.0.0.1:${expiredPort}`, `https://127.0.0.1:${foreignPort}`])
      expect(await failureOf(url)).toMatch(/^GET \/ failed: ConnectionError \(.+; check ELASTICSEARCH_URL, .*runs\)$/)
    const frozenPort = await portOf(frozen)
    expect(await failureOf(`http://127.0.0.1:${frozenPort}`, { timeoutMs: 50 })).toMatch(
      new RegExp(`TimeoutError \\(127.0.0.1:${frozenPort} did not answer within 50 ms; check ELASTICSEARCH_URL, `),
    )
  } finally {
    for (const server of [expired, foreign, frozen]) {
      server.close()
      server.closeAllConnections()
    }
  }
})

test('a connection for which the process may open no file names the limit to raise', async () => {
  const message = 'connect EMFILE 127.0.0.1:9200 - Local (undefined:undefined)'
  const opened = vi.spyOn(net, 'connect').mockImplementation(() => {
    const socket = new net.Socket()
    process.nextTick(() => socket.destroy(Object.assign(new Error(message), { code: 'EMFILE' })))
    return socket
  })
  const options = { url: 'http://127.0.0.1:9200', auth: () => ({ type: 'none' }) as const, caFile: null }
  const { send, close } = connect({ ...options, requestTimeoutMs: 30_000, onRefused: () => undefined })
  const failure = await send({ method: 'GET', path: '/' }).catch((error: unknown) => error)
  opened.mockRestore()
  await close()
  expect((failure as Error).message).toMatch(/EMFILE .*; the process may not open as many files/)
})

test('a login in the address is in no message, also if none of several addresses of the host answers', async () => {
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
  const lookup = vi.spyOn(dns, 'lookup')
  lookup.mockImplementation(((_host: string, _options: object, found: (error: null, all: object[]) => void) =>
    found(null, addresses)) as unknown as typeof dns.lookup)
  const connection = connect({
    url: 'http://sluice:secret@elastic.test:1',
    auth: () => ({ type: 'none' }),
    caFile: null,
    onRefused: (error) => expect.unreachable(error.message),
    requestTimeoutMs: 30_000,
  })
  try {
    const failure = await connection.send({ method: 'GET', path: '/' }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ message: expect.stringContaining('elastic.test:1') })
    expect(JSON.stringify([failure, (failure as Error).message])).not.toContain('secret')
  } finally {
    lookup.mockRestore()
    await connection.close()
  }
})

/** Runs `work` with a connection to a server of its own. */
async function withServer(
  listener: RequestListener,
  options: Partial<ConnectionOptions>,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const { url, close } = await startBare(listener)
  const connection = connect({
    url,
    auth: () => ({ type: 'none' }),
    caFile: null,
    onRefused: (error) => expect.unreachable(error.message),
    requestTimeoutMs: 30_000,
    ...options,
  })
  try {
    await work(connection)
  } finally {
    await connection.close()
    await close()
  }
}

const inJson = (response: ServerResponse): ServerResponse =>
  response.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json')

test('an answer that stops in its middle is given up', async () => {
  await withServer(
    (_request, response) => void inJson(response).write('{'),
    { requestTimeoutMs: 50 },
    async ({ send }) => {
      await expect(send({ method: 'GET', path: '/' })).rejects.toThrow(ElasticsearchError)
    },
  )
}, 10_000)

test('a request without an answer ends alone: the others with its signal, and what else waits for that, go on', async () => {
  const held: ServerResponse[] = []
  await withServer(
    (_request, response) => void held.push(response),
    {},
    async ({ send }) => {
      const abort = new AbortController()
      const { signal } = abort
      const aborted = vi.fn()
      signal.addEventListener('abort', aborted)
      const other = send({ method: 'GET', path: '/', signal })
      await eventually(() => held.length === 1)
      await expect(send({ method: 'GET', path: '/', signal, timeoutMs: 50 })).rejects.toThrow('TimeoutError')
      expect(aborted).not.toHaveBeenCalled()
      inJson(held[0] as ServerResponse).end('{}')
      expect(await other).toEqual({})
      const given = send({ method: 'GET', path: '/', signal })
      abort.abort(new Error('taken away'))
      await expect(given).rejects.toThrow('taken away')
    },
  )
})

test.each([
  ['its own time', () => ({ timeoutMs: 50 })],
  ['the time of its reader', () => ({ signal: AbortSignal.timeout(50) })],
])(
  'a server that is gone without a word takes one request its time, not one for each connection: %s',
  async (_name, limit) => {
    const [used, gone] = [new Set<Socket>(), new Set<Socket>()]
    const held: ServerResponse[] = []
    await withServer(
      ({ socket, url }, response) => {
        used.add(socket)
        if (gone.has(socket) || url === '/late') return
        held.push(response)
        if (held.length === 3) for (const one of held.splice(0)) inJson(one).end('{}')
      },
      { requestTimeoutMs: 2_000 },
      async ({ send }) => {
        const three = () => Promise.all([1, 2, 3].map(() => send({ method: 'GET', path: '/' })))
        await three()
        for (const socket of used) gone.add(socket)
        expect(gone.size).toBe(3)
        const late = send({ method: 'GET', path: '/late', ...limit() })
        await expect(late).rejects.toThrow(/TimeoutError|due to timeout/)
        expect(await three()).toEqual([{}, {}, {}])
      },
    )
  },
)

test('a key that takes the place of another is used by the requests that follow', async () => {
  const presented: (string | undefined)[] = []
  let apiKey = 'before'
  await withServer(
    ({ headers }, response) => {
      presented.push(headers.authorization)
      inJson(response).end('{}')
    },
    { auth: () => ({ type: 'apiKey', apiKey }) },
    async ({ send }) => {
      const ask = () => send({ method: 'GET', path: '/' })
      await ask()
      const asked = ask()
      apiKey = 'after'
      await Promise.all([asked, ask()])
      expect(presented).toEqual(['ApiKey before', 'ApiKey before', 'ApiKey after'])
    },
  )
})

test('a close ends the requests under way, whose server may never answer', async () => {
  const asked = Promise.withResolvers<void>()
  await withServer(
    () => asked.resolve(),
    {},
    async ({ send, close }) => {
      const failure = expect(send({ method: 'GET', path: '/' })).rejects.toThrow('the log store is closed')
      await asked.promise
      await close()
      await failure
      await expect(send({ method: 'GET', path: '/' })).rejects.toThrow('the log store is closed')
    },
  )
})

test.each([
  ['media_type_header_exception', '', ' (Sluice needs Elasticsearch 9)'],
  [
    'search_phase_execution_exception',
    "[prefix] queries cannot be executed when 'search.allow_expensive_queries' is set to false.",
    ' (search.allow_expensive_queries has to be true)',
  ],
  [
    'search_phase_execution_exception',
    'Result window is too large, from + size must be less than or equal to: [1] but was [3]. See the scroll api for a more efficient way to request large data sets. This limit can be set by changing the [index.max_result_window] index level setting.',
    ' (index.max_result_window was lowered: set it to null in the indices, and take it out of component templates)',
  ],
])('a refusal that the server or its settings cause, %s: with what to do about it', async (type, reason, advice) => {
  const error = { type, reason: 'all shards failed', root_cause: [{ type: 'query_shard_exception', reason }] }
  await withServer(
    (_request, response) => void inJson(response).writeHead(400).end(JSON.stringify({ error })),
    {},
    ({ send }) => expect(send({ method: 'GET', path: '/' })).rejects.toThrow(`GET / answered 400 ${type}${advice}`),
  )
})

test('an answer that is none of Elasticsearch says nothing: a redirect, a text, or one that cannot be unpacked', async () => {
  const answers: ((response: ServerResponse) => unknown)[] = [
    (response) => response.writeHead(302, { location: 'https://sso.test/login?secret' }).end('<html>'),
    (response) => response.writeHead(308, { 'content-type': 'application/json' }).end('{}'),
    (response) => inJson(response).writeHead(304).end(),
    (response) => inJson(response).setHeader('content-type', 'text/html').end('<html>'),
    (response) => inJson(response).end('null'),
    (response) => inJson(response).setHeader('content-encoding', 'gzip').end(gzipSync('{"hits":{}}').subarray(0, 20)),
  ]
  await withServer(
    ({ url }, response) => void answers[Number(url?.slice(1))]?.(response),
    {},
    async ({ send }) => {
      const failures = await Promise.all(
        answers.map((_, at) => send({ method: 'GET', path: `/${at}` }).catch((error: unknown) => error)),
      )
      for (const failure of failures) {
        expect(failure).toBeInstanceOf(ElasticsearchError)
        expect(failure).toMatchObject({ status: null })
        expect((failure as Error).message).not.toMatch(/secret|<html>/)
        expect((failure as Error).message).toMatch(/check ELASTICSEARCH_URL/)
        // The reason that the log of the consumers has.
        expect((failure as ElasticsearchError).body.type).toMatch(/check ELASTICSEARCH_URL/)
      }
      expect((failures[0] as Error).message).toContain('answered 302 (a redirect: check ELASTICSEARCH_URL')
    },
  )
})

test.each([
  ['nothing', {}],
  ['a document less', { docs: [{ found: true }] }],
])(
  'an answer to lookups by id that has %s says nothing about any of them, so they are made again',
  async (_, answer) => {
    const connection: Connection = { send: async <Answer>() => answer as Answer, close: async () => undefined }
    const lookups = ['a', 'b'].map((_id) => ({ _index: 'day', _id }))
    const failure = await foundOf(connection, lookups, new AbortController().signal).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ElasticsearchError)
    expect(failure).toMatchObject({ status: null })
  },
)

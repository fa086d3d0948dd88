import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createPoster, type PosterDeps } from '../../../../views/watches/poster.ts'

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const MESSAGE = { id: 'msg_1', body: '{"type":"watch.test","text":"größer"}' }
const NOW = Date.parse('2026-02-01T12:00:00.900Z')

const servers: { close(): void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

const posterOf = (deps: Partial<PosterDeps> = {}) =>
  createPoster({ allowed: ['127.0.0.0/8'], now: () => NOW, deadlineMs: 5_000, ...deps })

/** A receiver on a port of its own; gives its address. */
async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  return listen(server, () => server.closeAllConnections())
}

async function tcpReceiver(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    onConnection(socket)
  })
  return listen(server as unknown as Server, () => {
    for (const socket of sockets) socket.destroy()
  })
}

async function listen(server: Server, closeConnections: () => void): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push({
    close: () => {
      closeConnections()
      server.close()
    },
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=1`
}

const post = (url: string, deps: Partial<PosterDeps> = {}) =>
  posterOf(deps).post({ team: 'a', url, secret: SECRET }, MESSAGE)

describe('a message', () => {
  test('is posted as Standard Webhooks has it, signed over id, time and body', async () => {
    const seen = Promise.withResolvers<{ request: IncomingMessage; body: string }>()
    const url = await receiver(async (request, response) => {
      seen.resolve({ request, body: Buffer.concat(await request.toArray()).toString() })
      response.writeHead(204).end()
    })
    expect(await post(url)).toEqual({ delivered: true, status: 204, message: 'The receiver answered 204.' })
    const { request, body } = await seen.promise
    expect([request.method, request.url, body]).toEqual(['POST', '/hook?a=1', MESSAGE.body])
    const timestamp = String(Math.floor(NOW / 1_000))
    const signature = createHmac('sha256', Buffer.alloc(24, 7)).update(`msg_1.${timestamp}.${body}`).digest('base64')
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    })
  })

  test.each([300, 304, 400, 404, 410, 429, 500, 503])('that is answered %d is not delivered', async (status) => {
    // Of an error, a Location is no redirection.
    const headers = status < 400 ? {} : { location: '/elsewhere' }
    const url = await receiver(
      (_request, response) => void response.writeHead(status, headers).end('the reason is long'),
    )
    expect(await post(url)).toEqual({ delivered: false, status, message: `The receiver answered ${status}.` })
  })

  test.each([301, 302, 307, 308])('that is answered %d is not sent on, and the outcome says so', async (status) => {
    let requests = 0
    const url = await receiver((_request, response) => {
      requests += 1
      response.writeHead(status, { location: 'http://169.254.169.254/latest/meta-data' }).end()
    })
    const posted = await post(url)
    expect([posted.delivered, posted.status, posted.message]).toEqual([
      false,
      status,
      `The receiver answered ${status}, and redirections are not followed. Enter the address that it leads to.`,
    ])
    expect(requests).toBe(1)
  })
})

describe('a receiver', () => {
  test('that never answers is given up at the deadline', async () => {
    const url = await receiver(() => undefined)
    const posted = await post(url, { deadlineMs: 200 })
    expect(posted).toEqual({ delivered: false, status: null, message: 'There was no answer within 0.2 seconds.' })
  })

  test('that sends heads without an end is given up', async () => {
    const url = await tcpReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = setInterval(() => socket.write(`x-more: ${'x'.repeat(4_000)}\r\n`), 1)
      socket.once('close', () => clearInterval(more))
    })
    const posted = await post(url)
    expect([posted.delivered, posted.message]).toEqual([
      false,
      'The answer is no HTTP that can be read (HPE_HEADER_OVERFLOW).',
    ])
  })

  test('that answers without an end is read for some kilobytes, and its connection closed', async () => {
    const closed = Promise.withResolvers<number>()
    const url = await receiver((_request, response) => {
      response.writeHead(200)
      let sent = 0
      const more = setInterval(() => {
        sent += 1_000
        response.write('x'.repeat(1_000))
      }, 1)
      response.once('close', () => {
        clearInterval(more)
        closed.resolve(sent)
      })
    })
    expect(await post(url)).toMatchObject({ delivered: true, status: 200 })
    expect(await closed.promise).toBeLessThan(1_000_000)
  })

  test('that drips an answer for ever is taken at its status at the deadline', async () => {
    const url = await receiver((_request, response) => {
      response.writeHead(200)
      const more = setInterval(() => response.write('x'), 20)
      response.once('close', () => clearInterval(more))
    })
    expect(await post(url, { deadlineMs: 300 })).toMatchObject({ delivered: true, status: 200 })
  })

  test('that goes on with interim answers is given up at the deadline', async () => {
    const url = await tcpReceiver((socket) => {
      const more = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5)
      socket.once('close', () => clearInterval(more))
    })
    expect(await post(url, { deadlineMs: 300 })).toMatchObject({ delivered: false, status: null })
  })

  test.each(['100 Continue', '103 Early Hints'])(
    'that sends %s without number is given up at once',
    async (interim) => {
      const url = await tcpReceiver((socket) => void socket.write(`HTTP/1.1 ${interim}\r\n\r\n`.repeat(2_000)))
      expect(await post(url, { deadlineMs: 2_000 })).toEqual({
        delivered: false,
        status: null,
        message: 'The request failed: the answer is longer than it is read',
      })
    },
  )

  test('that closes the connection, or is not there, is a failure with its reason', async () => {
    const closing = await tcpReceiver((socket) => socket.destroy())
    expect((await post(closing)).message).toMatch(/^The request failed \(ECONNRESET\)/)
    const gone = await tcpReceiver(() => undefined)
    servers.splice(0).forEach((server) => void server.close())
    expect((await post(gone)).message).toMatch(/^The request failed \(ECONNREFUSED\)/)
  })

  test('that speaks no TLS, or no HTTP, is told of as such', async () => {
    const url = await tcpReceiver((socket) => void socket.end('hello\r\n\r\n'))
    expect((await post(url)).message).toMatch(/^The answer is no HTTP that can be read \(HPE_/)
    expect((await post(url.replace('http:', 'https:'))).message).toMatch(/^TLS failed \((EPROTO|ERR_SSL_[A-Z_]+)\)/)
  })

  test('that switches protocols is a failure', async () => {
    const url = await tcpReceiver((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    })
    expect(await post(url, { deadlineMs: 1_000 })).toMatchObject({ delivered: false })
  })

  test('is given up when the process stops', async () => {
    const stop = new AbortController()
    const url = await receiver(() => stop.abort())
    expect(await posterOf().post({ team: 'a', url, secret: SECRET }, MESSAGE, stop.signal)).toMatchObject({
      delivered: false,
    })
  })
})

describe('a private address', () => {
  const REFUSED = /has a private address, and nothing was sent\. .*WEBHOOK_ALLOWED_NETWORKS/

  test.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.1/',
    'https://10.0.0.1:8443/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[fd00::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://0/',
  ])('is refused: %s', async (url) => {
    expect((await post(url, { allowed: [] })).message).toMatch(REFUSED)
    expect(posterOf({ allowed: [] }).refusalOf(url)).toMatch(REFUSED)
  })

  test.each([['127.0.0.1'], ['10.0.0.1', '192.168.0.1'], ['::1'], ['::ffff:10.0.0.1'], ['fe80::1%eth0']])(
    'is refused where a name resolves to %s',
    async (...addresses) => {
      const resolve = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      expect((await post('https://hooks.example.com/', { allowed: [], resolve })).message).toMatch(REFUSED)
    },
  )

  test('is refused for localhost, as the system resolves it', async () => {
    expect((await post('https://localhost/', { allowed: [] })).message).toMatch(REFUSED)
  })

  test('is passed over where a name has a public one as well, and the connection goes to an address that was checked', async () => {
    let asked = 0
    const url = await receiver((_request, response) => void response.writeHead(200).end())
    const resolve = async () => {
      asked += 1
      // A second answer would be another one: that is how a name is rebound.
      return asked === 1 ? [{ address: '127.0.0.1', family: 4 }] : [{ address: '169.254.169.254', family: 4 }]
    }
    const named = url.replace('127.0.0.1', 'hooks.example.com')
    expect(await post(named, { resolve })).toMatchObject({ delivered: true, status: 200 })
    expect(asked).toBe(1)
    const both = async () => [
      { address: '10.0.0.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    expect(await post(named, { resolve: both })).toMatchObject({ delivered: true, status: 200 })
  })

  test('that is allowed takes http as well; a public one does not', async () => {
    const url = await receiver((_request, response) => void response.writeHead(200).end())
    expect(await post(url, { allowed: ['127.0.0.1'] })).toMatchObject({ delivered: true })
    expect(posterOf({ allowed: ['127.0.0.1'] }).refusalOf(url)).toBeUndefined()
    const refusal = /can be reached by https:\/\/ only/
    expect(posterOf().refusalOf('http://93.184.215.14/')).toMatch(refusal)
    expect(posterOf().refusalOf('https://93.184.215.14/')).toBeUndefined()
    const resolve = async () => [{ address: '93.184.215.14', family: 4 }]
    expect((await post('http://hooks.example.com/', { resolve })).message).toMatch(refusal)
    const both = async () => [...(await resolve()), { address: '10.0.0.1', family: 4 }]
    expect((await post('http://hooks.example.com/', { resolve: both })).message).toMatch(refusal)
    expect(posterOf().refusalOf('http://10.0.0.1/')).toMatch(REFUSED)
  })
})

describe('a name', () => {
  test('that does not resolve is told of with its code', async () => {
    const resolve = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    }
    expect((await post('https://nowhere.example/', { resolve })).message).toBe(
      'The name of the receiver cannot be resolved (ENOTFOUND).',
    )
  })

  test('of which no address answers is told of with the failure of each', async () => {
    const closed = await receiver(() => undefined)
    for (const server of servers.splice(0)) server.close()
    const resolve = async () => ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
    const { message } = await post(closed.replace('127.0.0.1', 'hooks.example.com'), { resolve })
    const refused = (address: string): string => `connect ECONNREFUSED ${address}:${new URL(closed).port}`
    expect(message).toBe(`The request failed (ECONNREFUSED): ${refused('127.0.0.1')}, ${refused('127.0.0.2')}`)
  })

  test('that is not answered for is given up at the deadline', async () => {
    const posted = await post('https://slow.example/', { resolve: () => new Promise(() => undefined), deadlineMs: 100 })
    expect(posted.message).toBe('There was no answer within 0.1 seconds.')
  })

  test('of one Team that is not answered for leaves those of other Teams their turn', async () => {
    const resolve = (name: string) =>
      name.endsWith('slow.example') ? new Promise<never>(() => undefined) : Promise.reject(new Error('no such name'))
    const poster = posterOf({ resolve, deadlineMs: 100 })
    const postTo = (team: string, name: string) =>
      poster.post({ team, url: `https://${name}/`, secret: SECRET }, MESSAGE)
    await Promise.all([1, 2, 3].map((count) => postTo('a', `${count}.slow.example`)))
    expect((await postTo('b', 'other.example')).message).toContain('no such name')
  })
})

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { closeInStages } from '../../../../deploy/http/closing.ts'
import { inTurn, limitPipelining, WAITING_MAX } from '../../../../deploy/http/connection.ts'
import { eventually } from '../../../support/eventually.ts'
import { answersIn, openRaw, startBare } from '../../../support/raw-http.ts'

const CREATED = 'http.server.response.created'

let close: () => Promise<void>
let created: number
const count = (): void => {
  created += 1
}
beforeEach(() => {
  created = 0
  subscribe(CREATED, count)
})
afterEach(async () => {
  unsubscribe(CREATED, count)
  await close()
})

/** A server that begins requests in turn; `begin` decides when they are answered. */
async function start(begin: RequestListener): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = []
  const started = await startBare(inTurn(begin), (server) => {
    server.on('connection', (socket) => {
      sockets.push(socket)
      socket.destroySoon = () => closeInStages(socket)
      limitPipelining(socket)
    })
  })
  close = started.close
  return { port: started.port, sockets }
}

const get = (path: string | number, more = ''): string => `GET /${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
const post = (body: string): string => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const echoPath: RequestListener = (request, response) => void response.end(request.url)
const lines = (texts: number): readonly number[] => Array.from({ length: texts }, (_, index) => index)

describe('requests that are sent without waiting for answers', () => {
  test('begin one after the other, and are answered in order whatever time each takes', async () => {
    const open: string[] = []
    const { port } = await start((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      request.on('end', () => {
        open.push(body)
        expect(open).toEqual([body])
        // The first takes longest.
        setTimeout(() => {
          open.pop()
          response.end(body)
        }, 10 / body.length)
      })
    })
    const { send, received, socket } = openRaw(port)
    const bodies = ['a', 'bb', 'ccc', 'dddd', 'eeeee']
    send(bodies.map(post).join(''))
    await eventually(() => expect(answersIn(received()).map(({ body }) => body)).toEqual(bodies))
    socket.destroy()
  })

  test('let others be served between any two of them', async () => {
    let turns = 0
    const countTurn = (): void => {
      turns += 1
      turn = setImmediate(countTurn)
    }
    let turn = setImmediate(countTurn)
    const begunIn: number[] = []
    const { port } = await start((request, response) => {
      begunIn.push(turns)
      response.end(request.url)
    })
    const { send, received, socket } = openRaw(port)
    send(
      lines(10)
        .map((line) => get(line))
        .join(''),
    )
    await eventually(() => expect(answersIn(received())).toHaveLength(10))
    clearImmediate(turn)
    expect(new Set(begunIn).size).toBe(10)
    socket.destroy()
  })

  test('in thousands: those that fit are answered in order, the last of them says that it is the last', async () => {
    const { port } = await start(echoPath)
    const connection = openRaw(port)
    connection.send(
      lines(3_000)
        .map((index) => get(index))
        .join(''),
    )
    const answers = answersIn(await connection.closed)
    expect(connection.failure()).toBeUndefined()
    expect(answers.map(({ body }) => body)).toEqual(lines(WAITING_MAX + 1).map((index) => `/${index}`))
    expect(answers.filter(({ head }) => /^connection: close/im.test(head))).toEqual([answers.at(-1)])
  })

  test('in thousands, and nobody reads the answers: one is begun, and no more than the bound is held', async () => {
    let begun = 0
    const { port, sockets } = await start(() => {
      begun += 1
    })
    const { send, socket } = openRaw(port, { paused: true })
    send(get('').repeat(200_000))
    await eventually(() => socket.writableLength > 0 && created === WAITING_MAX + 1)
    const { bytesRead } = sockets[0] as Socket
    expect(bytesRead).toBeLessThan(200_000)
    send(get('').repeat(1_000))
    await new Promise((resolve) => setImmediate(resolve))
    expect([begun, created, sockets[0]?.bytesRead]).toEqual([1, WAITING_MAX + 1, bytesRead])
    socket.destroy()
  })

  test('nothing is read while one waits, and everything once none does', async () => {
    const answers: (() => void)[] = []
    const { port, sockets } = await start((request, response) => {
      request.resume().on('end', () => answers.push(() => response.end(request.url)))
    })
    const { send, socket, closed } = openRaw(port)
    send(get('first') + get('second'))
    await eventually(() => answers.length === 1)
    const before = sockets[0]?.bytesRead
    const long = 'x'.repeat(1_000_000)
    send(post(long), get('last', 'Connection: close\r\n'))
    await eventually(() => socket.writableLength === 0 || socket.writableNeedDrain)
    expect([answers.length, sockets[0]?.bytesRead]).toEqual([1, before])
    for (const turn of lines(4)) {
      await eventually(() => answers.length === turn + 1)
      answers[turn]?.()
    }
    expect(answersIn(await closed).map(({ body }) => body)).toEqual(['/first', '/second', '/', '/last'])
  })

  test('never begin where the connection closes before their turn', async () => {
    const begun: (string | undefined)[] = []
    let gone = 0
    const { port } = await start((request, response) => {
      begun.push(request.url)
      response.on('close', () => {
        gone += 1
      })
    })
    const { send, socket } = openRaw(port)
    send(get('first') + post('second') + get('third'))
    await eventually(() => created === 3)
    // Nothing is read while some wait, so a reset is noticed by what is written.
    socket.resetAndDestroy()
    void close()
    await eventually(() => gone === 1)
    expect(begun).toEqual(['/first'])
  })

  test('a tunnel asked for among those beyond the bound does not take the answers before it', async () => {
    const { port } = await start(echoPath)
    const { send, closed } = openRaw(port)
    send(get('').repeat(WAITING_MAX + 1), 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n')
    send(get('').repeat(WAITING_MAX + 1))
    const answers = answersIn(await closed)
    expect(answers.length).toBeGreaterThan(1)
    expect(answers.every(({ status }) => status === 200)).toBe(true)
  })
})

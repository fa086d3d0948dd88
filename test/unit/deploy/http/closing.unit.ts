import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { answerHalfClosed } from '../../../../deploy/http/closing.ts'
import { inTurn, limitPipelining } from '../../../../deploy/http/connection.ts'
import { eventually } from '../../../support/eventually.ts'
import { answersIn, openRaw, startBare } from '../../../support/raw-http.ts'

const LOOK_MS = 30

let close: () => Promise<void>
afterEach(() => close())

async function start(begin: RequestListener): Promise<number> {
  const started = await startBare(inTurn(begin), (server) => {
    Object.assign(server, { httpAllowHalfOpen: true })
    server.on('connection', (socket) => {
      limitPipelining(socket)
      answerHalfClosed(socket, LOOK_MS)
    })
  })
  close = started.close
  return started.port
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

describe('a client that has closed its half of the connection', () => {
  test('gets the answers to all that it sent', async () => {
    const port = await start((request, response) => void setImmediate(() => response.end(request.url)))
    const { socket, closed } = openRaw(port)
    socket.end(get('/a') + get('/b') + get('/c'))
    // On a busy machine an answer is asked for again and again meanwhile.
    const final = answersIn(await closed).filter(({ status }) => status !== 100)
    expect(final.map(({ body }) => body)).toEqual(['/a', '/b', '/c'])
  })

  test('gets an answer that takes its time', async () => {
    let continued = 0
    const port = await start((_request, response) => {
      const look = setInterval(() => {
        if (continued < 3) return
        clearInterval(look)
        response.end('found')
      }, 1)
    })
    const { socket, closed } = openRaw(port)
    socket.on('data', (bytes) => {
      continued += bytes.toString().split('100 Continue').length - 1
    })
    socket.end(get('/'))
    expect(await closed).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n){3,}HTTP\/1\.1 200 OK[\s\S]*found$/)
  })

  test('is let go where it went away, so that the work for it can end', async () => {
    const gone = Promise.withResolvers<void>()
    const port = await start((_request, response) => void response.on('close', gone.resolve))
    const { socket } = openRaw(port)
    socket.end(get('/'), () => socket.destroy())
    await gone.promise
  })

  test('is let go where it reads by HTTP/1.0, which knows no answers in between', async () => {
    const { socket, closed } = openRaw(await start(() => undefined))
    socket.end('GET / HTTP/1.0\r\n\r\n')
    expect(await closed).toBe('')
  })

  test('is let go once a stream has nothing more to tell', async () => {
    const gone = Promise.withResolvers<void>()
    let left = 8
    const port = await start((_request, response) => {
      const timer = setInterval(() => {
        if (left === 0) return
        left -= 1
        response.write(`${left}\n`)
      }, LOOK_MS / 3)
      response.on('close', () => {
        clearInterval(timer)
        gone.resolve()
      })
    })
    const { socket, closed } = openRaw(port)
    socket.end(get('/'))
    await gone.promise
    expect(await closed).toMatch(/7\n[\s\S]*0\n/)
  })

  test('gets an answer whole that it takes slowly', async () => {
    const answer = 'x'.repeat(8_000_000)
    const port = await start((_request, response) => void response.end(answer))
    const { socket, closed, received } = openRaw(port, { paused: true })
    socket.end(get('/'))
    // Many looks without reading anything.
    for (let waited = 0; waited < 10; waited += 1) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    socket.resume()
    await eventually(() => received().length > answer.length)
    expect(answersIn(await closed)[0]?.body).toHaveLength(answer.length)
  })

  test('is answered whatever time it takes where it sent something to be stored', async () => {
    let looks = 0
    const port = await start((request, response) => {
      request.resume()
      const timer = setInterval(() => {
        looks += 1
        if (looks < 10) return
        clearInterval(timer)
        response.end('stored')
      }, LOOK_MS)
    })
    const { socket, closed } = openRaw(port)
    socket.end('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}')
    expect(answersIn(await closed).map(({ body }) => body)).toEqual(['stored'])
  })

  test('and asked for nothing is done', async () => {
    const { socket, closed } = openRaw(await start(() => undefined))
    socket.end()
    expect(await closed).toBe('')
  })
})

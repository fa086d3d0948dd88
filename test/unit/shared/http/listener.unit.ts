import express from 'express'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ProblemError, problem } from '../../../../shared/contract/errors.ts'
import { createListener, type Handler } from '../../../../shared/http/listener.ts'
import { startBare } from '../../../support/raw-http.ts'

describe('what no route answers', () => {
  const lines: string[] = []
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(line) })
  let close: () => void
  let url: string

  beforeAll(async () => {
    const app = express()
    app.get('/fault', () => {
      throw new TypeError('a fault of ours')
    })
    app.get('/rejects', async () => {
      throw new Error('later')
    })
    app.get('/problem', () => {
      throw new ProblemError(problem('payload_too_large', { limit: 1 }))
    })
    app.get('/cut', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('half')
      throw new Error('in the middle')
    })
    app.get('/items/:id', (_request, response) => void response.end('found'))
    const first: Readonly<Record<string, Handler>> = {
      '/first': (_request, response) => void response.end('{"by":"first"}'),
      '/first/fault': () => {
        throw new TypeError('a fault of ours')
      },
      '/first/rejects': async () => {
        throw new Error('later')
      },
    }
    app.get('/first', () => {
      throw new Error('this route comes second')
    })
    const started = await startBare(createListener(app, logger, (target) => first[target]))
    url = `http://127.0.0.1:${started.port}`
    close = started.close
  })
  afterAll(() => close())

  const get = async (path: string) => {
    const response = await fetch(url + path)
    return { status: response.status, body: (await response.json()) as { error: { code: string; details: unknown } } }
  }

  test('is kept by no cache', async () => {
    expect((await fetch(`${url}/nowhere`)).headers.get('cache-control')).toBe('no-store')
  })

  test('is 404 not_found', async () => {
    expect(await get('/nowhere')).toMatchObject({ status: 404, body: { success: false, error: { code: 'not_found' } } })
  })

  test('of a path that cannot be decoded is 400 malformed_request', async () => {
    expect(await get('/items/%zz')).toMatchObject({ status: 400, body: { error: { code: 'malformed_request' } } })
  })

  test('because a route refused it is that refusal', async () => {
    expect(await get('/problem')).toMatchObject({
      status: 413,
      body: { error: { code: 'payload_too_large', details: { limit: 1 } } },
    })
    expect(lines).toEqual([])
  })

  test.each(['/fault', '/rejects', '/first/fault', '/first/rejects'])(
    'because of a fault (%s) is 503 server_error; it is logged and not told',
    async (path) => {
      lines.length = 0
      const { status, body } = await get(path)
      expect(status).toBe(503)
      expect(body.error).toMatchObject({ code: 'server_error', retryable: true })
      expect(JSON.stringify(body)).not.toMatch(/fault of ours|later/)
      expect(lines.join()).toMatch(/fault of ours|later/)
    },
  )

  test('is not asked for where one of the first routes answers', async () => {
    expect(await get('/first')).toEqual({ status: 200, body: { by: 'first' } })
  })

  test('after an answer was begun is cut, so that nobody takes it for whole', async () => {
    await expect(fetch(`${url}/cut`).then((response) => response.text())).rejects.toThrow()
    expect((await get('/nowhere')).status).toBe(404)
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { answerPrepared, type PreparedBody, prepareBody } from '../../../../shared/http/prepared-body.ts'
import { startBare } from '../../../support/raw-http.ts'

const TEXT = 'the same for everybody '.repeat(100)

let read: number
let body: PreparedBody
let url: string
let close: () => void
beforeEach(async () => {
  read = 0
  body = prepareBody('text/plain; charset=utf-8', async () => {
    read += 1
    if (read === 1) throw new Error('not this time')
    return Buffer.from(TEXT)
  })
  await expect(body.encoded('gzip')).rejects.toThrow('not this time')
  const started = await startBare(
    (request, response) => void answerPrepared(request, response, body, { 'cache-control': 'no-cache' }),
  )
  url = `http://127.0.0.1:${started.port}`
  close = started.close
})
afterEach(() => close())

const ask = (coding: string, method = 'GET') => fetch(url, { method, headers: { 'accept-encoding': coding } })

describe('a body that is the same for everybody', () => {
  test.each(['br', 'gzip', 'identity'])('is sent as %s to those who ask for it', async (coding) => {
    const response = await ask(coding)
    expect(response.headers.get('content-encoding')).toBe(coding === 'identity' ? null : coding)
    expect(response.headers.get('vary')).toBe('accept-encoding')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(await response.text()).toBe(TEXT)
  })

  test('is read and encoded once, however many ask', async () => {
    expect(await Promise.all([body.encoded('br'), body.encoded('br')])).toEqual([
      expect.any(Buffer),
      expect.any(Buffer),
    ])
    expect(await body.encoded('br')).toBe(await body.encoded('br'))
    expect(await body.encoded('gzip')).not.toEqual(await body.encoded('br'))
    expect(read).toBe(2)
  })

  test('is told of by HEAD', async () => {
    const [got, told] = [await ask('gzip'), await ask('gzip', 'HEAD')]
    expect(told.headers.get('content-length')).toBe(got.headers.get('content-length'))
    expect(Number(told.headers.get('content-length'))).toBeLessThan(TEXT.length / 10)
    expect(await told.text()).toBe('')
  })
})

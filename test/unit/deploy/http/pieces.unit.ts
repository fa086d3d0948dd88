import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { limitPieces } from '../../../../deploy/http/pieces.ts'
import { eventually } from '../../../support/eventually.ts'
import { openRaw, startBare } from '../../../support/raw-http.ts'

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunks = (count: number, text = ' '): string => `${text.length.toString(16)}\r\n${text}\r\n`.repeat(count)

let close: () => void = () => {}
afterEach(() => close())

async function open(begin: RequestListener) {
  const started = await startBare(begin, limitPieces)
  close = started.close
  return openRaw(started.port)
}

const readsNothing: RequestListener = (_request, response) => void response.end('ok')
const readsAll: RequestListener = (request, response) => void request.resume().on('end', () => response.end('ok'))

describe.each([
  ['nobody reads', readsNothing],
  ['is read', readsAll],
])('the pieces of a body that %s', (_name, begin) => {
  test('may be many, and the connection goes on', async () => {
    const connection = await open(begin)
    connection.send(HEAD, chunks(4_000), '0\r\n\r\n', HEAD, '0\r\n\r\n')
    await eventually(() => expect(connection.received().match(/ 200 OK/g)).toHaveLength(2))
  })

  test('may be any number where they are long', async () => {
    const connection = await open(begin)
    connection.send(HEAD, chunks(40_000, 'x'.repeat(64)), '0\r\n\r\n', HEAD, '0\r\n\r\n')
    await eventually(() => expect(connection.received().match(/ 200 OK/g)).toHaveLength(2))
  })

  test('end the connection where they are too many and too short', async () => {
    const connection = await open(begin)
    connection.send(HEAD, chunks(8_000))
    await connection.closed
  })
})

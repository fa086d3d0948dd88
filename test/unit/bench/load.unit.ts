import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { quantile, runLoad } from '../../../bench/load.ts'
import { type BareServer, startBare } from '../../support/raw-http.ts'

const servers: BareServer[] = []

async function serve(listener: RequestListener): Promise<string> {
  const server = await startBare(listener)
  servers.push(server)
  return `${server.url}/entries`
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const GOOD = '{"success":true}'
const load = { bodies: ['a', 'b', 'ü'], headers: { 'x-api-key': 'key' }, connections: 4, seconds: 30 }

test('each request has its body and headers, and every good answer is counted', async () => {
  const seen: string[] = []
  const url = await serve(async (request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['x-api-key']} ${await text(request)}`)
    response.end(GOOD)
  })
  const result = await runLoad({ ...load, url, requestsMax: 30 })
  expect(result).toMatchObject({ answered: 30, failed: 0 })
  expect(seen.filter((each) => each === 'POST /entries key ü')).toHaveLength(10)
  expect(seen).toHaveLength(30)
})

test('an answer that is no success is a failure, and so is a connection that is cut', async () => {
  let count = 0
  const url = await serve((request, response) => {
    count += 1
    if (count === 3) request.socket.destroy()
    else if (count === 5) response.end('{"success":false}')
    else if (count === 7) response.writeHead(503, { 'content-length': GOOD.length }).end(GOOD)
    else response.end(GOOD)
  })
  expect(await runLoad({ ...load, url, requestsMax: 40 })).toMatchObject({ answered: 37, failed: 3 })
})

test('what was sent is waited for, also after the time is over', async () => {
  let answered = 0
  const url = await serve((_request, response) => {
    setTimeout(() => {
      answered += 1
      response.end(GOOD)
    }, 600)
  })
  // A busy machine sends its first request within this time, too.
  const result = await runLoad({ ...load, url, seconds: 0.5 })
  expect(result).toMatchObject({ answered, failed: 0 })
  expect(answered).toBeGreaterThan(0)
})

test('under a rate a request waits for its turn, and its latency counts from then on', async () => {
  const url = await serve((_request, response) => setTimeout(() => response.end(GOOD), 50))
  // One connection answers 20 a second at best; what is due beyond that waits longer and longer.
  const result = await runLoad({ ...load, url, connections: 1, rate: 100, requestsMax: 10 })
  expect(result.answered).toBe(10)
  expect(result.p99Ms).toBeGreaterThan(300)
})

test('quantiles are of sorted values', () => {
  const values = Array.from({ length: 100 }, (_, index) => index)
  expect([quantile(values, 0.5), quantile(values, 0.99), quantile([7], 0.99)]).toEqual([50, 99, 7])
  expect(quantile([], 0.5)).toBeNaN()
})

import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createListener, type Handler } from '../../../../shared/http/listener.ts'
import { routed, timed } from '../../../../shared/http/request-times.ts'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { eventually } from '../../../support/eventually.ts'
import { createMemoryTracer, traceparentOf } from '../../../support/memory-tracer.ts'

const PARENT = traceparentOf(7)

const metrics = createMetrics()
const tracer = createMemoryTracer((wish) => wish === true)
/** The `traceparent` of the requests for logs, as their handler sees it. */
const seen: unknown[] = []
const server = createServer()
let url: string
let silent: Promise<void>

beforeEach(async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  silent = promise
  const app = express()
  app.get('/flows/:id', (_request, response) => void response.end('a flow'))
  app.get('/silent', () => resolve())
  const logs: Handler = (request, response) => {
    seen.push(request.headers['traceparent'])
    response.writeHead(503).end()
  }
  const handler = routed({ path: '/logs' }, logs)
  const listener = createListener(app, createLogger('silent', 'test'), (target) =>
    target.startsWith('/logs') ? handler : undefined,
  )
  server.on('request', timed(listener, metrics, tracer))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  seen.length = 0
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(async () => {
  server.removeAllListeners('request')
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
})

async function counts(): Promise<Record<string, number>> {
  const { values } = await metrics.histogram('sluice_http_request_seconds').get()
  const counted = values.filter((each) => 'metricName' in each && String(each.metricName).endsWith('_count'))
  return Object.fromEntries(counted.map(({ labels, value }) => [`${labels['route']} ${labels['status_class']}`, value]))
}

test('requests are counted by the template of their route and the class of their status', async () => {
  for (const path of ['/flows/1', '/flows/2', '/logs', '/logs?x=1', '/nowhere/1', '/nowhere/2'])
    await (await fetch(url + path)).text()
  const aborted = request(`${url}/silent`).on('error', () => undefined)
  aborted.end()
  await silent
  aborted.destroy()
  await eventually(async () =>
    expect(await counts()).toEqual({
      '/flows/:id 2xx': 2,
      '/logs 5xx': 2,
      'other 4xx': 2,
      '/silent none': 1,
    }),
  )
})

test('a traced request is a part of what its sender names, and says itself what its records are a part of', async () => {
  const headers = { traceparent: PARENT }
  for (const path of ['/flows/secret-key?q=secret', '/logs', '/nowhere/secret'])
    await (await fetch(url + path, { headers })).text()
  for (const traceparent of [traceparentOf(8, '00'), 'nonsense'])
    await fetch(`${url}/logs`, { headers: { traceparent } })
  const aborted = request(`${url}/silent`, { headers }).on('error', () => undefined)
  aborted.end()
  await silent
  aborted.destroy()
  await eventually(() => expect(tracer.spans.every(({ ended }) => ended)).toBe(true))
  expect(tracer.spans.map(({ name, failure, attributes }) => [name, attributes['http.route'], failure])).toEqual([
    ['GET /flows/:id', '/flows/:id', undefined],
    ['GET /logs', '/logs', '503'],
    ['GET', undefined, undefined],
    ['GET /silent', '/silent', 'no_answer'],
  ])
  for (const span of tracer.spans) expect(span).toMatchObject({ kind: 'server', parent: PARENT })
  expect(JSON.stringify(tracer.spans)).not.toContain('secret')
  expect(seen).toEqual([tracer.spans[1]?.traceparent, traceparentOf(8, '00'), 'nonsense'])
})

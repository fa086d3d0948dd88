import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createListener, type Handler } from '../../../../shared/http/listener.ts'
import { routed, timed } from '../../../../shared/http/request-times.ts'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { eventually } from '../../../support/eventually.ts'

const metrics = createMetrics()
const server = createServer()
let url: string
let silent: Promise<void>

beforeEach(async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  silent = promise
  const app = express()
  app.get('/flows/:id', (_request, response) => void response.end('a flow'))
  app.get('/silent', () => resolve())
  const logs: Handler = (_request, response) => void response.writeHead(503).end()
  const handler = routed({ path: '/logs' }, logs)
  const listener = createListener(app, createLogger('silent', 'test'), (target) =>
    target.startsWith('/logs') ? handler : undefined,
  )
  server.on('request', timed(listener, metrics))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
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

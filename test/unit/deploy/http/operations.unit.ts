import express from 'express'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { healthRoutes, metricsRoutes, type OperationsDeps } from '../../../../deploy/http/operations.ts'
import { createListener } from '../../../../shared/http/listener.ts'
import type { Health } from '../../../../shared/runtime/lifecycle.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { startBare } from '../../../support/raw-http.ts'

let url: string
let close: () => void
let logged: string
let health: readonly Health[]
let draining: boolean
let moreMetrics: () => Promise<object>

beforeEach(async () => {
  logged = ''
  health = [{ name: 'journal', ready: true }]
  draining = false
  moreMetrics = async () => []
  const write = (line: string): void => {
    logged += line
  }
  const logger = pino({ level: 'info' }, { write })
  const deps: OperationsDeps = {
    logger,
    metrics: createMetrics(),
    moreMetrics: () => moreMetrics(),
    health: async () => health,
    draining: () => draining,
  }
  const started = await startBare(createListener(express().use(healthRoutes(deps)).use(metricsRoutes(deps)), logger))
  url = `http://127.0.0.1:${started.port}`
  close = started.close
})

afterEach(() => close())

const ask = async (path: string) => {
  const response = await fetch(url + path)
  return [response.status, await response.json()]
}

test('ready is what all parts are, and nothing is while the process stops', async () => {
  expect(await ask('/health/ready')).toEqual([200, { ready: true, parts: health }])
  health = [{ name: 'journal', ready: false, reason: 'it does not answer' }]
  expect(await ask('/health/ready')).toEqual([503, { ready: false, parts: health }])
  health = []
  draining = true
  expect(await ask('/health/ready')).toMatchObject([503, { parts: [{ name: 'process' }] }])
  expect(await ask('/health/live')).toEqual([200, { live: true }])
})

test.each(['/health/live', '/health/ready', '/metrics'])('%s is answered by no cache', async (path) => {
  expect((await fetch(url + path)).headers.get('cache-control')).toBe('no-store')
})

test.each(['/health/live', '/health/ready', '/metrics'])('%s takes GET and HEAD only', async (path) => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const response = await fetch(url + path, { method })
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'method_not_allowed' } })
  }
  expect((await fetch(url + path, { method: 'HEAD' })).status).toBe(200)
})

describe('GET /metrics', () => {
  const own = 'sluice_registry_ready 0'
  const text = async (): Promise<string> => (await fetch(`${url}/metrics`)).text()

  test('has those of every thread', async () => {
    const other = createMetrics()
    other.counter('sluice_connections_refused_total').inc(3)
    moreMetrics = () => other.registry.getMetricsAsJSON()
    expect(await text()).toMatch(/^sluice_connections_refused_total 3$/m)
  })

  test('leaves out those of a thread that does not answer, and says so once', async () => {
    moreMetrics = () => new Promise(() => undefined)
    expect(await text()).toContain(own)
    expect(await text()).toContain(own)
    expect(logged.match(/left out/g)).toHaveLength(1)
  })

  test('leaves out those of a thread that fails', async () => {
    moreMetrics = () => Promise.reject(new Error('gone'))
    expect(await text()).toContain(own)
  })

  test('is collected once for all who ask at a time', async () => {
    let asked = 0
    const { promise, resolve } = Promise.withResolvers<object>()
    moreMetrics = () => {
      asked += 1
      return promise
    }
    const scrapes = Array.from({ length: 5 }, text)
    // The first of these is answered after all of those have been taken.
    for (let round = 0; round < 5; round += 1) await ask('/health/live')
    resolve([])
    expect(new Set(await Promise.all(scrapes)).size).toBe(1)
    expect(asked).toBe(1)
  })
})

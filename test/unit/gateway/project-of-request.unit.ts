import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CHECKOUT,
  type ForeignGateway,
  KEY,
  LONE,
  LONE_KEY,
  STOCK,
  startForeignGateway,
} from '../../support/foreign-gateway.ts'
import { protobufOf } from '../../support/otlp-protobuf.ts'

let gateway: ForeignGateway

beforeAll(async () => {
  gateway = await startForeignGateway({ config: { BASE_PATH: '/logs', CORS_ORIGINS: ['https://shop.example'] } })
})
afterAll(() => gateway.close())

const EXPORT = {
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'Stock' } }] },
      scopeLogs: [{ logRecords: [{ body: { stringValue: 'hello' } }] }],
    },
  ],
}
const EVENT = '{"@m":"hello"}\n'

/** Every intake that takes logs of other clients: its path, and a request. */
const INTAKES: readonly (readonly [path: string, body: string | Uint8Array, type: string])[] = [
  ['/v1/logs', JSON.stringify(EXPORT), 'application/json'],
  ['/v1/logs', protobufOf(EXPORT), 'application/x-protobuf'],
  ['/ingest/otlp/v1/logs', protobufOf(EXPORT), 'application/x-protobuf'],
  ['/ingest/clef', EVENT, 'application/vnd.serilog.clef'],
  ['/api/events/raw', EVENT, 'application/vnd.serilog.clef'],
]

/** The status of the answer, and the Project of what was stored. */
async function post([path, body, type]: (typeof INTAKES)[number], headers: Record<string, string> = {}) {
  const before = gateway.records().length
  const { status, body: bytes } = await fetch(`http://127.0.0.1:${gateway.port}/logs${path}`, {
    method: 'POST',
    headers: { 'content-type': type, 'x-api-key': KEY, ...headers },
    body: body as string,
  })
  await bytes?.cancel()
  const [record] = gateway.records().slice(before)
  const { project = null } = record === undefined ? {} : JSON.parse(String(record.value))
  return { taken: status < 300, status, project }
}

describe.each(INTAKES)('the Project of a request to %s', (path, body, type) => {
  const to = (address: string, headers?: Record<string, string>) => post([address, body, type], headers)

  test.each([
    [`/projects/Checkout%20API${path}`],
    [`/projects/checkout%20api${path}`],
    [`/projects/${CHECKOUT}${path}`],
    [`/projects/%7B${CHECKOUT.toUpperCase()}%7D${path}/`],
    [`${path}?project=Checkout%20API`],
    [`${path}?clef&project=${CHECKOUT}`],
    [`/projects/Checkout%20API${path}?project=Stock`],
  ])('stands in the address %s, and wins over a name in the body', async (address) => {
    expect(await to(address)).toMatchObject({ taken: true, project: CHECKOUT })
  })

  test('stands in the header, which wins over the address', async () => {
    const header = { 'x-project-id': 'checkout API' }
    for (const named of ['checkout API', 'checkout%20API'])
      expect(await to(path, { 'x-project-id': named })).toMatchObject({ taken: true, project: CHECKOUT })
    expect(await to(`/projects/Stock${path}?project=Stock`, header)).toMatchObject({ taken: true, project: CHECKOUT })
  })

  test.each([
    ['nobody', 404],
    ['Twin', 404],
    ['Retired', 404],
    [LONE, 404],
  ])('that is %s is refused with %i, and nothing is taken', async (project, status) => {
    gateway.noted.length = 0
    expect(await to(`/projects/${project}${path}`)).toEqual({ taken: false, status, project: null })
    expect(await to(path, { 'x-project-id': project })).toEqual({ taken: false, status, project: null })
    expect(new Set(gateway.noted.map(({ endpoint }) => endpoint.replace('?clef', '')))).toEqual(new Set([path]))
  })

  test('that is refused is told of where the request named it, as a name in the body would not count', async () => {
    const refused = await fetch(`http://127.0.0.1:${gateway.port}/logs${path}`, {
      method: 'POST',
      headers: { 'content-type': type, 'x-api-key': KEY, 'x-project-id': 'nobody' },
      body: body as string,
    })
    const text = await refused.text()
    expect(text).toContain('in the header X-Project-Id')
    expect(text).not.toContain('service.name')
  })

  test('of an unknown name is the only one of its Team', async () => {
    expect(await to(`/projects/nobody${path}`, { 'x-api-key': LONE_KEY })).toMatchObject({ taken: true, project: LONE })
  })

  test('in the address is no way to another base path, and no metric', async () => {
    const outside = await fetch(`http://127.0.0.1:${gateway.port}/projects/Stock${path}`, { method: 'POST' })
    expect(outside.status).toBe(404)
    expect(await gateway.metrics.registry.metrics()).not.toMatch(/checkout|projects\//i)
  })

  test('in the address is let through by CORS, and takes POST alone', async () => {
    const address = `http://127.0.0.1:${gateway.port}/logs/projects/Stock${path}`
    const preflight = await fetch(address, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      expect.stringContaining('x-project-id'),
    ])
    const get = await fetch(address)
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('a request with an Idempotency-Key', () => {
  const [intake] = INTAKES
  const send = async (address: string) => {
    const before = gateway.records().length
    await post([address, intake?.[1] ?? '', intake?.[2] ?? ''], { 'idempotency-key': 'retry' })
    return gateway.records()[before]?.headers['ce_id']
  }

  test('has other ids for another Project in the address, and the same for the same', async () => {
    const first = await send('/projects/Stock/v1/logs')
    expect(await send(`/v1/logs?project=${STOCK}`)).toEqual(first)
    expect(await send('/projects/Checkout%20API/v1/logs')).not.toEqual(first)
    expect(await send('/v1/logs')).not.toEqual(first)
  })
})

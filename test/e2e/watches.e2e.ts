import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { MadeWatch, WatchDetails } from '../../views/schemas/watches.ts'
import { type Client, createClient } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { type BareServer, startBare } from '../support/raw-http.ts'
import { type SluiceProcess, startSluice, temporaryFolder } from '../support/sluice-process.ts'

interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

const folder = temporaryFolder()
const SETTINGS = {
  DATA_DIR: join(folder.path, 'data'),
  WATCH_INTERVAL_MS: '1000',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  PAGE_URL: 'https://logs.example.com/sluice/',
}
const received: Received[] = []
let status = 200
let receiver: BareServer
let hook: string
let server: SluiceProcess
let client: Client

beforeAll(async () => {
  receiver = await startBare(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    received.push({ path: request.url ?? '', headers: request.headers, body })
    response.writeHead(status).end()
  })
  hook = receiver.url
  server = await startSluice(SETTINGS)
  const key = /\bsl_[\w-]+/.exec(server.printed())?.[0] ?? ''
  client = createClient(server.url, key)
  // The watches are read from their topic while the server takes its first requests.
  await eventually(async () => (await client.get('/api/team/watches')).success)
}, 60_000)

beforeEach(() => {
  status = 200
  received.length = 0
})

afterAll(async () => {
  server.kill('SIGTERM')
  await server.exited
  await receiver.close()
  folder.remove()
})

const make = async (path: string, condition: object): Promise<MadeWatch> => {
  const webhook = { url: hook + path, format: 'json' }
  const answer = await client.post('/api/team/watches', { name: path, condition, webhook })
  expect(answer).toMatchObject({ success: true })
  return answer.data as unknown as MadeWatch
}
const details = async (id: string): Promise<WatchDetails> =>
  (await client.get<WatchDetails>(`/api/team/watches/${id}`)).data
const send = (fields: object) =>
  client.post('/api/ExternalLogs', { uniqueIdentifier: 'order-placed', payload: 'x', level: 'Error', ...fields })
const at = (path: string): Received[] => received.filter((one) => one.path === path)

test('a count that is passed is posted once, signed, with a link, and stands in the history', async () => {
  const { id, secret } = await make('/count', {
    type: 'count',
    list: 'event-logs',
    params: { q: 'declined', level: 'Error' },
    more: 2,
    minutes: 5,
  })
  for (let count = 0; count < 3; count += 1) await send({ payload: 'declined' })
  await eventually(async () => {
    expect((await details(id)).history.map(({ outcome }) => outcome)).toEqual(['delivered', 'fired'])
  }, 30_000)
  expect((await details(id)).state).toBe('met')
  expect(at('/count')).toHaveLength(1)
  const [{ headers, body } = { headers: {} as Received['headers'], body: '' }] = at('/count')
  const { type, data } = JSON.parse(body)
  expect({ type, data }).toMatchObject({ type: 'watch.fired', data: { count: 3, watch: { id } } })
  const link = new URL(data.url)
  expect(link.origin + link.pathname).toBe('https://logs.example.com/sluice/event-logs')
  expect((await client.get<{ items: unknown[] }>(`/api/event-logs${link.search}`)).data.items).toHaveLength(3)
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret?.replace('whsec_', '') ?? '', 'base64')
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
}, 60_000)

test('a flow that fails and a new exception are posted each once', async () => {
  const flows = await make('/flows', { type: 'flows', state: 'failed', event: 'order-placed' })
  const groups = await make('/groups', { type: 'newGroup', by: 'exception', params: {} })
  await eventually(async () => {
    for (const { id } of [flows, groups]) expect((await details(id)).state).toBe('waiting')
  }, 30_000)
  await send({ correlationKey: 'order-4711', payload: 'lost' })
  const { data } = await client.get<{ projects: { id: string }[] }>('/api/team')
  await client.post('/api/ApplicationLogs', {
    uniqueIdentifier: data.projects[0]?.id,
    categoryName: 'Shop',
    message: 'it broke',
    level: 'Error',
    exception: 'Acme.LostError: lost\n   at Acme.Shop.Find()',
  })
  await eventually(() => expect([at('/flows').length, at('/groups').length]).toEqual([1, 1]), 30_000)
  expect(JSON.parse(at('/flows')[0]?.body ?? '').data).toMatchObject({ count: 1, samples: ['order-4711'] })
  expect(JSON.parse(at('/groups')[0]?.body ?? '').data).toMatchObject({ count: 1, samples: ['Acme.LostError'] })
}, 60_000)

test('a receiver that fails is told of, and what it missed comes after a restart under the same id', async () => {
  status = 500
  const { id } = await make('/down', {
    type: 'count',
    list: 'event-logs',
    params: { q: 'outage' },
    more: 0,
    minutes: 60,
  })
  await send({ payload: 'outage' })
  await eventually(async () => {
    expect((await details(id)).delivery).toMatchObject({ attempts: 1, reason: 'The receiver answered 500.' })
  }, 30_000)
  server.kill('SIGKILL')
  await server.exited
  status = 200
  server = await startSluice({ ...SETTINGS, PORT: new URL(server.url).port })
  await eventually(async () => expect((await details(id)).history[0]?.outcome).toBe('delivered'), 60_000)
  const ids = at('/down').map(({ headers }) => headers['webhook-id'])
  expect([ids.length, new Set(ids).size]).toEqual([2, 1])
}, 120_000)

test('the metrics count what was done', async () => {
  // The restarted server may deliver before it evaluates.
  await eventually(async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    expect(text).toMatch(/^sluice_watch_evaluations_total\{result="met"\} [1-9]/m)
    expect(text).toMatch(/^sluice_watch_deliveries_total\{result="delivered"\} [1-9]/m)
    expect(text).toMatch(
      /^sluice_watch_last_evaluation_timestamp_seconds 1\.\d+e\+?0?9|^sluice_watch_last_evaluation_timestamp_seconds \d{10}/m,
    )
  }, 30_000)
})

import { accepted, type Client } from './api.ts'
import { eventually } from './eventually.ts'
import { type PageServer, startWithRegistry } from './page-server.ts'

export const SHOP_KEY = 'sl_key-of-the-shop'
export const OTHER_KEY = 'sl_key-of-another-team'
export const CHECKOUT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
export const WAREHOUSE = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'
export const OTHER_PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3303'

/** Number of Steps that the large flow passes through; its two Projects have lanes besides. */
export const STAGES = 38

const REGISTRY = `
teams:
  - { id: shop, name: Shop, apiKeys: [${SHOP_KEY}] }
  - { id: other, name: Other, apiKeys: [${OTHER_KEY}] }
events:
  - { identifier: order, team: shop, name: Order placed }
  - { identifier: import, team: shop, name: Nightly import }
  - { identifier: secret, team: other, name: Secret of the other Team }
steps:
  - { identifier: order.validate, team: shop, event: order, name: Validate, order: 1 }
  - { identifier: order.charge, team: shop, event: order, name: Charge, order: 2 }
  - { identifier: order.ship, team: shop, event: order, name: Ship, order: 3 }
  - { identifier: order.deliver, team: shop, event: order, name: Deliver, order: 4 }
  - { identifier: audit, team: shop, name: Audit }
${Array.from({ length: STAGES }, (_, index) => `  - { identifier: import.s${index}, team: shop, event: import, name: Stage ${index}, order: ${index + 1} }`).join('\n')}
projects:
  - { id: ${CHECKOUT}, team: shop, name: Checkout API }
  - { id: ${WAREHOUSE}, team: shop, name: Warehouse }
  - { id: ${OTHER_PROJECT}, team: other, name: Project of the other Team }
`

/** A log to send: to an Event or Step by its identifier, or to a Project with a category. */
export interface SentLog {
  readonly to: string
  readonly category?: string
  readonly key: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly text?: string
  readonly level?: string
  readonly exception?: string
}

export const SECOND = 1_000
const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
/** Long enough ago for a waiting flow to be stalled. */
export const BEGIN = Date.now() - 26 * HOUR

/** An order over two Projects: charged twice with hours in between, not yet shipped. */
export const orderOf = (key: string): readonly SentLog[] => {
  const retry = BEGIN + 3 * HOUR
  return [
    { to: 'order', at: BEGIN, text: '{"order":4711}' },
    { to: 'order.validate', at: BEGIN + SECOND, text: 'first look' },
    { to: 'order.validate', at: BEGIN + 4 * SECOND, text: 'valid' },
    { to: 'order.charge', at: BEGIN + 5 * SECOND, text: '{"provider":"paynet","durationMs":2000}' },
    { to: 'order.charge', at: BEGIN + 8 * SECOND, text: '{"error":"timeout"}', level: 'Error' },
    { to: 'order.charge', at: retry, text: '{"retry":1}' },
    { to: 'order.charge', at: retry + 2 * SECOND, text: '{"authorised":true}' },
    { to: 'audit', at: retry + 3 * SECOND, text: 'charged' },
    {
      to: CHECKOUT,
      category: 'Shop.Payments.Client',
      at: BEGIN + 8_100,
      text: 'no answer from paynet',
      level: 'Warning',
    },
    { to: CHECKOUT, category: 'Shop.Orders', at: BEGIN + 500, text: 'accepted' },
    { to: WAREHOUSE, category: 'Stock', at: retry + SECOND, text: 'shelf is empty', level: 'Critical' },
  ].map((log) => ({ ...log, key }))
}

export interface FlowServer extends Omit<PageServer, 'key'> {
  /** Sends logs and waits until their flows contain them. */
  send(logs: readonly SentLog[], client?: Client): Promise<void>
}

/** The embedded Sluice with a shop's Events, Steps and Projects, and a second Team. */
export async function startFlowServer(): Promise<FlowServer> {
  const server = await startWithRegistry(REGISTRY, SHOP_KEY)
  return { ...server, send: (logs, by = server.client) => sendLogs(logs, by) }
}

const BATCH = 100
const AT_ONCE = 50

/** Sends logs of one flow and waits until the flow contains them. */
export async function sendLogs(logs: readonly SentLog[], client: Client, withinMs?: number): Promise<void> {
  const key = logs[0]?.key ?? ''
  const before = await countOf(client, key)
  const [events, applications] = [
    logs.filter(({ category }) => category === undefined),
    logs.filter(({ category }) => category !== undefined),
  ]
  for (let index = 0; index < events.length; index += AT_ONCE)
    await Promise.all(events.slice(index, index + AT_ONCE).map((log) => sendEvent(log, client)))
  for (const [project, own] of Map.groupBy(applications, ({ to }) => to))
    for (let index = 0; index < own.length; index += BATCH)
      await sendBatch(project, own.slice(index, index + BATCH), client)
  const expected = before + logs.filter((log) => log.key === key).length
  await eventually(async () => (await countOf(client, key)) >= expected, withinMs)
}

async function sendEvent(
  { to, key, at, text = 'done', level = 'Information' }: SentLog,
  client: Client,
): Promise<void> {
  await accepted(client, '/api/ExternalLogs', {
    uniqueIdentifier: to,
    payload: text,
    level,
    correlationKey: key,
    timestamp: new Date(at).toISOString(),
  })
}

async function sendBatch(project: string, logs: readonly SentLog[], client: Client): Promise<void> {
  await accepted(client, '/api/ApplicationLogs/batch', {
    uniqueIdentifier: project,
    logEntries: logs.map(({ category, key, at, text = 'said', level = 'Information', exception }) => ({
      exception,
      categoryName: category,
      message: text,
      level,
      correlationKey: key,
      timestamp: new Date(at).toISOString(),
    })),
  })
}

async function countOf(client: Client, key: string): Promise<number> {
  const answer = await client.get<{ summary: { total: number } }>(`/api/flows/-?limit=1&key=${encodeURIComponent(key)}`)
  return answer.success ? answer.data.summary.total : 0
}

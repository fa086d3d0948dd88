import { accepted, type Client } from './api.ts'
import { eventually } from './eventually.ts'

/** A Team whose logs fill every view of the page: several days of orders, refunds and imports in three Projects. */
export const BUSY_KEY = 'busy_9f8bc1d2a3b4c5d6e7f8091a2b3c4d5e'

export const BUSY_PROJECTS = {
  checkout: '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  billing: '3f2504e0-4f89-11d3-9a0c-0305e82c3302',
  warehouse: '3f2504e0-4f89-11d3-9a0c-0305e82c3303',
} as const

/** A flow over two days and three Projects, with an error, a long wait and a missing Step. */
export const TOLD_FLOW = 'order-4711'

/** The Team's registry file. */
export const BUSY_REGISTRY = `
teams:
  - { id: acme, name: Acme Commerce, apiKeys: ["${BUSY_KEY}"] }
events:
  - { identifier: order-placed, team: acme, name: Order placed }
  - { identifier: refund, team: acme, name: Refund }
  - { identifier: nightly-import, team: acme, name: Nightly import }
  - { identifier: newsletter, team: acme, name: Newsletter, archived: true }
steps:
  - { identifier: order-placed.validate, team: acme, event: order-placed, name: Validate, order: 1 }
  - { identifier: order-placed.charge, team: acme, event: order-placed, name: Charge card, order: 2 }
  - { identifier: order-placed.pack, team: acme, event: order-placed, name: Pack, order: 3 }
  - { identifier: order-placed.ship, team: acme, event: order-placed, name: Ship, order: 4 }
  - { identifier: order-placed.invoice, team: acme, event: order-placed, name: Send invoice, order: 5 }
  - { identifier: refund.approve, team: acme, event: refund, name: Approve, order: 1 }
  - { identifier: refund.pay-out, team: acme, event: refund, name: Pay out, order: 2 }
  - { identifier: nightly-import.fetch, team: acme, event: nightly-import, name: Fetch, order: 1 }
  - { identifier: nightly-import.load, team: acme, event: nightly-import, name: Load, order: 2 }
projects:
  - { id: ${BUSY_PROJECTS.checkout}, team: acme, name: Checkout API }
  - { id: ${BUSY_PROJECTS.billing}, team: acme, name: Billing }
  - { id: ${BUSY_PROJECTS.warehouse}, team: acme, name: Warehouse }
`

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
const BATCH = 100

interface EventBody {
  readonly uniqueIdentifier: string
  readonly payload: string
  readonly level: string
  readonly timestamp: string
  readonly correlationKey?: string
  readonly environment: string
}

/** Sends everything and waits until it is readable; `now` (milliseconds since 1970) is the time of the latest log. */
export async function fillBusyTeam(client: Client, now: number): Promise<void> {
  const random = randomFrom(4711)
  const events = [...orders(now, random), ...toldFlow(now)]
  const applications = applicationLogs(now, random)
  await inTurns(events, (body) => accepted(client, '/api/ExternalLogs', body))
  await inTurns(applications, (body) => accepted(client, '/api/ApplicationLogs/batch', body))
  await sendRefused(client)
  await inTurns(WATCHES, (watch) => accepted(client, '/api/team/watches', { webhook: WEBHOOK, ...watch }))
  const sent = applications.reduce((sum, { logEntries }) => sum + logEntries.length, 0)
  await eventually(async () => {
    const [event, application] = await Promise.all(
      ['event', 'application'].map((kind) => client.get<{ total: number }>(`/api/${kind}-logs/histogram?buckets=1`)),
    )
    return event?.data.total === events.length && application?.data.total === sent
  }, 30_000)
}

/** Sends the mistakes of the Team's clients: a typo, an old key, invalid fields in a batch, and one mistake repeated. */
async function sendRefused(client: Client): Promise<void> {
  const agent = (name: string) => ({ 'user-agent': name })
  const log = { uniqueIdentifier: 'order-placed', payload: 'Order 4711 placed', level: 'Information' }
  const entry = { categoryName: 'Acme.Billing', message: 'Invoice sent', level: 'Information' }
  const send = (body: object, headers: Record<string, string>) => client.post('/api/ExternalLogs', body, headers)
  await Promise.all(Array.from({ length: 60 }, () => send({ ...log, level: 'Notice' }, agent('acme-warehouse/0.9'))))
  await send(log, { ...agent('acme-shop/2.1'), 'x-api-key': 'busy_0000000000000000000000000000' })
  await client.post('/api/ApplicationLogs/batch', {
    uniqueIdentifier: BUSY_PROJECTS.billing,
    logEntries: [
      { ...entry, message: '' },
      { ...entry, eventId: 'INV-12', scopeData: 'tenant=acme' },
    ],
  })
  await send({ ...log, uniqueIdentifier: 'newsletter' }, agent('acme-mailer/1.4'))
  await send({ ...log, uniqueIdentifier: 'order-placed.valdiate' }, agent('acme-shop/2.2'))
}

/** An address that is nobody's (RFC 2606): what is posted to it never arrives. */
const WEBHOOK = { url: 'https://hooks.example/acme', format: 'json' }
const WATCHES = [
  { name: 'Orders that fail', condition: { type: 'flows', state: 'failed', event: 'order-placed' } },
  {
    name: 'Errors in Billing',
    condition: {
      type: 'count',
      list: 'application-logs',
      params: { level: 'Error', project: BUSY_PROJECTS.billing },
      ...{ more: 0, minutes: 1_440 },
    },
  },
  {
    name: 'New exceptions in Production',
    condition: { type: 'newGroup', by: 'exception', params: { environment: 'Production' } },
  },
]

const CONCURRENT = 32

async function inTurns<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += CONCURRENT) await Promise.all(items.slice(at, at + CONCURRENT).map(run))
}

const ENVIRONMENTS = ['Production', 'Production', 'Production', 'Staging', 'Development']

function orders(now: number, random: Random): readonly EventBody[] {
  return Array.from({ length: 90 }, (_, index) => {
    const start = now - random.below(26 * HOUR) - 20 * MINUTE
    const order = 4_800 + index
    const environment = random.of(ENVIRONMENTS)
    const log = (identifier: string, after: number, level: string, payload: unknown): EventBody => ({
      uniqueIdentifier: identifier,
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
      level,
      timestamp: new Date(start + after).toISOString(),
      correlationKey: `order-${order}`,
      environment,
    })
    const total = 10 + random.below(400)
    const declined = random.below(9) === 0
    const packed = (4 + random.below(12)) * MINUTE + random.below(MINUTE)
    const shipped = packed + (3 + random.below(40)) * MINUTE
    const invoiced = shipped + (1 + random.below(4)) * SECOND
    const steps = [
      log('order-placed', 0, 'Information', { order, items: 1 + random.below(6), total, currency: 'EUR' }),
      log('order-placed.validate', 180 + random.below(400), 'Information', { order, valid: true, rules: 14 }),
      log('order-placed.charge', 2 * SECOND, 'Debug', { order, provider: 'stripe', attempt: 1 }),
      log('order-placed.charge', 3 * SECOND, declined ? 'Error' : 'Information', {
        order,
        provider: 'stripe',
        outcome: declined ? 'declined' : 'captured',
        ...(declined && { reason: 'insufficient_funds', retryable: false }),
      }),
      log('order-placed.pack', packed, 'Information', `Order ${order} packed at station ${1 + random.below(12)}`),
      log('order-placed.ship', shipped, random.below(6) === 0 ? 'Warning' : 'Information', {
        order,
        carrier: random.of(['dhl', 'ups', 'gls']),
        late: false,
      }),
      log('order-placed.invoice', invoiced, 'Information', { order, invoice: `INV-${order}`, total }),
    ]
    const reached = declined ? 4 : random.below(5) === 0 ? 4 + random.below(2) : steps.length
    return steps.slice(0, reached).filter(({ timestamp }) => Date.parse(timestamp) <= now)
  }).flat()
}

function toldFlow(now: number): readonly EventBody[] {
  const start = now - 27 * HOUR
  const log = (uniqueIdentifier: string, after: number, level: string, payload: unknown): EventBody => ({
    uniqueIdentifier,
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    level,
    timestamp: new Date(start + after).toISOString(),
    correlationKey: TOLD_FLOW,
    environment: 'Production',
  })
  return [
    log('order-placed', 0, 'Information', { order: 4_711, items: 3, total: 129.9, currency: 'EUR', customer: 'c-88' }),
    log('order-placed.validate', 240, 'Debug', { rule: 'address', ok: true }),
    log('order-placed.validate', 410, 'Information', { order: 4_711, valid: true, rules: 14 }),
    log('order-placed.charge', 2 * SECOND, 'Information', { provider: 'stripe', attempt: 1 }),
    log('order-placed.charge', 32 * SECOND, 'Warning', { provider: 'stripe', attempt: 1, outcome: 'timeout' }),
    log('order-placed.charge', 34 * SECOND, 'Error', { provider: 'stripe', attempt: 2, outcome: 'declined' }),
    log('order-placed.charge', 95 * SECOND, 'Information', { provider: 'adyen', attempt: 3, outcome: 'captured' }),
    log('order-placed.pack', 25.4 * HOUR, 'Information', 'Order 4711 packed at station 7'),
    log('order-placed.ship', 25.9 * HOUR, 'Information', { carrier: 'dhl', parcel: 'JD0146' }),
    log('refund', 26.6 * HOUR, 'Information', { order: 4_711, amount: 29.9, reason: 'one item missing' }),
    log('refund.approve', 26.62 * HOUR, 'Information', { by: 'm.keller', amount: 29.9 }),
  ]
}

const EXCEPTION = `System.InvalidOperationException: Payment for order 4711 could not be captured
 ---> Stripe.StripeException: Your card has insufficient funds.
 ---> System.Net.Http.HttpRequestException: Response status code does not indicate success: 402 (Payment Required).
   at System.Net.Http.HttpResponseMessage.EnsureSuccessStatusCode()
   at Stripe.SystemNetHttpClient.SendAsync(StripeRequest request, CancellationToken token)
   --- End of inner exception stack trace ---
   at Stripe.StripeClient.RequestAsync[T](HttpMethod method, String path, CancellationToken token)
   --- End of inner exception stack trace ---
   at Acme.Billing.Payments.CaptureHandler.HandleAsync(CapturePayment command) in /src/Billing/Payments/CaptureHandler.cs:line 87
   at Acme.Billing.Messaging.Dispatcher.DispatchAsync(Envelope envelope) in /src/Billing/Messaging/Dispatcher.cs:line 41
   at System.Threading.Tasks.Task.<>c.<ThrowAsync>b__128_0(Object state)
   at Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol.ProcessRequests[TContext](IHttpApplication\`1 application)`

interface Kind {
  readonly project: keyof typeof BUSY_PROJECTS
  readonly categoryName: string
  readonly level: string
  readonly eventId: number
  readonly eventName: string
  readonly message: (order: number, random: Random) => string
  readonly exception?: string
}

const kind = (
  project: Kind['project'],
  categoryName: string,
  level: string,
  eventId: number,
  eventName: string,
  message: Kind['message'],
  exception?: string,
): Kind => ({
  project,
  categoryName,
  level,
  eventId,
  eventName,
  message,
  ...(exception !== undefined && { exception }),
})

const KINDS: readonly Kind[] = [
  kind(
    'checkout',
    'Acme.Checkout.Carts',
    'Information',
    1_001,
    'CartPriced',
    (order) => `Cart of order ${order} priced`,
  ),
  kind('checkout', 'Acme.Checkout.Carts', 'Debug', 0, '', (order) => `Rule set 14 applied to order ${order}`),
  kind(
    'checkout',
    'Microsoft.AspNetCore.Hosting.Diagnostics',
    'Information',
    2,
    'RequestFinished',
    (order, random) =>
      `Request finished HTTP/1.1 POST https://checkout.acme.test/orders/${order} - 201 null application/json ${random.below(900) / 10}ms`,
  ),
  kind(
    'billing',
    'Acme.Billing.Payments.CaptureHandler',
    'Information',
    2_001,
    'PaymentCaptured',
    (order) => `Payment of order ${order} captured`,
  ),
  kind(
    'billing',
    'Acme.Billing.Payments.CaptureHandler',
    'Warning',
    2_002,
    'CaptureSlow',
    (order, random) => `Capture of order ${order} took ${3_000 + random.below(9_000)} ms`,
  ),
  kind(
    'billing',
    'Acme.Billing.Payments.CaptureHandler',
    'Error',
    2_003,
    'CaptureFailed',
    (order) => `Payment of order ${order} could not be captured`,
    EXCEPTION,
  ),
  kind(
    'billing',
    'Acme.Billing.Jobs.InvoiceJob',
    'Trace',
    0,
    '',
    (order) => `Looking for an invoice of order ${order}`,
  ),
  kind(
    'warehouse',
    'Acme.Warehouse.Stations',
    'Information',
    3_001,
    'Packed',
    (order, random) => `Order ${order} packed at station ${1 + random.below(12)}`,
  ),
  kind(
    'warehouse',
    'Acme.Warehouse.Stock',
    'Critical',
    3_009,
    'StockNegative',
    (order) => `Stock of SKU-${order} is negative; picking was stopped`,
  ),
]

/** The frequency of each kind, in percent. */
const WEIGHTS = [22, 18, 20, 14, 6, 3, 8, 8, 1]

function applicationLogs(now: number, random: Random) {
  const batches = Object.entries(BUSY_PROJECTS).map(([project, uniqueIdentifier]) => ({
    uniqueIdentifier,
    project,
    logEntries: [] as object[],
  }))
  for (let count = 0; count < 1_200; count += 1) {
    const which = KINDS[random.weighted(WEIGHTS)] as Kind
    const order = 4_800 + random.below(90)
    // A burst an hour ago, so that the histogram has a visible peak.
    const ago = random.below(5) === 0 ? HOUR + random.below(6 * MINUTE) : random.below(24 * HOUR)
    batches
      .find(({ project }) => project === which.project)
      ?.logEntries.push({
        categoryName: which.categoryName,
        level: which.level,
        eventId: which.eventId,
        eventName: which.eventName,
        message: which.message(order, random),
        exception: which.exception ?? null,
        scopeData: {
          RequestId: `0HN${order}:0000000${random.below(9)}`,
          tenant: random.of(['acme', 'globex']),
          attempt: 1,
          ms: tookMs(which, ago, order),
        },
        correlationKey: random.below(3) === 0 ? `order-${order}` : null,
        environment: random.of(ENVIRONMENTS),
        timestamp: new Date(now - ago).toISOString(),
      })
  }
  const flow = batches.find(({ project }) => project === 'billing')
  for (const [after, index] of [
    [31 * SECOND, 4],
    [34 * SECOND, 5],
    [96 * SECOND, 3],
  ] as const) {
    const which = KINDS[index] as Kind
    flow?.logEntries.push({
      ...which,
      message: which.message(4_711, random),
      correlationKey: TOLD_FLOW,
      environment: 'Production',
      timestamp: new Date(now - 27 * HOUR + after).toISOString(),
    })
  }
  return batches.flatMap(({ uniqueIdentifier, logEntries }) =>
    Array.from({ length: Math.ceil(logEntries.length / BATCH) }, (_, index) => ({
      uniqueIdentifier,
      logEntries: logEntries.slice(index * BATCH, (index + 1) * BATCH),
    })),
  )
}

/** The duration of a request: some kinds take long, and all take longer during a burst and at busy times of day. */
function tookMs({ level, project }: Kind, ago: number, order: number): number {
  const usual = { checkout: 40, billing: 180, warehouse: 90 }[project] * (level === 'Warning' ? 2 : 1)
  const busy = 1.5 + Math.sin((ago / HOUR / 24) * 2 * Math.PI) + (ago < 1.2 * HOUR && ago > 0.9 * HOUR ? 4 : 0)
  return Math.round(usual * busy * (0.7 + (order % 13) / 20))
}

interface Random {
  /** An integer from 0, below `limit`. */
  below(limit: number): number
  of<T>(items: readonly T[]): T
  /** A random index, distributed by the weights. */
  weighted(weights: readonly number[]): number
}

/** The same numbers for the same seed, so that screenshots differ only if the page does. */
function randomFrom(seed: number): Random {
  let state = seed
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  return {
    below,
    of: (items) => items[below(items.length)] as (typeof items)[number],
    weighted: (weights) => {
      let left = below(weights.reduce((sum, weight) => sum + weight, 0))
      return weights.findIndex((weight) => {
        left -= weight
        return left < 0
      })
    },
  }
}

import type { Level } from '../../shared/contract/levels.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { DAY_MS, timestampOf } from '../../shared/contract/timestamp.ts'

export const TEAM = 'bench'
export const END_MS = Date.parse('2026-11-01T00:00:00Z')
export const DAYS = 30

const START_MS = END_MS - DAYS * DAY_MS
const ENTRIES_OF_A_FLOW = 8
/** Flows that are under way at the same time. */
const FLOWS_OPEN = 64
const RARE = 20

/** Words of many entries, of RARE ones and of none, and a phrase. */
export const WORDS = {
  common: 'request',
  rare: 'quarantined',
  none: 'nonesuch',
  phrase: 'connection refused by provider',
} as const

const AREAS = 'Orders Billing Shipping Catalog Search Identity Mail Reports Gateway Inventory Pricing Support'.split(
  ' ',
)
const PARTS =
  'Api.Controller Api.Middleware Data.Repository Data.Migrations Jobs.Worker Jobs.Scheduler Client.Http Client.Queue Cache Events.Publisher'.split(
    ' ',
  )
/** Templates with the level of their entries; each `{}` takes a value of its own. */
const TEMPLATES: readonly (readonly [Level, string])[] = [
  ['Information', 'Executed request GET /api/orders/{} with status 200 in {} ms'],
  ['Information', 'Executed request POST /api/payments with status 201 in {} ms'],
  ['Information', 'Sending request to http://pricing.internal:8080/quotes/{}'],
  ['Information', 'Order {} was placed by customer {} for {} EUR'],
  ['Information', 'Shipment {} left warehouse {}'],
  ['Information', 'Invoice {} was sent to customer {}'],
  ['Information', 'User {} signed in from 10.0.{}.{}'],
  ['Debug', 'Cache miss for key product:{}; loading from the database'],
  ['Debug', 'Executed command SELECT price FROM products WHERE id = {} in {} ms'],
  ['Debug', 'Published {} events to topic orders'],
  ['Trace', 'Entering step {} of pipeline {}'],
  ['Warning', 'Retry {} of call to inventory after a timeout of {} ms'],
  ['Warning', 'Slow query took {} ms: SELECT * FROM reservations WHERE order_id = {}'],
  ['Error', 'Payment {} failed: connection refused by provider {}'],
  ['Error', 'Unhandled exception while processing message {} of queue shipments'],
  ['Critical', 'Worker {} ran out of memory and is restarted'],
]
const EVENTS = ['order', 'refund', 'return', 'signup', 'import']
const STEPS = ['received', 'checked', 'paid', 'done']

/** `count` entries of 30 days, the oldest first: always the same ones for the same `count`. */
export function* records(count: number): Iterable<EntryRecord> {
  const random = createRandom(count)
  for (let index = 0; index < count; index += 1) yield record(index, count, random)
}

/** The correlationKey of the flow in the middle. */
export const middleFlow = (count: number): string =>
  flowKey(Math.floor(count / 2 / ENTRIES_OF_A_FLOW / FLOWS_OPEN) * FLOWS_OPEN)

const flowKey = (flow: number): string => `order-${1_000_000 + flow}`

function record(index: number, count: number, random: Random): EntryRecord {
  const receivedMs = START_MS + Math.floor((index / count) * DAYS * DAY_MS)
  // One in a hundred comes late, by up to two days.
  const lateMs = random.below(100) === 0 ? random.below(2 * DAY_MS) : random.below(2_000)
  const area = random.skewed(AREAS.length)
  const block = Math.floor(index / (FLOWS_OPEN * ENTRIES_OF_A_FLOW))
  const common = {
    id: random.guid(receivedMs),
    receivedAt: timestampOf(receivedMs),
    timestamp: timestampOf(Math.max(START_MS, receivedMs - lateMs)),
    environment: ['Production', 'Production', 'Production', 'Staging', 'Test'][random.skewed(5)] ?? '',
    correlationKey: random.below(5) === 0 ? null : flowKey(block * FLOWS_OPEN + random.below(FLOWS_OPEN)),
    team: TEAM,
  }
  if (random.below(8) === 0) {
    const { level, ...fields } = eventFields(random)
    return { ...beginning('event', level, common), ...fields }
  }
  const [level, template] = TEMPLATES[random.skewed(TEMPLATES.length)] ?? ['Information', '']
  const isRare = index % Math.ceil(count / RARE) === 0
  const isFailure = level === 'Error'
  return {
    ...beginning('application', level, common),
    project: projectId(area),
    categoryName: `Acme.${AREAS[area]}.${PARTS[random.skewed(PARTS.length)]}`,
    eventId: 1_000 + random.below(40),
    eventName: random.below(3) === 0 ? 'RequestFinished' : '',
    message:
      template.replaceAll('{}', () => String(random.below(1_000_000))) + (isRare ? ` and was ${WORDS.rare}` : ''),
    exception: isFailure ? exception(random) : null,
    scopeData: {
      requestId: random.guid(receivedMs),
      tenant: `tenant-${random.skewed(60)}`,
      ms: Math.floor(-Math.log(1 - random.fraction()) * 150),
      path: `/api/${AREAS[area]?.toLowerCase()}/${random.below(200)}`,
      host: `web-${random.below(6)}`,
    },
  }
}

type Common = Pick<EntryRecord, 'id' | 'receivedAt' | 'timestamp' | 'environment' | 'correlationKey' | 'team'>

/** The first members of a record, in the order in which the gateway writes them. */
const beginning = <Kind extends EntryRecord['kind']>(
  kind: Kind,
  level: Level,
  { id, receivedAt, timestamp, environment, correlationKey, team }: Common,
) => ({ kind, id, receivedAt, timestamp, level, environment, correlationKey, team })

export const projectId = (area: number): string => `3f2504e0-4f89-11d3-9a0c-0305e82c33${String(area).padStart(2, '0')}`

function eventFields(random: Random) {
  const event = EVENTS[random.skewed(EVENTS.length)] ?? ''
  const step = random.below(5)
  const payload = { total: random.below(50_000) / 100, currency: 'EUR', customer: `c-${random.below(20_000)}` }
  return {
    level: random.below(30) === 0 ? 'Error' : 'Information',
    event,
    step: step === 0 ? null : `${event}.${STEPS[step - 1]}`,
    payload: JSON.stringify(payload),
  } as const
}

const exception = (random: Random): string =>
  ['System.TimeoutException: The operation has timed out.']
    .concat(
      Array.from(
        { length: 6 },
        (_, frame) => `   at Acme.Part${frame}.Run() in /src/Part${frame}.cs:line ${10 + frame}`,
      ),
    )
    .concat(`attempt ${random.below(5)}`)
    .join('\n')

export type Random = ReturnType<typeof createRandom>

/** The numbers of mulberry32, always the same for a seed. */
export function createRandom(seed: number) {
  let state = seed
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const hex = (digits: number): string =>
    Math.floor(fraction() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0')
  return {
    fraction,
    below: (end: number): number => Math.floor(fraction() * end),
    /** Below `end`, the lower the more often. */
    skewed: (end: number): number => Math.floor(fraction() ** 3 * end),
    /** A UUIDv7, as the gateway makes ids. */
    guid: (ms: number): string => {
      const time = ms.toString(16).padStart(12, '0')
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`
    },
  }
}

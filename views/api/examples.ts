import type { JsonSchema } from '../../shared/contract/json-schema.ts'

const event = { identifier: 'order-placed', name: 'Order placed' }
const step = { identifier: 'order-placed.validate', name: 'Validate' }
const project = { id: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', name: 'Checkout API' }
const receivedAt = '2026-01-31T09:30:00.127Z'
const timestamp = '2026-01-31T09:30:00.123Z'
const nextCursor = 'WyJkZXNjIiwiMjAyNi0wMS0zMVQwOTozMDowMC4xMjNaIiwiMDE5ODFmMmUiXQ'

const stored = { receivedAt, timestamp, environment: 'Production', correlationKey: 'order-4711' }

const eventLog = {
  id: '01981f2e-7c1a-7000-8000-9a3c5b7d1e42',
  kind: 'event',
  ...stored,
  level: 'Information',
  event,
  step,
  payload: '{"order":4711,"valid":true}',
}

const applicationLog = {
  id: '01981f2e-7c1a-7000-8000-9a3c5b7d1e43',
  kind: 'application',
  ...stored,
  level: 'Error',
  project,
  categoryName: 'Acme.Billing.Invoices',
  eventId: 2002,
  eventName: 'InvoiceFailed',
  message: 'Invoice 4711 could not be sent',
  exception: null,
  scopeData: { tenant: 'acme' },
}

const refusal = {
  id: '17',
  at: receivedAt,
  endpoint: '/api/ExternalLogs',
  code: 'entity_not_found',
  message:
    'No Event or Step has this uniqueIdentifier. Check the spelling (case matters) or register the Event or Step first.',
  details: null,
  index: null,
  identifier: 'order-plcaed',
  keyPrefix: 'sl_3fA',
  userAgent: 'acme-shop/2.1',
  body: '{"uniqueIdentifier":"order-plcaed","payload":"Order 4711 placed","level":"Information"}',
  bodyCut: false,
  nearest: event,
  unnoted: 0,
  curl: "curl '<GATEWAY>/api/ExternalLogs' \\\n  -H 'X-API-Key: <API_KEY>' …",
}

const seen = { firstAt: timestamp, lastAt: timestamp }
const summary = {
  correlationKey: 'order-4711',
  ...seen,
  total: 2,
  levels: { Information: 1, Error: 1 },
  worstLevel: 'Error',
  events: [event],
  steps: [step],
  projects: [project],
  nextSteps: [{ identifier: 'order-placed.charge', name: 'Charge' }],
  lastErrorAt: timestamp,
  lastProgressAt: timestamp,
  state: 'failed',
  reason: 'No Event or Step logged anything after the last error.',
}

const query = { read: 'query' }
const levels = { Information: 40, Error: 2 }

/** An example of the `data` of each answer, by the name of its schema. */
export const VIEW_EXAMPLES = {
  EventLog: eventLog,
  ApplicationLog: applicationLog,
  EventLogPage: { items: [eventLog], nextCursor, query },
  ApplicationLogPage: {
    items: [applicationLog],
    nextCursor: null,
    query: { read: 'text', problem: 'a closing parenthesis is missing', at: 12 },
  },
  EntryDetails: {
    fields: [
      { name: 'level', text: 'Information', cut: false, term: 'level:Information' },
      { name: 'timestamp', text: timestamp, cut: false, term: null },
    ],
    payload: {
      text: '{\n  "order": 4711,\n  "valid": true\n}',
      values: [{ name: 'order', text: '4711', cut: false, term: 'payload.order:4711' }],
      more: false,
    },
    scopes: null,
    exception: null,
    curl: "curl '<GATEWAY>/api/ExternalLogs' \\\n  -H 'X-API-Key: <API_KEY>' …",
  },
  Query: { q: 'timeout level:Error' },
  Completion: { from: 6, to: 9, choices: [{ insert: 'Error ', label: 'Error', count: 2 }] },
  Syntax: { items: [{ example: 'time*', help: 'Words that begin so.' }] },
  EventLogContext: { before: [], entry: eventLog, after: [] },
  ApplicationLogContext: { before: [], entry: applicationLog, after: [] },
  NameList: { events: [event], projects: [project] },
  FlowStateCounts: { states: { running: 2, stalled: 1, failed: 3, finished: 194 } },
  Histogram: { interval: 60_000, buckets: [{ from: '2026-01-31T09:30:00.000Z', total: 42, levels }], total: 42 },
  Facets: {
    facets: {
      level: [
        { value: 'Information', count: 40 },
        { value: 'Error', count: 2 },
      ],
      environment: [{ value: 'Production', count: 42 }],
      event: [{ value: event.identifier, name: event.name, count: 42 }],
      step: [{ value: step.identifier, name: step.name, count: 20 }],
      project: [],
      category: [],
    },
  },
  Groups: {
    by: 'template',
    interval: 3_600_000,
    spans: ['2026-01-31T08:00:00.000Z', '2026-01-31T09:00:00.000Z'],
    items: [
      {
        value: '5f1c0a9be2d47',
        label: 'Order {Order} took {Elapsed} ms',
        detail: null,
        count: 42,
        firstAt: '2026-01-31T08:12:00.000Z',
        lastAt: timestamp,
        worstLevel: 'Warning',
        counts: [2, 40],
        sample: { id: applicationLog.id, message: 'Order 4711 took 12 ms' },
      },
    ],
    more: true,
    ungrouped: 0,
  },
  Series: {
    fn: 'p95',
    value: 'scope.ms',
    by: null,
    interval: 3_600_000,
    spans: ['2026-01-31T08:00:00.000Z', '2026-01-31T09:00:00.000Z'],
    items: [{ value: null, label: null, term: null, count: 42, points: [null, 12.5] }],
    more: false,
  },
  Choices: {
    total: 42,
    level: [{ value: 'Information', count: 40 }],
    environment: [{ value: 'Production', count: 42 }],
    sections: [
      {
        name: 'Events and steps',
        size: 2,
        choices: [
          {
            name: 'event',
            value: event.identifier,
            label: event.name,
            count: 42,
            children: [{ name: 'step', value: step.identifier, label: step.name, count: 20, children: [] }],
          },
        ],
      },
    ],
    chosen: [],
  },
  Absence: {
    kept: true,
    newestAt: null,
    conditions: ['level'],
    ways: [{ kind: 'without', value: 'Error', params: { level: '' }, total: 40 }],
  },
  TypedRange: { from: '2026-01-31T08:30:00.000Z', to: 'now-1h' },
  Refusals: { items: [refusal] },
  FlowPage: { items: [summary], nextCursor: null },
  FlowStatistics: {
    sampled: 200,
    complete: true,
    items: [
      {
        event,
        started: 200,
        running: 2,
        stalled: 1,
        failed: 3,
        finished: 194,
        duration: { count: 194, p50: 61_000, p95: 240_000 },
        steps: [{ step, reached: 199, share: 0.995, duration: { count: 199, p50: 1_240, p95: 4_100 }, stalled: 1 }],
      },
    ],
    more: false,
  },
  FlowComparison: {
    flow: summary,
    other: {
      ...summary,
      correlationKey: 'order-4710',
      levels: { Information: 2 },
      worstLevel: 'Information',
      nextSteps: [],
      lastErrorAt: null,
      state: 'finished',
      reason: 'Every Event reached its last Step.',
    },
    steps: [
      {
        event,
        step,
        flow: { ...seen, duration: 4_100, count: 1, worstLevel: 'Information' },
        other: { ...seen, duration: 1_240, count: 1, worstLevel: 'Information' },
        slowerBy: 2_860,
        differences: ['slower'],
      },
    ],
    more: false,
  },
  Flow: {
    summary,
    steps: [
      { event, step, seen: true, ...seen, duration: 1_240, count: 1, worstLevel: 'Information' },
      {
        event,
        step: { identifier: 'order-placed.ship', name: 'Ship' },
        seen: false,
        firstAt: null,
        lastAt: null,
        duration: null,
        count: 0,
        worstLevel: null,
      },
    ],
    projects: [project],
    items: [eventLog, applicationLog],
    nextCursor: null,
  },
} as const satisfies Record<string, JsonSchema>

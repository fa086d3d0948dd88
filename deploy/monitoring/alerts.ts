/**
 * The objectives of the service and all alerts: the single source of `rules.yaml` and `rules-test.yaml` (deploy/docs/generated.ts). Each
 * alert has a page in docs/runbooks, a case in which it fires and one in which it is silent.
 */
import { PROJECTION_NAMES } from '../../consumers/projection.ts'

/** The share of events that have to be good over 30 days. Prometheus 3 writes a bucket's bound as 5.0 where earlier versions write 5. */
export interface Objective {
  readonly name: string
  readonly share: number
  /** Expressions of events per second over a window such as `1h`. */
  readonly bad: (window: string) => string
  readonly valid: (window: string) => string
}

export interface Alert {
  readonly name: string
  readonly rules: readonly AlertRule[]
  readonly cases: readonly Case[]
}

export interface AlertRule {
  /** A page wakes somebody; a ticket waits until the morning. */
  readonly severity: 'page' | 'ticket'
  readonly expression: string
  /** How long the expression has to hold. */
  readonly lasting?: string
  readonly labels?: Readonly<Record<string, string>>
  /** One sentence; `{{ $labels.name }}` stands for a label of the expression. */
  readonly summary: string
}

/** Series of samples a minute apart, in promtool's notation, and the alerts that fire at a time. */
export interface Case {
  readonly series: Readonly<Record<string, string>>
  readonly at: string
  /** The labels of each alert; empty if none fires. */
  readonly firing: readonly Readonly<Record<string, string>>[]
}

/** The requests of the read API that are answered at once; tails and exports last as long as their readers want. */
const READS = 'route=~"/api/(event-logs|application-logs|flows|flow-states|refusals).*",route!~".*/(tail|export)"'

export const OBJECTIVES: readonly Objective[] = [
  {
    name: 'accept',
    share: 0.999,
    bad: (window) =>
      `(sum(rate(sluice_entries_rejected_total{code="server_error"}[${window}])) + sum(rate(sluice_requests_refused_total{code="server_error"}[${window}])))`,
    valid: (window) =>
      `(sum(rate(sluice_entries_accepted_total[${window}])) + sum(rate(sluice_entries_rejected_total{code="server_error"}[${window}])) + sum(rate(sluice_requests_refused_total{code="server_error"}[${window}])))`,
  },
  {
    name: 'confirm',
    share: 0.99,
    bad: (window) =>
      `(sum(rate(sluice_publish_seconds_count[${window}])) - sum(rate(sluice_publish_seconds_bucket{le="0.1"}[${window}])))`,
    valid: (window) => `sum(rate(sluice_publish_seconds_count[${window}]))`,
  },
  {
    name: 'fresh',
    share: 0.99,
    bad: (window) =>
      `(sum by (view) (rate(sluice_consumer_searchable_seconds_count[${window}])) - sum by (view) (rate(sluice_consumer_searchable_seconds_bucket{le=~"5|5.0"}[${window}])))`,
    valid: (window) => `sum by (view) (rate(sluice_consumer_searchable_seconds_count[${window}]))`,
  },
  {
    name: 'read',
    share: 0.995,
    bad: (window) =>
      // Where every read fails, there is no series of good ones.
      `(sum(rate(sluice_http_request_seconds_count{${READS},status_class!="none"}[${window}])) - (sum(rate(sluice_http_request_seconds_bucket{${READS},status_class!~"none|5xx",le=~"1|1.0"}[${window}])) or vector(0)))`,
    valid: (window) => `sum(rate(sluice_http_request_seconds_count{${READS},status_class!="none"}[${window}]))`,
  },
]

/** Burn rates of a month's budget from Google's SRE workbook; a burn has to show in both the long and the short window. */
const BURNS = {
  page: [
    { factor: 14.4, long: '1h', short: '5m', hours: 1 },
    { factor: 6, long: '6h', short: '30m', hours: 6 },
  ],
  ticket: [
    { factor: 3, long: '1d', short: '2h', hours: 24 },
    { factor: 1, long: '3d', short: '6h', hours: 72 },
  ],
} as const

/** The windows of BURNS. */
export const WINDOWS = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const

/** With fewer events in the long window, a single failure would look like a burn. */
const EVENTS_MIN = 100

function burns(objective: Objective, severity: 'page' | 'ticket'): string {
  const slo = `{slo="${objective.name}"}`
  return BURNS[severity]
    .map(({ factor, long, short, hours }) => {
      const limit = Number((factor * (1 - objective.share)).toFixed(6))
      return `(sluice:slo_error:ratio_rate${long}${slo} > ${limit} and sluice:slo_error:ratio_rate${short}${slo} > ${limit} and sluice:slo_valid:rate${long}${slo} * ${hours * 3_600} > ${EVENTS_MIN})`
    })
    .join(' or ')
}

function burnRules(name: string, promise: string): readonly AlertRule[] {
  const objective = OBJECTIVES.find((each) => each.name === name)
  if (objective === undefined) throw new Error(`there is no objective ${name}`)
  return [
    {
      severity: 'page',
      expression: burns(objective, 'page'),
      lasting: '2m',
      summary: `${promise}: the month's budget of failures will be gone within days.`,
    },
    {
      severity: 'ticket',
      expression: burns(objective, 'ticket'),
      lasting: '15m',
      summary: `${promise}: the month's budget of failures is being spent too fast.`,
    },
  ]
}

const series = (name: string, labels: Readonly<Record<string, string>>): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`

/** Events of an objective per minute: `accepted` good ones and `failed` bad ones. */
const accepting = (accepted: number, failed: number, minutes = 90): Record<string, string> => ({
  [series('sluice_entries_accepted_total', { kind: 'event', instance: 'a' })]: `0+${accepted}x${minutes}`,
  [series('sluice_entries_rejected_total', {
    kind: 'event',
    code: 'server_error',
    instance: 'a',
  })]: `0+${failed}x${minutes}`,
  [series('sluice_requests_refused_total', { code: 'server_error', instance: 'a' })]: `0x${minutes}`,
})

const histogram = (
  name: string,
  labels: Readonly<Record<string, string>>,
  le: string,
  within: number,
  all: number,
): Record<string, string> => ({
  [series(`${name}_bucket`, { ...labels, le })]: `0+${within}x90`,
  [series(`${name}_count`, labels)]: `0+${all}x90`,
})

const READ = { route: '/api/event-logs', status_class: '2xx', instance: 'a' }
const FAILED_READ = { ...READ, status_class: '5xx' }

/** All projections run without a halt. */
const RUNNING = Object.fromEntries(
  PROJECTION_NAMES.map((view) => [series('sluice_consumer_halted', { view, instance: view }), '0x60']),
)
/** A process that ends soon after each start: its series go stale while the target does not answer. */
const CRASHING = Array.from({ length: 12 }, () => '0 stale _ _ _').join(' ')

const roleInfo = (role: string, version = '1.0.0', instance = role): string =>
  series('sluice_build_info', { role, version, instance })

/** Rounds of the canary: successful ones, and those with another outcome. */
const rounds = (found: string, outcome: string, failed: string, instance = 'a'): Record<string, string> => ({
  [series('sluice_canary_rounds_total', { outcome: 'found', instance })]: found,
  [series('sluice_canary_rounds_total', { outcome, instance })]: failed,
})

export const ALERTS: readonly Alert[] = [
  {
    name: 'SluiceAcceptBudgetBurn',
    rules: burnRules('accept', 'Entries are refused for a reason of the server'),
    cases: [
      { series: accepting(950, 50), at: '1h30m', firing: [{ severity: 'page' }, { severity: 'ticket' }] },
      { series: accepting(10_000, 5), at: '1h30m', firing: [] },
      // A night with little traffic: one of two events fails.
      { series: accepting(0.5, 0.5), at: '1h30m', firing: [] },
      // A slow burn: four times the budget.
      { series: accepting(996, 4, 180), at: '3h', firing: [{ severity: 'ticket' }] },
    ],
  },
  {
    name: 'SluiceConfirmBudgetBurn',
    rules: burnRules('confirm', 'The journal confirms too slowly'),
    cases: [
      {
        series: histogram('sluice_publish_seconds', { instance: 'a' }, '0.1', 50, 100),
        at: '1h30m',
        firing: [{ severity: 'page' }, { severity: 'ticket' }],
      },
      { series: histogram('sluice_publish_seconds', { instance: 'a' }, '0.1', 999, 1_000), at: '1h30m', firing: [] },
    ],
  },
  {
    name: 'SluiceFreshBudgetBurn',
    rules: burnRules('fresh', 'Entries of {{ $labels.view }} are found too late'),
    cases: [
      {
        series: {
          ...histogram('sluice_consumer_searchable_seconds', { view: 'flows', instance: 'a' }, '5', 50, 100),
          ...histogram('sluice_consumer_searchable_seconds', { view: 'event-logs', instance: 'a' }, '5', 100, 100),
        },
        at: '1h30m',
        firing: [
          { severity: 'page', view: 'flows' },
          { severity: 'ticket', view: 'flows' },
        ],
      },
      {
        series: histogram('sluice_consumer_searchable_seconds', { view: 'flows', instance: 'a' }, '5', 998, 1_000),
        at: '1h30m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceReadBudgetBurn',
    rules: burnRules('read', 'Reads fail or take longer than a second'),
    cases: [
      {
        series: {
          ...histogram('sluice_http_request_seconds', READ, '1', 80, 80),
          ...histogram('sluice_http_request_seconds', FAILED_READ, '1', 20, 20),
        },
        at: '1h30m',
        firing: [{ severity: 'page' }, { severity: 'ticket' }],
      },
      // No process has answered a read well since its start.
      {
        series: histogram('sluice_http_request_seconds', FAILED_READ, '1', 100, 100),
        at: '1h30m',
        firing: [{ severity: 'page' }, { severity: 'ticket' }],
      },
      {
        series: {
          ...histogram('sluice_http_request_seconds', READ, '1', 999, 1_000),
          // It lasts as long as somebody watches.
          ...histogram('sluice_http_request_seconds', { ...READ, route: '/api/event-logs/tail' }, '1', 0, 100),
        },
        at: '1h30m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceRoleAbsent',
    rules: ['gateway', 'views'].map((role) => ({
      severity: 'page',
      expression: `absent(sluice_build_info{role=~"all|${role}"})`,
      lasting: '5m',
      labels: { role },
      summary: `No process with the role ${role} answers.`,
    })),
    cases: [
      {
        series: { [roleInfo('gateway')]: '1 stale', [roleInfo('views')]: '1x30' },
        at: '20m',
        firing: [{ severity: 'page', role: 'gateway' }],
      },
      { series: { [roleInfo('all')]: '1x30' }, at: '20m', firing: [] },
    ],
  },
  {
    name: 'SluiceCanaryFails',
    rules: [
      {
        severity: 'page',
        expression:
          'sum by (outcome) (increase(sluice_canary_rounds_total{outcome!="found"}[10m])) > 0 unless on () sum(increase(sluice_canary_rounds_total{outcome="found"}[10m])) > 0',
        lasting: '2m',
        summary: 'For ten minutes the canary has found none of its entries again: {{ $labels.outcome }}.',
      },
      {
        severity: 'ticket',
        // Without any earlier canary there is none to miss.
        expression: 'count(count_over_time(sluice_canary_rounds_total[1d])) unless count(sluice_canary_rounds_total)',
        lasting: '15m',
        labels: { outcome: 'absent' },
        summary: 'The canary does not answer any more.',
      },
      {
        severity: 'ticket',
        expression: 'sum by (outcome) (increase(sluice_canary_rounds_total{outcome!="found"}[1h])) > 3',
        lasting: '15m',
        summary: 'The canary does not find all of its entries again: {{ $labels.outcome }}.',
      },
    ],
    cases: [
      {
        series: rounds('0+2x10 20x40', 'not_searchable', '0x10 0+2x40'),
        at: '45m',
        firing: [
          { severity: 'page', outcome: 'not_searchable' },
          { severity: 'ticket', outcome: 'not_searchable' },
        ],
      },
      // Occasional failures.
      {
        series: rounds('0+2x60', 'views_refused', '0x10 1x10 2x10 3x10 4x10 5x10'),
        at: '1h',
        firing: [{ severity: 'ticket', outcome: 'views_refused' }],
      },
      {
        series: rounds('0+2x10 stale', 'gateway_refused', '0x10 stale'),
        at: '40m',
        firing: [{ severity: 'ticket', outcome: 'absent' }],
      },
      // The canary moved to another node, with one failure during the rollout.
      {
        series: {
          ...rounds('0+2x20 stale', 'gateway_refused', '0x20 stale'),
          ...rounds('_x22 0+2x40', 'gateway_refused', '_x22 0x10 1x30', 'b'),
        },
        at: '55m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceViewHalted',
    rules: [
      {
        severity: 'page',
        expression: 'max by (view) (sluice_consumer_halted) == 1',
        lasting: '1m',
        summary: 'The projection {{ $labels.view }} has halted and needs an operator.',
      },
    ],
    cases: [
      {
        series: { ...RUNNING, [series('sluice_consumer_halted', { view: 'flows', instance: 'b' })]: '0x5 1x30' },
        at: '20m',
        firing: [{ severity: 'page', view: 'flows' }],
      },
      { series: RUNNING, at: '20m', firing: [] },
    ],
  },
  {
    name: 'SluiceViewAbsent',
    // A process whose projections have all halted exits and is restarted, so it is only seen now and then.
    rules: PROJECTION_NAMES.map((view) => ({
      severity: 'page',
      expression: `(count_over_time((max(sluice_consumer_halted{view="${view}"}) == 0)[10m:1m]) or vector(0)) < 5`,
      lasting: '10m',
      labels: { view },
      summary: `No process keeps the projection ${view} up to date, or none stays up.`,
    })),
    cases: [
      {
        series: { ...RUNNING, [series('sluice_consumer_halted', { view: 'flows', instance: 'flows' })]: CRASHING },
        at: '50m',
        firing: [{ severity: 'page', view: 'flows' }],
      },
      {
        series: { ...RUNNING, [series('sluice_consumer_halted', { view: 'flows', instance: 'flows' })]: '0x5 stale' },
        at: '50m',
        firing: [{ severity: 'page', view: 'flows' }],
      },
      { series: RUNNING, at: '50m', firing: [] },
      // A restart takes a few minutes.
      {
        series: {
          ...RUNNING,
          [series('sluice_consumer_halted', { view: 'flows', instance: 'flows' })]: '0x30 stale _ _ 0x30',
        },
        at: '40m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceLagGrowing',
    rules: [
      {
        severity: 'page',
        expression:
          'max by (view) (sluice_consumer_lag_seconds) > 300 and deriv((max by (view) (sluice_consumer_lag_seconds))[15m:1m]) > 0',
        lasting: '5m',
        summary: 'The projection {{ $labels.view }} is more than five minutes behind, and falls back further.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_consumer_lag_seconds', { view: 'flows', instance: 'a' })]: '0+60x60' },
        at: '30m',
        firing: [{ severity: 'page', view: 'flows' }],
      },
      // Far behind, but catching up.
      {
        series: { [series('sluice_consumer_lag_seconds', { view: 'flows', instance: 'a' })]: '9000-60x60' },
        at: '30m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceLagNearRetention',
    rules: [
      {
        severity: 'page',
        // Half of the seven days for which topics keep records (shared/contract/topics.ts).
        expression: 'max by (view) (sluice_consumer_lag_seconds) > 302400',
        lasting: '5m',
        summary:
          'The projection {{ $labels.view }} is behind by more than half of the time for which topics keep records.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_consumer_lag_seconds', { view: 'event-logs', instance: 'a' })]: '400000x30' },
        at: '20m',
        firing: [{ severity: 'page', view: 'event-logs' }],
      },
      {
        series: { [series('sluice_consumer_lag_seconds', { view: 'event-logs', instance: 'a' })]: '200000x30' },
        at: '20m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceRebalancesOften',
    rules: [
      {
        severity: 'ticket',
        expression: 'max by (view) (sum by (view, instance) (increase(sluice_consumer_rebalances_total[15m]))) > 5',
        lasting: '15m',
        summary: 'The group of {{ $labels.view }} is dealt out anew again and again.',
      },
    ],
    cases: [
      {
        series: {
          [series('sluice_consumer_rebalances_total', { view: 'flows', reason: 'group', instance: 'a' })]: '0+1x60',
        },
        at: '50m',
        firing: [{ severity: 'ticket', view: 'flows' }],
      },
      {
        series: {
          [series('sluice_consumer_rebalances_total', { view: 'flows', reason: 'group', instance: 'a' })]:
            '0x20 1 2 3x40',
        },
        at: '40m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceBreakerOpen',
    rules: [
      {
        severity: 'page',
        // It is half open during each attempt, which may take longer than the pauses between them, and as long as there is nothing to send.
        expression:
          'max(min_over_time(sluice_publish_breaker_state[2m]) and max_over_time(sluice_publish_breaker_state[10m]) == 2) > 0',
        lasting: '1m',
        summary: 'A gateway refuses all entries, as the journal has not confirmed for minutes.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_publish_breaker_state', { instance: 'a' })]: '0x5 2 2 1 2 2 2 2 2' },
        at: '12m',
        firing: [{ severity: 'page' }],
      },
      {
        series: { [series('sluice_publish_breaker_state', { instance: 'a' })]: '0x5 2 0 0 0 0 0' },
        at: '10m',
        firing: [],
      },
      // The journal works again, but nobody has sent anything to this gateway since.
      {
        series: { [series('sluice_publish_breaker_state', { instance: 'a' })]: '0x5 2 1 2 1x60' },
        at: '40m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceBuffersFull',
    rules: [
      {
        severity: 'ticket',
        expression: 'sum by (reason) (increase(sluice_limited_total{reason=~"body_buffer|publish_buffer"}[10m])) > 0',
        lasting: '5m',
        summary: 'Gateways refuse requests, as a buffer is full: {{ $labels.reason }}.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_limited_total', { reason: 'publish_buffer', instance: 'a' })]: '0+5x30' },
        at: '20m',
        firing: [{ severity: 'ticket', reason: 'publish_buffer' }],
      },
      {
        series: {
          [series('sluice_limited_total', { reason: 'publish_buffer', instance: 'a' })]: '5x30',
          [series('sluice_limited_total', { reason: 'hot_key', instance: 'a' })]: '0+5x30',
        },
        at: '20m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceHotKey',
    rules: [
      {
        severity: 'ticket',
        expression: 'sum(increase(sluice_limited_total{reason="hot_key"}[1h])) > 0',
        summary: 'A correlationKey is used so often that the order of its entries is given up.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_limited_total', { reason: 'hot_key', instance: 'a' })]: '0x10 5x30' },
        at: '20m',
        firing: [{ severity: 'ticket' }],
      },
      {
        series: { [series('sluice_limited_total', { reason: 'hot_key', instance: 'a' })]: '0x30' },
        at: '20m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceConnectionsRefused',
    rules: [
      {
        severity: 'ticket',
        expression: 'sum by (instance) (increase(sluice_connections_refused_total[10m])) > 0',
        lasting: '5m',
        summary: '{{ $labels.instance }} closes new connections, as it has as many as it may.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_connections_refused_total', { instance: 'a' })]: '0+2x30' },
        at: '20m',
        firing: [{ severity: 'ticket', instance: 'a' }],
      },
      { series: { [series('sluice_connections_refused_total', { instance: 'a' })]: '9x30' }, at: '20m', firing: [] },
    ],
  },
  {
    name: 'SluiceEventLoopHeld',
    rules: [
      {
        severity: 'ticket',
        expression: 'max by (instance) (sluice_event_loop_delay_seconds{quantile="0.99"}) > 0.1',
        lasting: '10m',
        summary: 'The thread of {{ $labels.instance }} that answers HTTP is held up for more than 100 ms at a time.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_event_loop_delay_seconds', { quantile: '0.99', instance: 'a' })]: '0.3x30' },
        at: '20m',
        firing: [{ severity: 'ticket', instance: 'a' }],
      },
      {
        series: {
          [series('sluice_event_loop_delay_seconds', { quantile: '0.99', instance: 'a' })]: '0.02x30',
          [series('sluice_event_loop_delay_seconds', { quantile: '1', instance: 'a' })]: '0.5x30',
        },
        at: '20m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceRegistryBehind',
    rules: [
      {
        severity: 'page',
        // Only for an hour: old deletions are compacted away, so a process started since has never seen them.
        expression:
          'max(sluice_registry_applied_timestamp_seconds) - min(sluice_registry_applied_timestamp_seconds > 0) > 60 and time() - max(sluice_registry_applied_timestamp_seconds) < 3600',
        lasting: '2m',
        summary: 'A change of the registry, perhaps a revoked key, has not reached every process.',
      },
    ],
    cases: [
      {
        series: {
          [series('sluice_registry_applied_timestamp_seconds', { instance: 'a' })]: '100x5 600x30',
          [series('sluice_registry_applied_timestamp_seconds', { instance: 'b' })]: '100x40',
        },
        at: '20m',
        firing: [{ severity: 'page' }],
      },
      {
        series: {
          [series('sluice_registry_applied_timestamp_seconds', { instance: 'a' })]: '100x5 600x30',
          [series('sluice_registry_applied_timestamp_seconds', { instance: 'b' })]: '100x6 600x30',
          [series('sluice_registry_applied_timestamp_seconds', { instance: 'c' })]: '0x40',
        },
        at: '20m',
        firing: [],
      },
      {
        series: {
          [series('sluice_registry_applied_timestamp_seconds', { instance: 'a' })]: '600x120',
          [series('sluice_registry_applied_timestamp_seconds', { instance: 'b' })]: '100x120',
        },
        at: '1h30m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceStoreBlocked',
    rules: [
      {
        severity: 'page',
        expression: 'max(sluice_store_blocked) > 0',
        lasting: '2m',
        summary: 'Elasticsearch refuses writes until somebody acts.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_store_blocked', { instance: 'a' })]: '0x5 1x30' },
        at: '20m',
        firing: [{ severity: 'page' }],
      },
      { series: { [series('sluice_store_blocked', { instance: 'a' })]: '0x5 1 0x30' }, at: '20m', firing: [] },
    ],
  },
  {
    name: 'SluiceBulkRetries',
    rules: [
      {
        severity: 'ticket',
        expression:
          'sum(rate(sluice_store_bulk_items_total{outcome="retried"}[10m])) / sum(rate(sluice_store_bulk_items_total{outcome="stored"}[10m])) > 0.2',
        lasting: '10m',
        summary: 'Elasticsearch turns away more than a fifth of what it is sent.',
      },
    ],
    cases: [
      {
        series: {
          [series('sluice_store_bulk_items_total', { outcome: 'retried', instance: 'a' })]: '0+50x60',
          [series('sluice_store_bulk_items_total', { outcome: 'stored', instance: 'a' })]: '0+100x60',
        },
        at: '40m',
        firing: [{ severity: 'ticket' }],
      },
      {
        series: {
          [series('sluice_store_bulk_items_total', { outcome: 'retried', instance: 'a' })]: '0+5x60',
          [series('sluice_store_bulk_items_total', { outcome: 'stored', instance: 'a' })]: '0+100x60',
        },
        at: '40m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceShardFull',
    rules: [
      {
        severity: 'ticket',
        expression: 'max(sluice_store_shard_bytes_max) > 50e9 or max(sluice_store_shard_documents_max) > 1e9',
        lasting: '15m',
        summary: 'A shard of Elasticsearch is larger than it should be.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_store_shard_documents_max', { instance: 'a' })]: '1200000000x60' },
        at: '40m',
        firing: [{ severity: 'ticket' }],
      },
      {
        series: {
          [series('sluice_store_shard_bytes_max', { instance: 'a' })]: '40000000000x60',
          [series('sluice_store_shard_documents_max', { instance: 'a' })]: '900000000x60',
        },
        at: '40m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceRetentionStuck',
    rules: [
      {
        severity: 'ticket',
        expression: 'time() - max(sluice_retention_last_success_timestamp_seconds) > 10800',
        // A process whose first attempt fails makes the next one an hour after its start.
        lasting: '75m',
        summary: 'Old days have not been removed for hours, so the disk fills.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_retention_last_success_timestamp_seconds', { instance: 'a' })]: '60x300' },
        at: '5h',
        firing: [{ severity: 'ticket' }],
      },
      {
        // At the start of the process Elasticsearch did not answer; an hour later it does. 0 is long ago, here before the first sample.
        series: { [series('sluice_retention_last_success_timestamp_seconds', { instance: 'a' })]: '-20000x60 3660x60' },
        at: '50m',
        firing: [],
      },
      {
        // A gateway has no retention.
        series: {
          [series('sluice_retention_last_success_timestamp_seconds', { instance: 'a' })]: '0+60x300',
          [series('sluice_retention_last_success_timestamp_seconds', { instance: 'gateway' })]: '0x300',
        },
        at: '4h',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceWatchesNotEvaluated',
    rules: [
      {
        severity: 'ticket',
        expression:
          'max(sluice_watches) > 0 and on () time() - max(sluice_watch_last_evaluation_timestamp_seconds) > 1800',
        lasting: '15m',
        summary: 'Watches have not been evaluated for half an hour, so nobody is told of what they look for.',
      },
    ],
    cases: [
      {
        // The process that evaluated them is gone.
        series: {
          [series('sluice_watches', { instance: 'views' })]: '3x120',
          [series('sluice_watch_last_evaluation_timestamp_seconds', { instance: 'views' })]: '0x120',
        },
        at: '1h',
        firing: [{ severity: 'ticket' }],
      },
      {
        series: {
          [series('sluice_watches', { instance: 'a' })]: '3x120',
          [series('sluice_watch_last_evaluation_timestamp_seconds', { instance: 'a' })]: '0+60x120',
          [series('sluice_watch_last_evaluation_timestamp_seconds', { instance: 'b' })]: '0x120',
        },
        at: '2h',
        firing: [],
      },
      {
        // All watches are paused.
        series: {
          [series('sluice_watches', { instance: 'a' })]: '0x120',
          [series('sluice_watch_last_evaluation_timestamp_seconds', { instance: 'a' })]: '60x120',
        },
        at: '2h',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceDeadLetters',
    rules: [
      {
        severity: 'ticket',
        expression: 'sum by (view, reason) (increase(sluice_consumer_dead_letters_total[1h])) > 0',
        summary: 'The projection {{ $labels.view }} could not take records: {{ $labels.reason }}.',
      },
    ],
    cases: [
      {
        series: {
          [series('sluice_consumer_dead_letters_total', { view: 'flows', reason: 'invalid_json', instance: 'a' })]:
            '0x10 1x30',
        },
        at: '20m',
        firing: [{ severity: 'ticket', view: 'flows', reason: 'invalid_json' }],
      },
      {
        series: {
          [series('sluice_consumer_dead_letters_total', { view: 'flows', reason: 'invalid_json', instance: 'a' })]:
            '7x90',
        },
        at: '1h20m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceRefusalsLost',
    rules: [
      {
        severity: 'ticket',
        expression: 'sum(increase(sluice_refusals_noted_total{outcome="lost"}[15m])) > 0',
        lasting: '5m',
        summary: 'Teams are not told of refused logs, as the journal does not take the notes.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_refusals_noted_total', { outcome: 'lost', instance: 'a' })]: '0+3x30' },
        at: '20m',
        firing: [{ severity: 'ticket' }],
      },
      {
        series: {
          [series('sluice_refusals_noted_total', { outcome: 'lost', instance: 'a' })]: '0x30',
          [series('sluice_refusals_noted_total', { outcome: 'unnoted', instance: 'a' })]: '0+9x30',
        },
        at: '20m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceKeysTried',
    rules: [
      {
        severity: 'ticket',
        expression:
          'sum(increase(sluice_sign_ins_total{outcome="refused"}[10m])) > 50 or sum(increase(sluice_sign_ins_total{outcome="limited"}[10m])) > 0',
        summary: 'Somebody tries keys at the page.',
      },
    ],
    cases: [
      {
        series: { [series('sluice_sign_ins_total', { outcome: 'limited', instance: 'a' })]: '0x10 4x30' },
        at: '15m',
        firing: [{ severity: 'ticket' }],
      },
      {
        series: {
          [series('sluice_sign_ins_total', { outcome: 'refused', instance: 'a' })]: '0+1x30',
          [series('sluice_sign_ins_total', { outcome: 'limited', instance: 'a' })]: '0x30',
        },
        at: '15m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceCertificateEnds',
    rules: [
      {
        severity: 'ticket',
        expression: 'min by (use) (sluice_certificate_not_after_seconds) - time() < 1209600',
        lasting: '15m',
        summary: 'The certificate {{ $labels.use }} ends within two weeks.',
      },
    ],
    cases: [
      {
        series: {
          [series('sluice_certificate_not_after_seconds', { use: 'kafka_client', instance: 'a' })]: '864000x60',
        },
        at: '40m',
        firing: [{ severity: 'ticket', use: 'kafka_client' }],
      },
      {
        series: {
          [series('sluice_certificate_not_after_seconds', { use: 'kafka_client', instance: 'a' })]: '8640000x60',
        },
        at: '40m',
        firing: [],
      },
    ],
  },
  {
    name: 'SluiceVersionsMixed',
    rules: [
      {
        severity: 'ticket',
        expression: 'count by (role) (count by (role, version) (sluice_build_info)) > 1',
        lasting: '1h',
        summary: 'Processes with the role {{ $labels.role }} have run different versions for an hour.',
      },
    ],
    cases: [
      {
        series: { [roleInfo('gateway', '1.0.0', 'a')]: '1x120', [roleInfo('gateway', '1.1.0', 'b')]: '1x120' },
        at: '1h30m',
        firing: [{ severity: 'ticket', role: 'gateway' }],
      },
      {
        series: { [roleInfo('gateway', '1.1.0', 'a')]: '1x120', [roleInfo('views', '1.0.0', 'b')]: '1x120' },
        at: '1h30m',
        firing: [],
      },
    ],
  },
]

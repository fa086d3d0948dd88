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
interface Case {
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
  const rule = (severity: 'page' | 'ticket', lasting: string, spent: string): AlertRule => ({
    severity,
    expression: burns(objective, severity),
    lasting,
    summary: `${promise}: the month's budget of failures ${spent}.`,
  })
  return [rule('page', '2m', 'will be gone within days'), rule('ticket', '15m', 'is being spent too fast')]
}

/** Series of an objective's events, per minute `accepted` good ones and `failed` bad ones. */
const accepting = (accepted: number, failed: number, minutes = 90): Case['series'] => ({
  'sluice_entries_accepted_total{kind="event",instance="a"}': `0+${accepted}x${minutes}`,
  'sluice_entries_rejected_total{kind="event",code="server_error",instance="a"}': `0+${failed}x${minutes}`,
  'sluice_requests_refused_total{code="server_error",instance="a"}': `0x${minutes}`,
})

/** Series of a histogram: per minute `within` of `all` events up to the bound `le`. */
const histogram = (name: string, labels: string, le: string, within: number, all: number): Case['series'] => ({
  [`${name}_bucket{${labels},le="${le}"}`]: `0+${within}x90`,
  [`${name}_count{${labels}}`]: `0+${all}x90`,
})

const reads = (statusClass: string, route = '/api/event-logs'): string =>
  `route="${route}",status_class="${statusClass}",instance="a"`

/** All projections run without a halt. */
const RUNNING = Object.fromEntries(
  PROJECTION_NAMES.map((view) => [`sluice_consumer_halted{view="${view}",instance="${view}"}`, '0x60']),
)
/** A process that ends soon after each start: its series go stale while the target does not answer. */
const CRASHING = Array.from({ length: 12 }, () => '0 stale _ _ _').join(' ')

const roleInfo = (role: string, version = '1.0.0', instance = role): string =>
  `sluice_build_info{role="${role}",version="${version}",instance="${instance}"}`

/** Rounds of the canary: successful ones, and those with another outcome. */
const rounds = (found: string, outcome: string, failed: string, instance = 'a'): Case['series'] => ({
  [`sluice_canary_rounds_total{outcome="found",instance="${instance}"}`]: found,
  [`sluice_canary_rounds_total{outcome="${outcome}",instance="${instance}"}`]: failed,
})

/** A case in which alerts with these labels fire, and one in which none does. */
const fires = (at: string, firing: Case['firing'], series: Case['series']): Case => ({ series, at, firing })
const silent = (at: string, series: Case['series']): Case => fires(at, [], series)
/** The page and the ticket of an alert. */
const both = (labels: object = {}): Case['firing'] => [
  { severity: 'page', ...labels },
  { severity: 'ticket', ...labels },
]

/** Most alerts have one rule, which stands beside their name. */
const TABLE: readonly (Alert | (Omit<Alert, 'rules'> & AlertRule))[] = [
  {
    name: 'SluiceAcceptBudgetBurn',
    rules: burnRules('accept', 'Entries are refused for a reason of the server'),
    cases: [
      fires('1h30m', both(), accepting(950, 50)),
      silent('1h30m', accepting(10_000, 5)),
      // A night with little traffic: one of two events fails.
      silent('1h30m', accepting(0.5, 0.5)),
      // A slow burn: four times the budget.
      fires('3h', [{ severity: 'ticket' }], accepting(996, 4, 180)),
    ],
  },
  {
    name: 'SluiceConfirmBudgetBurn',
    rules: burnRules('confirm', 'The journal confirms too slowly'),
    cases: [
      fires('1h30m', both(), histogram('sluice_publish_seconds', 'instance="a"', '0.1', 50, 100)),
      silent('1h30m', histogram('sluice_publish_seconds', 'instance="a"', '0.1', 999, 1_000)),
    ],
  },
  {
    name: 'SluiceFreshBudgetBurn',
    rules: burnRules('fresh', 'Entries of {{ $labels.view }} are found too late'),
    cases: [
      fires('1h30m', both({ view: 'flows' }), {
        ...histogram('sluice_consumer_searchable_seconds', 'view="flows",instance="a"', '5', 50, 100),
        ...histogram('sluice_consumer_searchable_seconds', 'view="event-logs",instance="a"', '5', 100, 100),
      }),
      silent('1h30m', histogram('sluice_consumer_searchable_seconds', 'view="flows",instance="a"', '5', 998, 1_000)),
    ],
  },
  {
    name: 'SluiceReadBudgetBurn',
    rules: burnRules('read', 'Reads fail or take longer than a second'),
    cases: [
      fires('1h30m', both(), {
        ...histogram('sluice_http_request_seconds', reads('2xx'), '1', 80, 80),
        ...histogram('sluice_http_request_seconds', reads('5xx'), '1', 20, 20),
      }),
      // No process has answered a read well since its start.
      fires('1h30m', both(), histogram('sluice_http_request_seconds', reads('5xx'), '1', 100, 100)),
      silent('1h30m', {
        ...histogram('sluice_http_request_seconds', reads('2xx'), '1', 999, 1_000),
        // It lasts as long as somebody watches.
        ...histogram('sluice_http_request_seconds', reads('2xx', '/api/event-logs/tail'), '1', 0, 100),
      }),
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
      fires('20m', [{ severity: 'page', role: 'gateway' }], {
        [roleInfo('gateway')]: '1 stale',
        [roleInfo('views')]: '1x30',
      }),
      silent('20m', { [roleInfo('all')]: '1x30' }),
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
      fires('45m', both({ outcome: 'not_searchable' }), rounds('0+2x10 20x40', 'not_searchable', '0x10 0+2x40')),
      // Occasional failures.
      fires(
        '1h',
        [{ severity: 'ticket', outcome: 'views_refused' }],
        rounds('0+2x60', 'views_refused', '0x10 1x10 2x10 3x10 4x10 5x10'),
      ),
      fires(
        '40m',
        [{ severity: 'ticket', outcome: 'absent' }],
        rounds('0+2x10 stale', 'gateway_refused', '0x10 stale'),
      ),
      // The canary moved to another node, with one failure during the rollout.
      silent('55m', {
        ...rounds('0+2x20 stale', 'gateway_refused', '0x20 stale'),
        ...rounds('_x22 0+2x40', 'gateway_refused', '_x22 0x10 1x30', 'b'),
      }),
    ],
  },
  {
    name: 'SluiceViewHalted',
    severity: 'page',
    expression: 'max by (view) (sluice_consumer_halted) == 1',
    lasting: '1m',
    summary: 'The projection {{ $labels.view }} has halted and needs an operator.',
    cases: [
      fires('20m', [{ severity: 'page', view: 'flows' }], {
        ...RUNNING,
        'sluice_consumer_halted{view="flows",instance="b"}': '0x5 1x30',
      }),
      silent('20m', RUNNING),
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
      fires('50m', [{ severity: 'page', view: 'flows' }], {
        ...RUNNING,
        'sluice_consumer_halted{view="flows",instance="flows"}': CRASHING,
      }),
      fires('50m', [{ severity: 'page', view: 'flows' }], {
        ...RUNNING,
        'sluice_consumer_halted{view="flows",instance="flows"}': '0x5 stale',
      }),
      silent('50m', RUNNING),
      // A restart takes a few minutes.
      silent('40m', {
        ...RUNNING,
        'sluice_consumer_halted{view="flows",instance="flows"}': '0x30 stale _ _ 0x30',
      }),
    ],
  },
  {
    name: 'SluiceLagGrowing',
    severity: 'page',
    expression:
      'max by (view) (sluice_consumer_lag_seconds) > 300 and deriv((max by (view) (sluice_consumer_lag_seconds))[15m:1m]) > 0',
    lasting: '5m',
    summary: 'The projection {{ $labels.view }} is more than five minutes behind, and falls back further.',
    cases: [
      fires('30m', [{ severity: 'page', view: 'flows' }], {
        'sluice_consumer_lag_seconds{view="flows",instance="a"}': '0+60x60',
      }),
      // Far behind, but catching up.
      silent('30m', { 'sluice_consumer_lag_seconds{view="flows",instance="a"}': '9000-60x60' }),
    ],
  },
  {
    name: 'SluiceLagNearRetention',
    severity: 'page',
    // Half of the seven days for which topics keep records (shared/contract/topics.ts).
    expression: 'max by (view) (sluice_consumer_lag_seconds) > 302400',
    lasting: '5m',
    summary: 'The projection {{ $labels.view }} is behind by more than half of the time for which topics keep records.',
    cases: [
      fires('20m', [{ severity: 'page', view: 'event-logs' }], {
        'sluice_consumer_lag_seconds{view="event-logs",instance="a"}': '400000x30',
      }),
      silent('20m', { 'sluice_consumer_lag_seconds{view="event-logs",instance="a"}': '200000x30' }),
    ],
  },
  {
    name: 'SluiceRebalancesOften',
    severity: 'ticket',
    expression: 'max by (view) (sum by (view, instance) (increase(sluice_consumer_rebalances_total[15m]))) > 5',
    lasting: '15m',
    summary: 'The group of {{ $labels.view }} is dealt out anew again and again.',
    cases: [
      fires('50m', [{ severity: 'ticket', view: 'flows' }], {
        'sluice_consumer_rebalances_total{view="flows",reason="group",instance="a"}': '0+1x60',
      }),
      silent('40m', { 'sluice_consumer_rebalances_total{view="flows",reason="group",instance="a"}': '0x20 1 2 3x40' }),
    ],
  },
  {
    name: 'SluiceBreakerOpen',
    severity: 'page',
    // The breaker is half open during each attempt, which may take longer than the pauses between them, and as long as there is nothing to send.
    expression:
      'max by (topic) (min_over_time(sluice_publish_breaker_state[2m]) and max_over_time(sluice_publish_breaker_state[10m]) == 2) > 0',
    lasting: '1m',
    summary:
      'A gateway refuses all entries for {{ $labels.topic }}, as the journal has not confirmed there for minutes.',
    cases: [
      fires('12m', [{ severity: 'page', topic: 't' }], {
        'sluice_publish_breaker_state{topic="t",instance="a"}': '0x5 2 2 1 2 2 2 2 2',
        'sluice_publish_breaker_state{topic="other",instance="a"}': '0x20',
      }),
      silent('10m', { 'sluice_publish_breaker_state{topic="t",instance="a"}': '0x5 2 0 0 0 0 0' }),
      // The journal works again, but nobody has sent anything to this gateway since.
      silent('40m', { 'sluice_publish_breaker_state{topic="t",instance="a"}': '0x5 2 1 2 1x60' }),
    ],
  },
  {
    name: 'SluiceBuffersFull',
    severity: 'ticket',
    expression: 'sum by (reason) (increase(sluice_limited_total{reason=~"body_buffer|publish_buffer"}[10m])) > 0',
    lasting: '5m',
    summary: 'Gateways refuse requests, as a buffer is full: {{ $labels.reason }}.',
    cases: [
      fires('20m', [{ severity: 'ticket', reason: 'publish_buffer' }], {
        'sluice_limited_total{reason="publish_buffer",instance="a"}': '0+5x30',
      }),
      silent('20m', {
        'sluice_limited_total{reason="publish_buffer",instance="a"}': '5x30',
        'sluice_limited_total{reason="hot_key",instance="a"}': '0+5x30',
      }),
    ],
  },
  {
    name: 'SluiceHotKey',
    severity: 'ticket',
    expression: 'sum(increase(sluice_limited_total{reason="hot_key"}[1h])) > 0',
    summary: 'A correlationKey is used so often that the order of its entries is given up.',
    cases: [
      fires('20m', [{ severity: 'ticket' }], { 'sluice_limited_total{reason="hot_key",instance="a"}': '0x10 5x30' }),
      silent('20m', { 'sluice_limited_total{reason="hot_key",instance="a"}': '0x30' }),
    ],
  },
  {
    name: 'SluiceConnectionsRefused',
    severity: 'ticket',
    expression: 'sum by (instance) (increase(sluice_connections_refused_total[10m])) > 0',
    lasting: '5m',
    summary: '{{ $labels.instance }} closes new connections, as it has as many as it may.',
    cases: [
      fires('20m', [{ severity: 'ticket', instance: 'a' }], {
        'sluice_connections_refused_total{instance="a"}': '0+2x30',
      }),
      silent('20m', { 'sluice_connections_refused_total{instance="a"}': '9x30' }),
    ],
  },
  {
    name: 'SluiceEventLoopHeld',
    severity: 'ticket',
    expression: 'max by (instance) (sluice_event_loop_delay_seconds{quantile="0.99"}) > 0.1',
    lasting: '10m',
    summary: 'The thread of {{ $labels.instance }} that answers HTTP is held up for more than 100 ms at a time.',
    cases: [
      fires('20m', [{ severity: 'ticket', instance: 'a' }], {
        'sluice_event_loop_delay_seconds{quantile="0.99",instance="a"}': '0.3x30',
      }),
      silent('20m', {
        'sluice_event_loop_delay_seconds{quantile="0.99",instance="a"}': '0.02x30',
        'sluice_event_loop_delay_seconds{quantile="1",instance="a"}': '0.5x30',
      }),
    ],
  },
  {
    name: 'SluiceRegistryBehind',
    severity: 'page',
    // Only for an hour: old deletions are compacted away, so a process started since has never seen them.
    expression:
      'max(sluice_registry_applied_timestamp_seconds) - min(sluice_registry_applied_timestamp_seconds > 0) > 60 and time() - max(sluice_registry_applied_timestamp_seconds) < 3600',
    lasting: '2m',
    summary: 'A change of the registry, perhaps a revoked key, has not reached every process.',
    cases: [
      fires('20m', [{ severity: 'page' }], {
        'sluice_registry_applied_timestamp_seconds{instance="a"}': '100x5 600x30',
        'sluice_registry_applied_timestamp_seconds{instance="b"}': '100x40',
      }),
      silent('20m', {
        'sluice_registry_applied_timestamp_seconds{instance="a"}': '100x5 600x30',
        'sluice_registry_applied_timestamp_seconds{instance="b"}': '100x6 600x30',
        'sluice_registry_applied_timestamp_seconds{instance="c"}': '0x40',
      }),
      silent('1h30m', {
        'sluice_registry_applied_timestamp_seconds{instance="a"}': '600x120',
        'sluice_registry_applied_timestamp_seconds{instance="b"}': '100x120',
      }),
    ],
  },
  {
    name: 'SluiceStoreBlocked',
    severity: 'page',
    expression: 'max(sluice_store_blocked) > 0',
    lasting: '2m',
    summary: 'Elasticsearch refuses writes until somebody acts.',
    cases: [
      fires('20m', [{ severity: 'page' }], { 'sluice_store_blocked{instance="a"}': '0x5 1x30' }),
      silent('20m', { 'sluice_store_blocked{instance="a"}': '0x5 1 0x30' }),
    ],
  },
  {
    name: 'SluiceBulkRetries',
    severity: 'ticket',
    expression:
      'sum(rate(sluice_store_bulk_items_total{outcome="retried"}[10m])) / sum(rate(sluice_store_bulk_items_total{outcome="stored"}[10m])) > 0.2',
    lasting: '10m',
    summary: 'Elasticsearch turns away more than a fifth of what it is sent.',
    cases: [
      fires('40m', [{ severity: 'ticket' }], {
        'sluice_store_bulk_items_total{outcome="retried",instance="a"}': '0+50x60',
        'sluice_store_bulk_items_total{outcome="stored",instance="a"}': '0+100x60',
      }),
      silent('40m', {
        'sluice_store_bulk_items_total{outcome="retried",instance="a"}': '0+5x60',
        'sluice_store_bulk_items_total{outcome="stored",instance="a"}': '0+100x60',
      }),
    ],
  },
  {
    name: 'SluiceShardFull',
    severity: 'ticket',
    expression: 'max(sluice_store_shard_bytes_max) > 50e9 or max(sluice_store_shard_documents_max) > 1e9',
    lasting: '15m',
    summary: 'A shard of Elasticsearch is larger than it should be.',
    cases: [
      fires('40m', [{ severity: 'ticket' }], { 'sluice_store_shard_documents_max{instance="a"}': '1200000000x60' }),
      silent('40m', {
        'sluice_store_shard_bytes_max{instance="a"}': '40000000000x60',
        'sluice_store_shard_documents_max{instance="a"}': '900000000x60',
      }),
    ],
  },
  {
    name: 'SluiceNextDayMissing',
    severity: 'ticket',
    expression: 'max by (kind) (sluice_store_newest_day_timestamp_seconds) < time()',
    lasting: '15m',
    summary: 'The index of tomorrow cannot be made: {{ $labels.kind }} logs will not be stored from midnight (UTC) on.',
    cases: [
      fires('40m', [{ severity: 'ticket', kind: 'event' }], {
        'sluice_store_newest_day_timestamp_seconds{kind="event",instance="a"}': '600x60',
        'sluice_store_newest_day_timestamp_seconds{kind="application",instance="a"}': '86400x60',
      }),
      // Midnight, and a minute later the index of the next day is there.
      silent('40m', {
        'sluice_store_newest_day_timestamp_seconds{kind="event",instance="a"}': '600x11 87000x60',
      }),
    ],
  },
  {
    name: 'SluiceRetentionStuck',
    severity: 'ticket',
    expression: 'time() - max(sluice_retention_last_success_timestamp_seconds) > 10800',
    // A process whose first attempt fails makes the next one an hour after its start.
    lasting: '75m',
    summary: 'Old days have not been removed for hours, so the disk fills.',
    cases: [
      fires('5h', [{ severity: 'ticket' }], {
        'sluice_retention_last_success_timestamp_seconds{instance="a"}': '60x300',
      }),
      // At the start of the process Elasticsearch did not answer; an hour later it does. 0 is long ago, here before the first sample.
      silent('50m', { 'sluice_retention_last_success_timestamp_seconds{instance="a"}': '-20000x60 3660x60' }),
      // A gateway has no retention.
      silent('4h', {
        'sluice_retention_last_success_timestamp_seconds{instance="a"}': '0+60x300',
        'sluice_retention_last_success_timestamp_seconds{instance="gateway"}': '0x300',
      }),
    ],
  },
  {
    name: 'SluiceWatchesNotEvaluated',
    severity: 'ticket',
    expression: 'max(sluice_watches) > 0 and on () time() - max(sluice_watch_last_evaluation_timestamp_seconds) > 1800',
    lasting: '15m',
    summary: 'Watches have not been evaluated for half an hour, so nobody is told of what they look for.',
    cases: [
      // The process that evaluated them is gone.
      fires('1h', [{ severity: 'ticket' }], {
        'sluice_watches{instance="views"}': '3x120',
        'sluice_watch_last_evaluation_timestamp_seconds{instance="views"}': '0x120',
      }),
      silent('2h', {
        'sluice_watches{instance="a"}': '3x120',
        'sluice_watch_last_evaluation_timestamp_seconds{instance="a"}': '0+60x120',
        'sluice_watch_last_evaluation_timestamp_seconds{instance="b"}': '0x120',
      }),
      // All watches are paused.
      silent('2h', {
        'sluice_watches{instance="a"}': '0x120',
        'sluice_watch_last_evaluation_timestamp_seconds{instance="a"}': '60x120',
      }),
    ],
  },
  {
    name: 'SluiceDeadLetters',
    severity: 'ticket',
    expression: 'sum by (view, reason) (increase(sluice_consumer_dead_letters_total[1h])) > 0',
    summary: 'The projection {{ $labels.view }} could not take records: {{ $labels.reason }}.',
    cases: [
      fires('20m', [{ severity: 'ticket', view: 'flows', reason: 'invalid_json' }], {
        'sluice_consumer_dead_letters_total{view="flows",reason="invalid_json",instance="a"}': '0x10 1x30',
      }),
      silent('1h20m', {
        'sluice_consumer_dead_letters_total{view="flows",reason="invalid_json",instance="a"}': '7x90',
      }),
    ],
  },
  {
    name: 'SluiceRefusalsLost',
    severity: 'ticket',
    expression: 'sum(increase(sluice_refusals_noted_total{outcome="lost"}[15m])) > 0',
    lasting: '5m',
    summary: 'Teams are not told of refused logs, as the journal does not take the notes.',
    cases: [
      fires('20m', [{ severity: 'ticket' }], { 'sluice_refusals_noted_total{outcome="lost",instance="a"}': '0+3x30' }),
      silent('20m', {
        'sluice_refusals_noted_total{outcome="lost",instance="a"}': '0x30',
        'sluice_refusals_noted_total{outcome="unnoted",instance="a"}': '0+9x30',
      }),
    ],
  },
  {
    name: 'SluiceKeysTried',
    severity: 'ticket',
    expression:
      'sum(increase(sluice_sign_ins_total{outcome="refused"}[10m])) > 50 or sum(increase(sluice_sign_ins_total{outcome="limited"}[10m])) > 0',
    summary: 'Somebody tries keys at the page.',
    cases: [
      fires('15m', [{ severity: 'ticket' }], { 'sluice_sign_ins_total{outcome="limited",instance="a"}': '0x10 4x30' }),
      silent('15m', {
        'sluice_sign_ins_total{outcome="refused",instance="a"}': '0+1x30',
        'sluice_sign_ins_total{outcome="limited",instance="a"}': '0x30',
      }),
    ],
  },
  {
    name: 'SluiceCertificateEnds',
    severity: 'ticket',
    expression: 'min by (use) (sluice_certificate_not_after_seconds) - time() < 1209600',
    lasting: '15m',
    summary: 'The certificate {{ $labels.use }} ends within two weeks.',
    cases: [
      fires('40m', [{ severity: 'ticket', use: 'kafka_client' }], {
        'sluice_certificate_not_after_seconds{use="kafka_client",instance="a"}': '864000x60',
      }),
      silent('40m', { 'sluice_certificate_not_after_seconds{use="kafka_client",instance="a"}': '8640000x60' }),
    ],
  },
  {
    name: 'SluiceStoresDivided',
    severity: 'ticket',
    expression: 'max by (view) (sluice_consumer_divided) == 1',
    // A move to another log store, process by process, takes less.
    lasting: '20m',
    summary: 'Consumers of another log store take a part of the entries of the projection {{ $labels.view }}.',
    cases: [
      fires('40m', [{ severity: 'ticket', view: 'flows' }], {
        'sluice_consumer_divided{view="flows",instance="a"}': '0x5 1x60',
        'sluice_consumer_divided{view="event-logs",instance="a"}': '0x60',
      }),
      silent('40m', { 'sluice_consumer_divided{view="flows",instance="a"}': '0x5 1x14 0x60' }),
    ],
  },
  {
    name: 'SluiceVersionsMixed',
    severity: 'ticket',
    expression: 'count by (role) (count by (role, version) (sluice_build_info)) > 1',
    lasting: '1h',
    summary: 'Processes with the role {{ $labels.role }} have run different versions for an hour.',
    cases: [
      fires('1h30m', [{ severity: 'ticket', role: 'gateway' }], {
        [roleInfo('gateway', '1.0.0', 'a')]: '1x120',
        [roleInfo('gateway', '1.1.0', 'b')]: '1x120',
      }),
      silent('1h30m', { [roleInfo('gateway', '1.1.0', 'a')]: '1x120', [roleInfo('views', '1.0.0', 'b')]: '1x120' }),
    ],
  },
]

export const ALERTS: readonly Alert[] = TABLE.map((alert) => {
  if ('rules' in alert) return alert
  const { name, cases, ...rule } = alert
  return { name, rules: [rule], cases }
})

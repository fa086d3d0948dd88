/** The source of the Grafana dashboard, `dashboard.json` (deploy/docs/generated.ts). */

/** A panel; its queries are keyed by the legend of their series. */
interface Panel {
  readonly title: string
  readonly unit: 'short' | 'percentunit' | 's' | 'bytes' | 'reqps' | 'ops'
  readonly queries: Readonly<Record<string, string>>
}

const quantile = (of: number, metric: string, by = 'le'): string =>
  `histogram_quantile(${of}, sum by (${by}) (rate(${metric}_bucket[5m])))`

export const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  Objectives: [
    {
      title: 'Failures, of all',
      unit: 'percentunit',
      queries: { '{{slo}} {{view}}': 'sluice:slo_error:ratio_rate1h' },
    },
    {
      title: 'Entries a second',
      unit: 'ops',
      queries: {
        'accepted {{kind}}': 'sum by (kind) (rate(sluice_entries_accepted_total[5m]))',
        'refused {{code}}': 'sum by (code) (rate(sluice_entries_rejected_total[5m]))',
        'requests refused {{code}}': 'sum by (code) (rate(sluice_requests_refused_total[5m]))',
      },
    },
    { title: 'Behind', unit: 's', queries: { '{{view}}': 'max by (view) (sluice_consumer_lag_seconds)' } },
    {
      title: 'Halted, blocked, not ready',
      unit: 'short',
      queries: {
        'halted {{view}}': 'max by (view) (sluice_consumer_halted)',
        'store blocked': 'max(sluice_store_blocked)',
        'breaker {{instance}}': 'max by (instance) (sluice_publish_breaker_state)',
        'registry {{instance}}': 'min by (instance) (sluice_registry_ready)',
      },
    },
  ],
  Canary: [
    {
      title: 'Rounds a minute',
      unit: 'short',
      queries: { '{{outcome}}': 'sum by (outcome) (rate(sluice_canary_rounds_total[5m])) * 60' },
    },
    {
      title: 'Until a hop is done, p99',
      unit: 's',
      queries: { '{{hop}}': quantile(0.99, 'sluice_canary_seconds', 'le, hop') },
    },
  ],
  Watches: [
    {
      title: 'Evaluations',
      unit: 'ops',
      queries: { '{{result}}': 'sum by (result) (rate(sluice_watch_evaluations_total[5m]))' },
    },
    {
      title: 'Posts to webhooks a minute',
      unit: 'short',
      queries: { '{{result}}': 'sum by (result) (rate(sluice_watch_deliveries_total[5m])) * 60' },
    },
    {
      title: 'Since the last evaluation',
      unit: 's',
      queries: {
        all: 'time() - max(sluice_watch_last_evaluation_timestamp_seconds > 0)',
      },
    },
  ],
  Gateway: [
    {
      title: 'Time of requests, p99',
      unit: 's',
      queries: { '{{route}}': quantile(0.99, 'sluice_http_request_seconds', 'le, route') },
    },
    {
      title: 'Time until the journal confirms',
      unit: 's',
      queries: { p50: quantile(0.5, 'sluice_publish_seconds'), p99: quantile(0.99, 'sluice_publish_seconds') },
    },
    {
      title: 'Records in a micro-batch',
      unit: 'short',
      queries: {
        mean: 'sum(rate(sluice_publish_batch_records_sum[5m])) / sum(rate(sluice_publish_batch_records_count[5m]))',
      },
    },
    {
      title: 'Buffers',
      unit: 'bytes',
      queries: {
        'bodies {{instance}}': 'max by (instance) (sluice_body_bytes)',
        'unconfirmed {{instance}}': 'max by (instance) (sluice_publish_queue_bytes)',
        'reads {{instance}}': 'max by (instance) (sluice_read_bytes)',
      },
    },
    {
      title: 'Limits used a second',
      unit: 'ops',
      queries: {
        '{{reason}}': 'sum by (reason) (rate(sluice_limited_total[5m]))',
        'refusals {{outcome}}': 'sum by (outcome) (rate(sluice_refusals_noted_total[5m]))',
        connections: 'sum(rate(sluice_connections_refused_total[5m]))',
      },
    },
    {
      title: 'Quotas: entries a second, and requests beyond',
      unit: 'ops',
      queries: {
        '{{team}}': 'sum by (team) (rate(sluice_quota_entries_total[5m]))',
        '{{team}} beyond, {{mode}}': 'sum by (team, mode) (rate(sluice_quota_limited_total[5m]))',
      },
    },
    {
      title: 'Quotas: bytes a second',
      unit: 'bytes',
      queries: { '{{team}}': 'sum by (team) (rate(sluice_quota_bytes_total[5m]))' },
    },
    {
      title: 'Gateways that share the quotas',
      unit: 'short',
      queries: { '{{instance}}': 'max by (instance) (sluice_live_gateways)' },
    },
    {
      title: 'Connections',
      unit: 'short',
      queries: {
        '{{instance}}': 'max by (instance) (sluice_connections)',
        'tails {{instance}}': 'max by (instance) (sluice_tail_streams)',
      },
    },
  ],
  Projections: [
    {
      title: 'Records behind',
      unit: 'short',
      queries: { '{{view}}': 'sum by (view) (max by (view, topic, partition) (sluice_consumer_lag_records))' },
    },
    {
      title: 'Records a second',
      unit: 'ops',
      queries: { '{{view}} {{outcome}}': 'sum by (view, outcome) (rate(sluice_consumer_records_total[5m]))' },
    },
    {
      title: 'Until a search finds an entry, p99',
      unit: 's',
      queries: { '{{view}}': quantile(0.99, 'sluice_consumer_searchable_seconds', 'le, view') },
    },
    {
      title: 'Since the last commit',
      unit: 's',
      queries: { '{{view}}': 'time() - max by (view) (sluice_consumer_last_commit_timestamp_seconds > 0)' },
    },
    {
      title: 'Partitions and rebalances',
      unit: 'short',
      queries: {
        '{{view}} {{instance}}': 'sum by (view, instance) (sluice_consumer_assigned_partitions)',
        'rebalances {{view}} {{reason}}': 'sum by (view, reason) (increase(sluice_consumer_rebalances_total[15m]))',
        'paused {{view}} (s)': 'sum by (view) (increase(sluice_consumer_paused_seconds_total[15m]))',
      },
    },
    {
      title: 'Dead letters an hour',
      unit: 'short',
      queries: { '{{view}} {{reason}}': 'sum by (view, reason) (increase(sluice_consumer_dead_letters_total[1h]))' },
    },
  ],
  'Log store': [
    {
      title: 'Time of a write, p99',
      unit: 's',
      queries: {
        '{{view}}': quantile(0.99, 'sluice_consumer_write_seconds', 'le, view'),
        bulk: quantile(0.99, 'sluice_store_bulk_seconds'),
      },
    },
    {
      title: 'Operations of Elasticsearch a second',
      unit: 'ops',
      queries: {
        '{{outcome}}': 'sum by (outcome) (rate(sluice_store_bulk_items_total[5m]))',
        'flow conflicts': 'sum(rate(sluice_flow_conflicts_total[5m]))',
        'bulks in flight': 'sum(sluice_store_bulks_in_flight)',
      },
    },
    {
      title: 'Shards',
      unit: 'short',
      queries: {
        open: 'max(sluice_store_open_shards)',
        'documents of the fullest': 'max(sluice_store_shard_documents_max)',
      },
    },
    { title: 'Largest shard', unit: 'bytes', queries: { bytes: 'max(sluice_store_shard_bytes_max)' } },
    {
      title: 'Since old days were removed',
      unit: 's',
      queries: { age: 'time() - max(sluice_retention_last_success_timestamp_seconds > 0)' },
    },
  ],
  Processes: [
    {
      title: 'Versions',
      unit: 'short',
      queries: { '{{role}} {{version}}': 'count by (role, version) (sluice_build_info)' },
    },
    { title: 'CPU', unit: 'percentunit', queries: { '{{instance}}': 'rate(process_cpu_seconds_total[5m])' } },
    { title: 'Memory', unit: 'bytes', queries: { '{{instance}}': 'process_resident_memory_bytes' } },
    {
      title: 'Event loop late by',
      unit: 's',
      queries: { '{{instance}}': 'max by (instance) (sluice_event_loop_delay_seconds{quantile="0.99"})' },
    },
    {
      title: 'Spans of traces a second',
      unit: 'short',
      queries: { '{{outcome}}': 'sum by (outcome) (rate(sluice_trace_spans_total[5m]))' },
    },
    {
      title: 'Sign-ins a minute',
      unit: 'short',
      queries: { '{{outcome}}': 'sum by (outcome) (rate(sluice_sign_ins_total[5m])) * 60' },
    },
    {
      title: 'Audit records that were not confirmed a minute',
      unit: 'short',
      queries: { '{{record}}': 'sum by (record) (rate(sluice_audit_failures_total[5m])) * 60' },
    },
    {
      title: 'Registry: records, and age of the newest change (s)',
      unit: 'short',
      queries: {
        'records {{instance}}': 'sluice_registry_records',
        '{{instance}}': 'time() - (sluice_registry_applied_timestamp_seconds > 0)',
      },
    },
  ],
}

/** The size of a panel in units of Grafana's grid, which is 24 wide. */
const PANEL = { w: 8, h: 7 }
const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

/** `dashboard.json`, for import into Grafana 10 or newer. */
export function dashboardFile(): string {
  const panels: object[] = []
  let y = 0
  for (const [title, row] of Object.entries(ROWS)) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    })
    y += 1
    for (const [index, panel] of row.entries()) {
      const gridPos = { x: (index % 3) * PANEL.w, y: y + Math.floor(index / 3) * PANEL.h, ...PANEL }
      panels.push({ id: panels.length + 1, gridPos, ...timeSeries(panel) })
    }
    y += Math.ceil(row.length / 3) * PANEL.h
  }
  const dashboard = {
    uid: 'sluice',
    title: 'Sluice',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels,
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

const timeSeries = ({ title, unit, queries }: Panel): object => ({
  type: 'timeseries',
  title,
  datasource: DATASOURCE,
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    datasource: DATASOURCE,
    expr,
    legendFormat,
  })),
})

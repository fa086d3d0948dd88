/** The source of the Grafana dashboard, `dashboard.json` (deploy/docs/generated.ts). */

/** A panel; its queries are keyed by the legend of their series. */
interface Panel {
  readonly title: string
  readonly unit: 'short' | 'percentunit' | 's' | 'bytes' | 'reqps' | 'ops'
  readonly queries: Readonly<Record<string, string>>
}

const quantile = (of: number, metric: string, by = 'le'): string =>
  `histogram_quantile(${of}, sum by (${by}) (rate(${metric}_bucket[5m])))`

const panel = (title: string, unit: Panel['unit'], queries: Panel['queries']): Panel => ({ title, unit, queries })

export const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  Objectives: [
    panel('Failures, of all', 'percentunit', { '{{slo}} {{view}}': 'sluice:slo_error:ratio_rate1h' }),
    panel('Entries a second', 'ops', {
      'accepted {{kind}}': 'sum by (kind) (rate(sluice_entries_accepted_total[5m]))',
      'refused {{code}}': 'sum by (code) (rate(sluice_entries_rejected_total[5m]))',
      'requests refused {{code}}': 'sum by (code) (rate(sluice_requests_refused_total[5m]))',
    }),
    panel('Behind', 's', { '{{view}}': 'max by (view) (sluice_consumer_lag_seconds)' }),
    panel('Halted, blocked, not ready', 'short', {
      'halted {{view}}': 'max by (view) (sluice_consumer_halted)',
      'store blocked': 'max(sluice_store_blocked)',
      'divided {{view}}': 'max by (view) (sluice_consumer_divided)',
      'breaker {{topic}} {{instance}}': 'max by (topic, instance) (sluice_publish_breaker_state)',
      'registry {{instance}}': 'min by (instance) (sluice_registry_ready)',
    }),
  ],
  Canary: [
    panel('Rounds a minute', 'short', {
      '{{outcome}}': 'sum by (outcome) (rate(sluice_canary_rounds_total[5m])) * 60',
    }),
    panel('Until a hop is done, p99', 's', { '{{hop}}': quantile(0.99, 'sluice_canary_seconds', 'le, hop') }),
  ],
  Watches: [
    panel('Evaluations', 'ops', { '{{result}}': 'sum by (result) (rate(sluice_watch_evaluations_total[5m]))' }),
    panel('Posts to webhooks a minute', 'short', {
      '{{result}}': 'sum by (result) (rate(sluice_watch_deliveries_total[5m])) * 60',
    }),
    panel('Since the last evaluation', 's', {
      all: 'time() - max(sluice_watch_last_evaluation_timestamp_seconds > 0)',
    }),
  ],
  Gateway: [
    panel('Time of requests, p99', 's', { '{{route}}': quantile(0.99, 'sluice_http_request_seconds', 'le, route') }),
    panel('Time until the journal confirms', 's', {
      p50: quantile(0.5, 'sluice_publish_seconds'),
      p99: quantile(0.99, 'sluice_publish_seconds'),
    }),
    panel('Records in a micro-batch', 'short', {
      mean: 'sum(rate(sluice_publish_batch_records_sum[5m])) / sum(rate(sluice_publish_batch_records_count[5m]))',
    }),
    panel('Buffers', 'bytes', {
      'bodies {{instance}}': 'max by (instance) (sluice_body_bytes)',
      'unconfirmed {{instance}}': 'max by (instance) (sluice_publish_queue_bytes)',
      'reads {{instance}}': 'max by (instance) (sluice_read_bytes)',
    }),
    panel('Limits used a second', 'ops', {
      '{{reason}}': 'sum by (reason) (rate(sluice_limited_total[5m]))',
      'refusals {{outcome}}': 'sum by (outcome) (rate(sluice_refusals_noted_total[5m]))',
      connections: 'sum(rate(sluice_connections_refused_total[5m]))',
    }),
    panel('Quotas: entries a second, and requests beyond', 'ops', {
      '{{team}}': 'sum by (team) (rate(sluice_quota_entries_total[5m]))',
      '{{team}} beyond, {{mode}}': 'sum by (team, mode) (rate(sluice_quota_limited_total[5m]))',
    }),
    panel('Quotas: bytes a second', 'bytes', { '{{team}}': 'sum by (team) (rate(sluice_quota_bytes_total[5m]))' }),
    panel('Gateways that share the quotas', 'short', { '{{instance}}': 'max by (instance) (sluice_live_gateways)' }),
    panel('Connections', 'short', {
      '{{instance}}': 'max by (instance) (sluice_connections)',
      'tails {{instance}}': 'max by (instance) (sluice_tail_streams)',
    }),
  ],
  Projections: [
    panel('Records behind', 'short', {
      '{{view}}': 'sum by (view) (max by (view, topic, partition) (sluice_consumer_lag_records))',
    }),
    panel('Records a second', 'ops', {
      '{{view}} {{outcome}}': 'sum by (view, outcome) (rate(sluice_consumer_records_total[5m]))',
    }),
    panel('Until a search finds an entry, p99', 's', {
      '{{view}}': quantile(0.99, 'sluice_consumer_searchable_seconds', 'le, view'),
    }),
    panel('Since the last commit', 's', {
      '{{view}}': 'time() - max by (view) (sluice_consumer_last_commit_timestamp_seconds > 0)',
    }),
    panel('Partitions and rebalances', 'short', {
      '{{view}} {{instance}}': 'sum by (view, instance) (sluice_consumer_assigned_partitions)',
      'rebalances {{view}} {{reason}}': 'sum by (view, reason) (increase(sluice_consumer_rebalances_total[15m]))',
      'paused {{view}} (s)': 'sum by (view) (increase(sluice_consumer_paused_seconds_total[15m]))',
    }),
    panel('Dead letters an hour', 'short', {
      '{{view}} {{reason}}': 'sum by (view, reason) (increase(sluice_consumer_dead_letters_total[1h]))',
    }),
  ],
  'Log store': [
    panel('Time of a write, p99', 's', {
      '{{view}}': quantile(0.99, 'sluice_consumer_write_seconds', 'le, view'),
      bulk: quantile(0.99, 'sluice_store_bulk_seconds'),
    }),
    panel('Operations of Elasticsearch a second', 'ops', {
      '{{outcome}}': 'sum by (outcome) (rate(sluice_store_bulk_items_total[5m]))',
      'flow conflicts': 'sum(rate(sluice_flow_conflicts_total[5m]))',
      'bulks in flight': 'sum(sluice_store_bulks_in_flight)',
    }),
    panel('Shards', 'short', {
      open: 'max(sluice_store_open_shards)',
      'documents of the fullest': 'max(sluice_store_shard_documents_max)',
    }),
    panel('Largest shard', 'bytes', { bytes: 'max(sluice_store_shard_bytes_max)' }),
    panel('Since old days were removed', 's', {
      age: 'time() - max(sluice_retention_last_success_timestamp_seconds > 0)',
    }),
  ],
  Processes: [
    panel('Versions', 'short', { '{{role}} {{version}}': 'count by (role, version) (sluice_build_info)' }),
    panel('CPU', 'percentunit', { '{{instance}}': 'rate(process_cpu_seconds_total[5m])' }),
    panel('Memory', 'bytes', { '{{instance}}': 'process_resident_memory_bytes' }),
    panel('Event loop late by', 's', {
      '{{instance}}': 'max by (instance) (sluice_event_loop_delay_seconds{quantile="0.99"})',
    }),
    panel('Spans of traces a second', 'short', {
      '{{outcome}}': 'sum by (outcome) (rate(sluice_trace_spans_total[5m]))',
    }),
    panel('Sign-ins a minute', 'short', { '{{outcome}}': 'sum by (outcome) (rate(sluice_sign_ins_total[5m])) * 60' }),
    panel('Audit records that were not confirmed a minute', 'short', {
      '{{record}}': 'sum by (record) (rate(sluice_audit_failures_total[5m])) * 60',
    }),
    panel('Registry: records, and age of the newest change (s)', 'short', {
      'records {{instance}}': 'sluice_registry_records',
      '{{instance}}': 'time() - (sluice_registry_applied_timestamp_seconds > 0)',
    }),
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

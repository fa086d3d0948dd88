import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

interface MetricSpec {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** The measured quantity, its unit, and advice for a suspicious value. */
  readonly help: string
  readonly labels: readonly string[]
}

const counter = (help: string, ...labels: readonly string[]) => ({ kind: 'counter', help, labels }) as const
const gauge = (help: string, ...labels: readonly string[]) => ({ kind: 'gauge', help, labels }) as const
const histogram = (help: string, ...labels: readonly string[]) => ({ kind: 'histogram', help, labels }) as const

/** Every metric of Sluice. docs/operations.md has the same table, and a test compares the two. */
export const METRICS = {
  sluice_build_info: gauge('1, with the version of the program and the role of the process.', 'version', 'role'),
  sluice_http_request_seconds: histogram(
    'Seconds from the head of a request until its answer was handed over or its client was gone; for a live tail, the time that it was open. The route is a template, or `other` if none matched; the class is 2xx to 5xx, or `none` if no answer began.',
    'route',
    'status_class',
  ),
  sluice_entries_accepted_total: counter(
    'Entries that the journal confirmed and that were answered success:true.',
    'kind',
  ),
  sluice_entries_rejected_total: counter(
    'Entries refused, by error code. A rise of server_error means that the journal does not confirm.',
    'kind',
    'code',
  ),
  sluice_requests_refused_total: counter(
    'Requests refused before any of their entries was checked, by error code.',
    'code',
  ),
  sluice_refusals_noted_total: counter(
    'Refusals to be shown to a Team, by outcome: noted; unnoted, above its share; lost, because the journal did not take the notes.',
    'outcome',
  ),
  sluice_limited_total: counter(
    'Uses of a limit, by reason: body_buffer and publish_buffer, requests refused because BODY_BUFFER_BYTES or PUBLISH_BUFFER_BYTES had no room; hot_key, entries that lost their order (HOT_KEY_ENTRIES_PER_SECOND).',
    'reason',
  ),
  sluice_quota_limited_total: counter(
    'Requests beyond the quota of their Team, by mode: enforced, which were refused; shadow, which would have been. The first 20 Teams are named; the others count as `others`.',
    'team',
    'mode',
  ),
  sluice_quota_entries_total: counter(
    'Entries that were counted against a quota and taken; those of a batch before they are checked one by one. A quota bounds the rate over all gateways.',
    'team',
  ),
  sluice_quota_bytes_total: counter('Bytes of the bodies of these requests, after decompression.', 'team'),
  sluice_live_gateways: gauge(
    'Gateways that share the quotas, as counted by this one. If fewer than the running gateways, more than the quotas is taken: check that the topic of the gateways can be written and read.',
  ),
  sluice_body_bytes: gauge(
    'Bytes of request bodies being read, as sent and inflated. At BODY_BUFFER_BYTES requests are refused.',
  ),
  sluice_publish_seconds: histogram('Seconds from handing a micro-batch to the journal until it is confirmed.'),
  sluice_publish_batch_records: histogram('Records in one micro-batch; near 1 at low load, rising with it.'),
  sluice_publish_queue_bytes: gauge(
    'Bytes of entries that wait for the journal to confirm them. At PUBLISH_BUFFER_BYTES requests are refused.',
  ),
  sluice_publish_breaker_state: gauge(
    'The circuit breaker around the journal, by topic: 0 closed, 1 half open, 2 open (entries are refused at once).',
    'topic',
  ),
  sluice_registry_ready: gauge('1 when the registry has been read to its end, else 0.'),
  sluice_registry_records: gauge('Teams, keys, Events, Steps and Projects that the registry holds.'),
  sluice_registry_applied_timestamp_seconds: gauge(
    'Time (Unix) at which the newest change that this process has applied was written; 0 before the first. Processes with different values do not know the same keys.',
  ),
  sluice_certificate_not_after_seconds: gauge(
    'Time (Unix) at which a certificate ends, by use: kafka_ca, kafka_client, elasticsearch_ca; of several in a file, the first to end. The files are read once a minute.',
    'use',
  ),
  sluice_consumer_records_total: counter(
    'Records read by a projection, by outcome: stored, duplicate, skipped, dead_letter.',
    'view',
    'outcome',
  ),
  sluice_consumer_dead_letters_total: counter(
    'Records moved to the dead letters, by reason. Above zero: `sluice dead-letters list`.',
    'view',
    'reason',
  ),
  sluice_consumer_lag_records: gauge('Records after the committed position.', 'view', 'topic', 'partition'),
  sluice_consumer_lag_seconds: gauge(
    'Seconds since the oldest record not yet stored was accepted; 0 when there is none.',
    'view',
  ),
  sluice_consumer_searchable_seconds: histogram('Seconds from accepting an entry until a search finds it.', 'view'),
  sluice_consumer_write_seconds: histogram('Seconds of one write to the log store, retries included.', 'view'),
  sluice_consumer_last_commit_timestamp_seconds: gauge(
    'Time (Unix) of the last commit of a position by this process. An old time while there is lag means that the projection is stuck.',
    'view',
  ),
  sluice_consumer_assigned_partitions: gauge(
    'Partitions that this process reads. 0 while it joins, during every rebalance of the classic protocol, or where its group has more members than partitions.',
    'view',
  ),
  sluice_consumer_rebalances_total: counter(
    'Times that partitions were taken from this process, by reason: group, a member came or left; member, the process had to join its group again.',
    'view',
    'reason',
  ),
  sluice_consumer_paused_seconds_total: counter(
    'Seconds without partitions between two assignments; counted when the second one comes.',
    'view',
  ),
  sluice_consumer_halted: gauge(
    '1 when a projection has halted, or one of its partitions waits, and needs an operator; its log says why.',
    'view',
  ),
  sluice_consumer_divided: gauge(
    '1 while consumers of another log store share the group of a projection, so that each store lacks a part of the entries; the log names it.',
    'view',
  ),
  sluice_store_bulk_seconds: histogram(
    'Seconds of one bulk request to Elasticsearch, without the waits between attempts.',
  ),
  sluice_store_bulk_items_total: counter(
    'Operations sent to Elasticsearch, by outcome: stored, duplicate, refused; retried counts every further attempt.',
    'outcome',
  ),
  sluice_store_bulks_in_flight: gauge('Bulk requests to Elasticsearch under way.'),
  sluice_store_blocked: gauge(
    '1 while Elasticsearch refuses writes until somebody acts: a full disk, a read-only or closed index, no shards left, a refused login.',
  ),
  sluice_store_open_shards: gauge(
    'Shards of the indices in Elasticsearch, copies included, counted once a minute; a node takes 1,000 by default.',
  ),
  sluice_store_shard_bytes_max: gauge(
    'Bytes of the largest shard. Above 50 GB: raise ELASTICSEARCH_SHARDS or ELASTICSEARCH_FLOWS_SHARDS.',
  ),
  sluice_store_shard_documents_max: gauge('Documents of the fullest shard; Elasticsearch takes 2,147,483,519.'),
  sluice_store_newest_day_timestamp_seconds: gauge(
    'Begin (Unix) of the newest day that has an index in Elasticsearch, by kind: event, application. In the past: the index of tomorrow is missing.',
    'kind',
  ),
  sluice_flow_conflicts_total: counter(
    'Flow summaries that were read and written again because another writer changed them at the same time.',
  ),
  sluice_retention_last_success_timestamp_seconds: gauge(
    'Time (Unix) of the last successful removal of old days; 0 before the first. It runs every hour.',
  ),
  sluice_audit_failures_total: counter(
    'Audit records that the journal did not confirm: change (it was refused), outcome (the change stays pending).',
    'record',
  ),
  sluice_sign_ins_total: counter(
    'Sign-ins to the page, by outcome: opened, refused (no live key), limited (too many failed before). Many refused: somebody tries keys.',
    'outcome',
  ),
  sluice_read_bytes: gauge('Bytes that reads hold, from the store to their readers. At READ_BUFFER_BYTES reads wait.'),
  sluice_connections: gauge('Connections open now. From 0.9 of MAX_CONNECTIONS on, idle ones are closed.'),
  sluice_connections_refused_total: counter('Connections closed because there were MAX_CONNECTIONS already.'),
  sluice_event_loop_delay_seconds: gauge(
    'Seconds by which the thread that answers HTTP was late, over the last one to two minutes; quantile 1 is the longest. From 0.1 on, some work blocks the thread.',
    'quantile',
  ),
  sluice_trace_spans_total: counter(
    'Spans of traces, by outcome: sent; failed, because the receiver did not take them; dropped, because too many waited. All 0 if tracing is off.',
    'outcome',
  ),
  sluice_tail_streams: gauge('Live tails open now.'),
  sluice_watches: gauge('Watches that are not paused, of all Teams.'),
  sluice_watch_evaluations_total: counter(
    'Evaluations of watches, by result: clear, met, error. The page of the Team shows the reason of an error.',
    'result',
  ),
  sluice_watch_deliveries_total: counter(
    'Attempts to post to a webhook, by result: delivered; failed, to be retried; gave_up, the last of 13 attempts. The log and the page have the reasons.',
    'result',
  ),
  sluice_watch_last_evaluation_timestamp_seconds: gauge(
    'Time (Unix) at which this process last evaluated a watch; 0 if it never did, as only one of several processes evaluates watches.',
  ),
  sluice_canary_rounds_total: counter(
    'Rounds of `sluice canary`, by outcome: found, or the first hop that failed: gateway_refused, not_accepted (in time), not_searchable (in time), views_refused.',
    'outcome',
  ),
  sluice_canary_seconds: histogram(
    'Seconds of a hop of `sluice canary`: accepted, from sending an entry until success:true; event-logs, application-logs, flows: from the beginning of the round until the list shows the entry.',
    'hop',
  ),
} satisfies Record<`sluice_${string}`, MetricSpec>

type Catalogue = typeof METRICS
type NameOf<Kind> = { [Name in keyof Catalogue]: Catalogue[Name]['kind'] extends Kind ? Name : never }[keyof Catalogue]

type LabelValues = Readonly<Record<string, string | readonly string[]>>

export interface Metrics {
  /**
   * A counter that begins at 0 for every combination of the given label values: Prometheus sees no increase in a counter whose first sample
   * already includes its first event.
   */
  counter(name: NameOf<'counter'>, begun?: LabelValues): Counter
  /**
   * `read` gives the value whenever it is collected, as some values change several times per request; that of a gauge with labels sets their
   * values itself.
   */
  gauge(name: NameOf<'gauge'>, read?: (gauge: Gauge) => number | undefined): Gauge
  histogram(name: NameOf<'histogram'>): Histogram
  readonly registry: Registry
}

/** The instruments of one process (or thread), with Node's own on request. Those that are not `shown` exist but are not exposed. */
export function createMetrics({ processMetrics = false, shown = (_name: string): boolean => true } = {}): Metrics {
  const registry = new Registry()
  if (processMetrics) collectDefaultMetrics({ register: registry })
  const made = new Map<string, Counter | Gauge | Histogram>()
  for (const [name, spec] of Object.entries(METRICS) as [string, MetricSpec][]) {
    const options = { name, help: spec.help, labelNames: [...spec.labels] }
    made.set(name, create(spec.kind, { ...options, registers: shown(name) ? [registry] : [] }))
  }
  return {
    counter: (name, begun) => {
      const counter = made.get(name) as Counter
      for (const labels of begun === undefined ? [] : combinations(begun)) counter.inc(labels, 0)
      return counter
    },
    gauge: (name, read) => {
      const gauge = made.get(name) as Gauge
      const collect = (): void => {
        const value = read?.(gauge)
        if (value !== undefined) gauge.set(value)
      }
      return read === undefined ? gauge : Object.assign(gauge, { collect })
    },
    histogram: (name) => made.get(name) as Histogram,
    registry,
  }
}

/** The label sets with one value of each label. */
const combinations = (labels: LabelValues) =>
  Object.entries(labels).reduce<Record<string, string>[]>(
    (sets, [name, values]) => sets.flatMap((set) => [values].flat().map((value) => ({ ...set, [name]: value }))),
    [{}],
  )

function create(
  kind: MetricSpec['kind'],
  options: { name: string; help: string; labelNames: string[]; registers: Registry[] },
) {
  if (kind === 'counter') return new Counter(options)
  if (kind === 'gauge') return new Gauge(options)
  const buckets = options.name.endsWith('_seconds') ? LATENCY_SECONDS : [1, 2, 5, 10, 25, 50, 100, 250, 500]
  return new Histogram({ ...options, buckets })
}

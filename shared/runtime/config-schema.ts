import { networkOf } from './networks.ts'

/** One setting. Its name is the environment variable; `*_BYTES`, `*_MS`, `*_DAYS` carry their unit in the name. */
export type Setting = {
  readonly help: string
  /** Never printed or logged; may also be given as `<NAME>_FILE`, the path of a file that holds it. */
  readonly secret?: true
  readonly form?: Form | undefined
} & (
  | { readonly type: 'text' | 'url' | 'list'; readonly default: string | null }
  | { readonly type: 'integer'; readonly default: number | null; readonly minimum: number; readonly maximum: number }
  | { readonly type: 'choice'; readonly choices: readonly string[]; readonly default: string }
  | { readonly type: 'flag'; readonly default: boolean }
)

/** The texts that a setting takes beyond its type; of a list, the items. */
interface Form {
  /** Completes "must be". */
  readonly expected: string
  readonly takes: (text: string) => boolean
}

const NETWORKS: Form = {
  expected: 'addresses or networks such as 10.0.0.7, 10.0.0.0/8 or fd00::/8',
  takes: (text) => networkOf(text) !== undefined,
}

/** Whether a page's origin can be this text: a scheme and a host, as browsers write them; `null` is that of a file or a sandbox. */
function isOrigin(text: string): boolean {
  if (text.includes('*') || text === 'null') return text === '*' || text === 'null'
  if (!URL.canParse(text)) return false
  const { origin, protocol, host } = new URL(text)
  return text === (origin === 'null' ? `${protocol}//${host}` : origin)
}

/** Whether a URL has a user, a password or both; fetch refuses such a URL, and its error quotes it. */
export function hasCredentials(url: string): boolean {
  const { username, password } = new URL(url)
  return username + password !== ''
}

function isBroker(text: string): boolean {
  const [, port] = /^(?:\[[^\s/\]]+\]|[^\s/:]+):(\d{1,5})$/.exec(text) ?? []
  return Number(port) >= 1 && Number(port) <= 65_535
}

/** The pairs of a list of `name=value`, whose values may be percent-encoded. Throws a URIError for an invalid encoding. */
export const pairsOf = (list: readonly string[]): [name: string, value: string][] =>
  list.map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return [name.trim(), decodeURIComponent(value.join('=').trim())]
  })

/** Whether a text is a pair with a value that matches. */
function isPair(text: string, values: RegExp): boolean {
  try {
    return text.includes('=') && pairsOf([text]).every(([name, value]) => /^[\w./-]+$/.test(name) && values.test(value))
  } catch {
    return false
  }
}

const VIEWS = 'event-logs,application-logs,flows'

const MEBIBYTE = 1024 * 1024
const GIBIBYTE = 1024 * MEBIBYTE

/* A setting of each type; the default of a text or a list is null (unset) unless it is given. */

const text = <const Default extends string | null = null>(
  help: string,
  byDefault: Default = null as Default,
  form?: Form,
) => ({ type: 'text', default: byDefault, help, form }) as const

const url = (help: string, form?: Form) => ({ type: 'url', default: null, help, form }) as const

const list = <const Default extends string | null = null>(
  help: string,
  form: Form,
  byDefault: Default = null as Default,
) => ({ type: 'list', default: byDefault, help, form }) as const

const integer = <const Default extends number | null>(
  help: string,
  bounds: { readonly default: Default; readonly minimum: number; readonly maximum: number },
) => ({ type: 'integer', help, ...bounds }) as const

const choice = <const Choice extends string>(help: string, choices: readonly Choice[], byDefault: NoInfer<Choice>) =>
  ({ type: 'choice', choices, default: byDefault, help }) as const

const flag = (help: string, byDefault: boolean) => ({ type: 'flag', default: byDefault, help }) as const

const secret = <S extends Setting>(setting: S) => ({ ...setting, secret: true }) as const

/** Every setting of Sluice. `sluice config print` and the table of docs/operations.md come from here. */
export const SETTINGS = {
  HOST: text('Address to listen on; 0.0.0.0 for every interface.', '127.0.0.1'),
  PORT: integer('Port to listen on; 0 takes a free one.', { default: 8080, minimum: 0, maximum: 65_535 }),
  METRICS_PORT: integer(
    'Separate port for /metrics, other than PORT; 0 takes a free one; unset: /metrics is on the main port.',
    { default: null, minimum: 0, maximum: 65_535 },
  ),
  OTLP_GRPC_PORT: integer(
    'Port for OTLP over gRPC, usually 4317, other than PORT and METRICS_PORT; 0 takes a free one; unset: there is none.',
    { default: null, minimum: 0, maximum: 65_535 },
  ),
  BASE_PATH: text('Path prefix of every route, where a proxy serves Sluice below one.', '/', {
    // Neither a URL nor a route gives these characters a meaning of its own; slashes at the end are removed.
    expected: 'a path that begins with a slash and has only A-Z a-z 0-9 . _ ~ - between slashes, but not . or .. alone',
    takes: (path) => /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/*$/.test(path),
  }),
  GATEWAY_URL: url(
    'Address at which clients reach the gateway, with its base path, for the snippets on the page; unset: the address of the page, if it takes logs.',
  ),
  GATEWAY_INTERNAL_URL: url(
    'Address of the gateway for sample flows, which processes with the role views send, and for `sluice canary`; unset: GATEWAY_URL.',
  ),
  VIEWS_URL: url('Address at which `sluice canary` reaches the views, with its base path; unset: that of the gateway.'),
  DATA_DIR: text('Folder of the embedded journal and log store.', './data'),
  REGISTRY_FILE: text('YAML file of Teams, Events, Steps and Projects, applied at start.'),
  KAFKA_BROKERS: list('Kafka brokers, `host:port` separated by commas; unset: the journal is embedded (SQLite).', {
    expected: 'host:port or [IPv6]:port',
    takes: isBroker,
  }),
  KAFKA_CLIENT_ID: text("Names this process in the brokers' logs and quotas.", 'sluice'),
  KAFKA_COMPRESSION: choice(
    'How records are compressed on the topics. Subscribers must be able to read it; every client library reads gzip.',
    ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
    'gzip',
  ),
  KAFKA_GROUP_PROTOCOL: choice(
    'How consumers join their groups. `auto`: by the consumer protocol (KIP-848), which stops only the partitions that move, where the brokers have it (Kafka 4.0); otherwise by the classic one.',
    ['auto', 'classic'],
    'auto',
  ),
  KAFKA_SSL: flag('Encrypt the connections to Kafka.', false),
  KAFKA_SSL_CA_FILE: text(
    "PEM file of the authorities that signed the brokers' certificates; unset: those that Node trusts.",
  ),
  KAFKA_SSL_CERT_FILE: text('PEM file of the client certificate, for mutual TLS; together with KAFKA_SSL_KEY_FILE.'),
  KAFKA_SSL_KEY_FILE: text('PEM file of the key of the client certificate.'),
  KAFKA_SASL_MECHANISM: choice(
    'How to log in to Kafka, with KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD. PLAIN sends the password as it is: use it with KAFKA_SSL only.',
    ['none', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'],
    'none',
  ),
  KAFKA_SASL_USERNAME: text('User name for KAFKA_SASL_MECHANISM.'),
  KAFKA_SASL_PASSWORD: secret(text('Password for KAFKA_SASL_MECHANISM.')),
  ELASTICSEARCH_URL: url(
    'Address of Elasticsearch, or of its load balancer; unset: the log store is embedded (SQLite).',
  ),
  ELASTICSEARCH_API_KEY: secret(
    text('API key for Elasticsearch, in its encoded form; instead of a user name and password.'),
  ),
  ELASTICSEARCH_USERNAME: text('User name for Elasticsearch, with ELASTICSEARCH_PASSWORD.'),
  ELASTICSEARCH_PASSWORD: secret(text('Password for Elasticsearch.')),
  ELASTICSEARCH_CA_FILE: text(
    "PEM file of the authority that signed Elasticsearch's certificate; unset: those that Node trusts.",
  ),
  ELASTICSEARCH_REPLICAS: integer(
    'Copies of every index in addition to the first; 0 on a single node, which has no place for them.',
    { default: 1, minimum: 0, maximum: 10 },
  ),
  ELASTICSEARCH_SHARDS: integer("Shards of a day's index; one for about every 50 GB that a day brings.", {
    default: 1,
    minimum: 1,
    maximum: 64,
  }),
  ELASTICSEARCH_FLOWS_SHARDS: integer(
    'Shards of the index of flows, from its next rebuild on; one for about every 50 GB of it, and at least one for every billion flows.',
    { default: 1, minimum: 1, maximum: 1_024 },
  ),
  TOPIC_PREFIX: text('First part of every topic name.', 'sluice', {
    // Kafka allows these characters in a topic's name, at most 249.
    expected: '1 to 100 of A-Z a-z 0-9 . _ - that begin with a letter or digit',
    takes: (prefix) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(prefix),
  }),
  INDEX_PREFIX: text('First part of every index name.', 'sluice', {
    // Elasticsearch allows no capitals in an index's name.
    expected: '1 to 100 of a-z 0-9 . _ - that begin with a letter or digit',
    takes: (prefix) => /^[a-z0-9][a-z0-9._-]{0,99}$/.test(prefix),
  }),
  UNSAFE_TOPICS: choice(
    'Whether a gateway starts on topics whose settings could lose accepted entries.',
    ['refuse', 'allow'],
    'refuse',
  ),
  AUTO_CREATE: flag('Whether missing topics and indices are created at start.', true),
  LOG_LEVEL: choice(
    "The lowest level of the program's own log lines.",
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    'Address to which traces of Sluice itself are sent by OTLP/HTTP (Protobuf), without `/v1/traces`; unset: nothing is traced.',
    {
      expected: 'an address without credentials (use OTEL_EXPORTER_OTLP_HEADERS)',
      takes: (url) => !hasCredentials(url),
    },
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    list('Headers of these requests, `name=value` separated by commas.', {
      expected: 'name=value in ASCII, with %2C for a comma in a value',
      takes: (pair) => isPair(pair, /^[\t -~]+$/),
    }),
  ),
  OTEL_TRACES_SAMPLER_ARG: text(
    'Greatest share of requests that are traced, from 0 (nothing is traced) to 1.',
    '0.01',
    {
      expected: 'a number from 0 to 1 such as 0.01',
      takes: (ratio) => /^(0(\.\d+)?|1(\.0+)?)$/.test(ratio),
    },
  ),
  OTEL_SERVICE_NAME: text('Names this process in traces.', 'sluice'),
  OTEL_RESOURCE_ATTRIBUTES: list('Further attributes of this process in traces, `name=value` separated by commas.', {
    expected: 'name=value, with %2C and %25 for a comma and a % in a value',
    takes: (pair) => isPair(pair, /^/),
  }),
  INVALID_LEVEL: choice(
    'Whether an application log with an unrecognised level is refused or gets the level Information.',
    ['reject', 'information'],
    'reject',
  ),
  OTLP_RESOURCE_ATTRIBUTES: list(
    'Resource attributes of OpenTelemetry that are kept in scopeData beside the usual ones, separated by commas; `cloud.*` for all with this prefix.',
    {
      expected: 'names of attributes such as cloud.region, or cloud.* for all with this prefix',
      takes: (name) => /^[^\s*]{1,255}(?:\.\*)?$/.test(name),
    },
  ),
  MAX_BATCH_ENTRIES: integer('Most entries of one batch request.', { default: 100, minimum: 1, maximum: 10_000 }),
  MAX_BODY_BYTES: integer('Most bytes of a request body as sent.', {
    default: 5 * MEBIBYTE,
    minimum: 1_024,
    maximum: 100 * MEBIBYTE,
  }),
  MAX_INFLATED_BYTES: integer('Most bytes of a request body after decompression; at least MAX_BODY_BYTES.', {
    default: 20 * MEBIBYTE,
    minimum: 1_024,
    maximum: 400 * MEBIBYTE,
  }),
  BODY_BUFFER_BYTES: integer(
    'Most bytes of all request bodies that are being read and inflated; beyond, requests are refused at once. At least MAX_BODY_BYTES and MAX_INFLATED_BYTES together.',
    { default: 64 * MEBIBYTE, minimum: MEBIBYTE, maximum: 4 * GIBIBYTE },
  ),
  MAX_ENTRY_BYTES: integer("Most bytes of one entry, measured as its record's value.", {
    default: 1_000_000,
    minimum: 1_024,
    maximum: 10_000_000,
  }),
  QUOTA_ENTRIES_PER_SECOND: integer(
    'Most entries of a Team in a second, over all gateways; unset: no limit. The `limits` of a Team in the registry take precedence.',
    { default: null, minimum: 0, maximum: 1_000_000_000 },
  ),
  QUOTA_BYTES_PER_SECOND: integer(
    'Most bytes in the bodies of a Team in a second, after decompression, over all gateways; unset: no limit. `limits` take precedence.',
    { default: null, minimum: 0, maximum: 1_000_000_000_000 },
  ),
  QUOTA_BURST_SECONDS: integer(
    'Size of a burst: a Team that was silent may send its quota of this many seconds at once. `limits` take precedence.',
    { default: 10, minimum: 1, maximum: 3_600 },
  ),
  QUOTA_MODE: choice(
    'Whether requests beyond a quota are refused, or only counted (shadow). `limits` take precedence.',
    ['enforced', 'shadow'],
    'enforced',
  ),
  HOT_KEY_ENTRIES_PER_SECOND: integer(
    'Most entries of one correlationKey that a gateway sends to its partition in a second; further ones go to any partition, and their order is lost.',
    { default: 1_000, minimum: 1, maximum: 1_000_000 },
  ),
  REQUEST_DEADLINE_MS: integer('Longest time an ingestion request waits for the journal.', {
    default: 10_000,
    minimum: 100,
    maximum: 120_000,
  }),
  BODY_TIMEOUT_MS: integer('Longest time from the headers of a request to the end of its body.', {
    default: 15_000,
    minimum: 100,
    maximum: 600_000,
  }),
  REQUEST_TIMEOUT_MS: integer(
    'Longest time from the first byte of a request to the last one of its body, on every path; at least 1,000 more than BODY_TIMEOUT_MS.',
    { default: 30_000, minimum: 1_100, maximum: 1_200_000 },
  ),
  IDLE_TIMEOUT_MS: integer(
    'How long a connection without a request is kept; longer than a load balancer keeps it, so that the balancer and not the server closes it.',
    { default: 75_000, minimum: 1_000, maximum: 3_600_000 },
  ),
  MAX_CONNECTIONS: integer(
    'Most connections at a time; beyond, new ones take the place of those without a request, or are closed at once. From nine tenths on, idle ones are closed to make room.',
    { default: 2_000, minimum: 10, maximum: 1_000_000 },
  ),
  TRUSTED_PROXIES: list(
    'Addresses and networks (10.0.0.0/8, fd00::/8) of the proxies whose X-Forwarded-For, -Proto and -Host are believed, separated by commas; unset: none is.',
    NETWORKS,
  ),
  PUBLISH_BUFFER_BYTES: integer(
    'Most bytes of entries that wait for the journal to confirm them; beyond, requests are refused at once. At least MAX_INFLATED_BYTES.',
    { default: 64 * MEBIBYTE, minimum: MEBIBYTE, maximum: 4 * GIBIBYTE },
  ),
  READ_BUFFER_BYTES: integer(
    'Most bytes that all reads hold while rows come out of the store and until their readers have taken them; beyond, reads wait.',
    { default: 64 * MEBIBYTE, minimum: 8 * MEBIBYTE, maximum: 4 * GIBIBYTE },
  ),
  READ_DEADLINE_MS: integer(
    'Longest time of a read; then the store cancels it, and the answer says how to narrow it.',
    { default: 10_000, minimum: 100, maximum: 120_000 },
  ),
  DRAIN_TIMEOUT_MS: integer('Longest time from SIGTERM to exit.', { default: 10_000, minimum: 100, maximum: 120_000 }),
  RETENTION_DAYS: integer('Days for which entries are kept for the views.', {
    default: 30,
    minimum: 1,
    maximum: 3_650,
  }),
  RETENTION_BYTES: integer(
    'Embedded mode: most bytes of the log store; beyond, the oldest days go first. Unset: no limit.',
    { default: null, minimum: 10 * MEBIBYTE, maximum: Number.MAX_SAFE_INTEGER },
  ),
  JOURNAL_RETENTION_BYTES: integer(
    'Embedded mode: most bytes of a topic; beyond, records that every projection has read go first.',
    { default: 2 * GIBIBYTE, minimum: 10 * MEBIBYTE, maximum: Number.MAX_SAFE_INTEGER },
  ),
  VIEWS: list(
    'Projections that this process keeps up to date, separated by commas; every projection needs a process.',
    { expected: `one or more of ${VIEWS}`, takes: (view) => VIEWS.split(',').includes(view) },
    VIEWS,
  ),
  DEAD_LETTER_RUN_MAX: integer('Most bad records in a row in one partition; one more halts the projection.', {
    default: 100,
    minimum: 1,
    maximum: 1_000_000_000,
  }),
  DEAD_LETTER_PERCENT_MAX: integer(
    "Greatest percentage of bad records among a partition's last 1,000; above it the projection halts.",
    { default: 50, minimum: 1, maximum: 100 },
  ),
  CORS_ORIGINS: list('Origins of browser apps that may send logs, separated by commas; `*` for all.', {
    expected: '* or origins such as https://app.example or http://localhost:5000',
    takes: isOrigin,
  }),
  CANARY_API_KEY: secret(
    text('Key of the Team of `sluice canary`.', null, {
      // Errors of fetch quote headers that it cannot send. It leaves out white space around them.
      expected: 'one key: 1 to 256 visible ASCII characters',
      takes: (key) => /^[!-~]{1,256}$/.test(key.trim()),
    }),
  ),
  CANARY_INTERVAL_MS: integer('Time between two rounds of `sluice canary`.', {
    default: 30_000,
    minimum: 1_000,
    maximum: 120_000,
  }),
  CANARY_DEADLINE_MS: integer(
    'Longest time that `sluice canary` gives the gateway to accept an entry, and then each projection to show it.',
    { default: 15_000, minimum: 100, maximum: 120_000 },
  ),
  PAGE_URL: url(
    'Address of the page, with its base path, for the links in messages of watches; unset: they have none.',
  ),
  WEBHOOK_ALLOWED_NETWORKS: list(
    'Networks of private addresses (10.1.2.3, 10.0.0.0/8, fd00::/8) that webhooks may be posted to, also by http, separated by commas; unset: only to public addresses, by https. Give the roles views and watches the same value.',
    NETWORKS,
  ),
  WATCH_INTERVAL_MS: integer('Time from one evaluation of a watch to the next.', {
    default: 30_000,
    minimum: 1_000,
    maximum: 3_600_000,
  }),
  SESSION_SECRET: secret(
    list(
      "Signs the page's session cookie; 32 characters or more, the same in every process with the role views, and in the gateways that take its sample flows. During a change it holds both secrets, separated by a comma: the first one signs, and signatures of either are accepted. Unset: the embedded mode creates one and keeps it in DATA_DIR; other processes create one at start, and sessions end with the process.",
      { expected: 'secrets of 32 characters or more', takes: (secret) => secret.length >= 32 },
    ),
  ),
} satisfies Record<string, Setting>

export type SettingName = keyof typeof SETTINGS

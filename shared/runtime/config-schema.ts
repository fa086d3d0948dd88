import { networkOf } from './networks.ts'

/** One setting. Its name is the environment variable; `*_BYTES`, `*_MS`, `*_DAYS` carry their unit in the name. */
export type Setting = TextSetting | NumberSetting | ChoiceSetting | FlagSetting

interface SettingBase {
  readonly help: string
  /** Never printed or logged; may also be given as `<NAME>_FILE`, the path of a file that holds it. */
  readonly secret?: true
  readonly form?: Form
}
/** The texts that a setting takes beyond its type; of a list, the items. */
interface Form {
  /** Completes "must be". */
  readonly expected: string
  readonly takes: (text: string) => boolean
}
interface TextSetting extends SettingBase {
  readonly type: 'text' | 'url' | 'list'
  readonly default: string | null
}
interface NumberSetting extends SettingBase {
  readonly type: 'integer'
  readonly default: number | null
  readonly minimum: number
  readonly maximum: number
}
interface ChoiceSetting extends SettingBase {
  readonly type: 'choice'
  readonly choices: readonly string[]
  readonly default: string
}
interface FlagSetting extends SettingBase {
  readonly type: 'flag'
  readonly default: boolean
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

/** Every setting of Sluice. `sluice config print` and the table of docs/operations.md come from here. */
export const SETTINGS = {
  HOST: { type: 'text', default: '127.0.0.1', help: 'Address to listen on; 0.0.0.0 for every interface.' },
  PORT: { type: 'integer', default: 8080, minimum: 0, maximum: 65_535, help: 'Port to listen on; 0 takes a free one.' },
  METRICS_PORT: {
    type: 'integer',
    default: null,
    minimum: 0,
    maximum: 65_535,
    help: 'Separate port for /metrics, other than PORT; 0 takes a free one; unset: /metrics is on the main port.',
  },
  OTLP_GRPC_PORT: {
    type: 'integer',
    default: null,
    minimum: 0,
    maximum: 65_535,
    help: 'Port for OTLP over gRPC, usually 4317, other than PORT and METRICS_PORT; 0 takes a free one; unset: there is none.',
  },
  BASE_PATH: {
    type: 'text',
    default: '/',
    help: 'Path prefix of every route, where a proxy serves Sluice below one.',
    form: {
      // Neither a URL nor a route gives these characters a meaning of its own; slashes at the end are removed.
      expected:
        'a path that begins with a slash and has only A-Z a-z 0-9 . _ ~ - between slashes, but not . or .. alone',
      takes: (path) => /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/*$/.test(path),
    },
  },
  GATEWAY_URL: {
    type: 'url',
    default: null,
    help: 'Address at which clients reach the gateway, with its base path, for the snippets on the page; unset: the address of the page, if it takes logs.',
  },
  GATEWAY_INTERNAL_URL: {
    type: 'url',
    default: null,
    help: 'Address of the gateway for sample flows, which processes with the role views send, and for `sluice canary`; unset: GATEWAY_URL.',
  },
  VIEWS_URL: {
    type: 'url',
    default: null,
    help: 'Address at which `sluice canary` reaches the views, with its base path; unset: that of the gateway.',
  },
  DATA_DIR: { type: 'text', default: './data', help: 'Folder of the embedded journal and log store.' },
  REGISTRY_FILE: {
    type: 'text',
    default: null,
    help: 'YAML file of Teams, Events, Steps and Projects, applied at start.',
  },
  KAFKA_BROKERS: {
    type: 'list',
    default: null,
    help: 'Kafka brokers, `host:port` separated by commas; unset: the journal is embedded (SQLite).',
    form: { expected: 'host:port or [IPv6]:port', takes: isBroker },
  },
  KAFKA_CLIENT_ID: { type: 'text', default: 'sluice', help: "Names this process in the brokers' logs and quotas." },
  KAFKA_COMPRESSION: {
    type: 'choice',
    choices: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
    default: 'gzip',
    help: 'How records are compressed on the topics. Subscribers must be able to read it; every client library reads gzip.',
  },
  KAFKA_GROUP_PROTOCOL: {
    type: 'choice',
    choices: ['auto', 'classic'],
    default: 'auto',
    help: 'How consumers join their groups. `auto`: by the consumer protocol (KIP-848), which stops only the partitions that move, where the brokers have it (Kafka 4.0); otherwise by the classic one.',
  },
  KAFKA_SSL: { type: 'flag', default: false, help: 'Encrypt the connections to Kafka.' },
  KAFKA_SSL_CA_FILE: {
    type: 'text',
    default: null,
    help: "PEM file of the authorities that signed the brokers' certificates; unset: those that Node trusts.",
  },
  KAFKA_SSL_CERT_FILE: {
    type: 'text',
    default: null,
    help: 'PEM file of the client certificate, for mutual TLS; together with KAFKA_SSL_KEY_FILE.',
  },
  KAFKA_SSL_KEY_FILE: { type: 'text', default: null, help: 'PEM file of the key of the client certificate.' },
  KAFKA_SASL_MECHANISM: {
    type: 'choice',
    choices: ['none', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'],
    default: 'none',
    help: 'How to log in to Kafka, with KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD. PLAIN sends the password as it is: use it with KAFKA_SSL only.',
  },
  KAFKA_SASL_USERNAME: { type: 'text', default: null, help: 'User name for KAFKA_SASL_MECHANISM.' },
  KAFKA_SASL_PASSWORD: { type: 'text', secret: true, default: null, help: 'Password for KAFKA_SASL_MECHANISM.' },
  ELASTICSEARCH_URL: {
    type: 'url',
    default: null,
    help: 'Address of Elasticsearch, or of its load balancer; unset: the log store is embedded (SQLite).',
  },
  ELASTICSEARCH_API_KEY: {
    type: 'text',
    secret: true,
    default: null,
    help: 'API key for Elasticsearch, in its encoded form; instead of a user name and password.',
  },
  ELASTICSEARCH_USERNAME: {
    type: 'text',
    default: null,
    help: 'User name for Elasticsearch, with ELASTICSEARCH_PASSWORD.',
  },
  ELASTICSEARCH_PASSWORD: { type: 'text', secret: true, default: null, help: 'Password for Elasticsearch.' },
  ELASTICSEARCH_CA_FILE: {
    type: 'text',
    default: null,
    help: "PEM file of the authority that signed Elasticsearch's certificate; unset: those that Node trusts.",
  },
  ELASTICSEARCH_REPLICAS: {
    type: 'integer',
    default: 1,
    minimum: 0,
    maximum: 10,
    help: 'Copies of every index in addition to the first; 0 on a single node, which has no place for them.',
  },
  ELASTICSEARCH_SHARDS: {
    type: 'integer',
    default: 1,
    minimum: 1,
    maximum: 64,
    help: "Shards of a day's index; one for about every 50 GB that a day brings.",
  },
  ELASTICSEARCH_FLOWS_SHARDS: {
    type: 'integer',
    default: 1,
    minimum: 1,
    maximum: 1_024,
    help: 'Shards of the index of flows, from its next rebuild on; one for about every 50 GB of it, and at least one for every billion flows.',
  },
  TOPIC_PREFIX: {
    type: 'text',
    default: 'sluice',
    help: 'First part of every topic name.',
    form: {
      // Kafka allows these characters in a topic's name, at most 249.
      expected: '1 to 100 of A-Z a-z 0-9 . _ - that begin with a letter or digit',
      takes: (prefix) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(prefix),
    },
  },
  INDEX_PREFIX: {
    type: 'text',
    default: 'sluice',
    help: 'First part of every index name.',
    form: {
      // Elasticsearch allows no capitals in an index's name.
      expected: '1 to 100 of a-z 0-9 . _ - that begin with a letter or digit',
      takes: (prefix) => /^[a-z0-9][a-z0-9._-]{0,99}$/.test(prefix),
    },
  },
  UNSAFE_TOPICS: {
    type: 'choice',
    choices: ['refuse', 'allow'],
    default: 'refuse',
    help: 'Whether a gateway starts on topics whose settings could lose accepted entries.',
  },
  AUTO_CREATE: { type: 'flag', default: true, help: 'Whether missing topics and indices are created at start.' },
  LOG_LEVEL: {
    type: 'choice',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    help: "The lowest level of the program's own log lines.",
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    type: 'url',
    default: null,
    help: 'Address to which traces of Sluice itself are sent by OTLP/HTTP (Protobuf), without `/v1/traces`; unset: nothing is traced.',
    form: {
      expected: 'an address without credentials (use OTEL_EXPORTER_OTLP_HEADERS)',
      takes: (url) => !hasCredentials(url),
    },
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    type: 'list',
    secret: true,
    default: null,
    help: 'Headers of these requests, `name=value` separated by commas.',
    form: {
      expected: 'name=value in ASCII, with %2C for a comma in a value',
      takes: (pair) => isPair(pair, /^[\t -~]+$/),
    },
  },
  OTEL_TRACES_SAMPLER_ARG: {
    type: 'text',
    default: '0.01',
    help: 'Greatest share of requests that are traced, from 0 (nothing is traced) to 1.',
    form: {
      expected: 'a number from 0 to 1 such as 0.01',
      takes: (ratio) => /^(0(\.\d+)?|1(\.0+)?)$/.test(ratio),
    },
  },
  OTEL_SERVICE_NAME: { type: 'text', default: 'sluice', help: 'Names this process in traces.' },
  OTEL_RESOURCE_ATTRIBUTES: {
    type: 'list',
    default: null,
    help: 'Further attributes of this process in traces, `name=value` separated by commas.',
    form: {
      expected: 'name=value, with %2C and %25 for a comma and a % in a value',
      takes: (pair) => isPair(pair, /^/),
    },
  },
  INVALID_LEVEL: {
    type: 'choice',
    choices: ['reject', 'information'],
    default: 'reject',
    help: 'Whether an application log with an unrecognised level is refused or gets the level Information.',
  },
  OTLP_RESOURCE_ATTRIBUTES: {
    type: 'list',
    default: null,
    help: 'Resource attributes of OpenTelemetry that are kept in scopeData beside the usual ones, separated by commas; `cloud.*` for all with this prefix.',
    form: {
      expected: 'names of attributes such as cloud.region, or cloud.* for all with this prefix',
      takes: (name) => /^[^\s*]{1,255}(?:\.\*)?$/.test(name),
    },
  },
  MAX_BATCH_ENTRIES: {
    type: 'integer',
    default: 100,
    minimum: 1,
    maximum: 10_000,
    help: 'Most entries of one batch request.',
  },
  MAX_BODY_BYTES: {
    type: 'integer',
    default: 5 * MEBIBYTE,
    minimum: 1_024,
    maximum: 100 * MEBIBYTE,
    help: 'Most bytes of a request body as sent.',
  },
  MAX_INFLATED_BYTES: {
    type: 'integer',
    default: 20 * MEBIBYTE,
    minimum: 1_024,
    maximum: 400 * MEBIBYTE,
    help: 'Most bytes of a request body after decompression; at least MAX_BODY_BYTES.',
  },
  BODY_BUFFER_BYTES: {
    type: 'integer',
    default: 64 * MEBIBYTE,
    minimum: MEBIBYTE,
    maximum: 4 * GIBIBYTE,
    help: 'Most bytes of all request bodies that are being read and inflated; beyond, requests are refused at once. At least MAX_BODY_BYTES and MAX_INFLATED_BYTES together.',
  },
  MAX_ENTRY_BYTES: {
    type: 'integer',
    default: 1_000_000,
    minimum: 1_024,
    maximum: 10_000_000,
    help: "Most bytes of one entry, measured as its record's value.",
  },
  QUOTA_ENTRIES_PER_SECOND: {
    type: 'integer',
    default: null,
    minimum: 0,
    maximum: 1_000_000_000,
    help: 'Most entries of a Team in a second, over all gateways; unset: no limit. The `limits` of a Team in the registry take precedence.',
  },
  QUOTA_BYTES_PER_SECOND: {
    type: 'integer',
    default: null,
    minimum: 0,
    maximum: 1_000_000_000_000,
    help: 'Most bytes in the bodies of a Team in a second, after decompression, over all gateways; unset: no limit. `limits` take precedence.',
  },
  QUOTA_BURST_SECONDS: {
    type: 'integer',
    default: 10,
    minimum: 1,
    maximum: 3_600,
    help: 'Size of a burst: a Team that was silent may send its quota of this many seconds at once. `limits` take precedence.',
  },
  QUOTA_MODE: {
    type: 'choice',
    choices: ['enforced', 'shadow'],
    default: 'enforced',
    help: 'Whether requests beyond a quota are refused, or only counted (shadow). `limits` take precedence.',
  },
  HOT_KEY_ENTRIES_PER_SECOND: {
    type: 'integer',
    default: 1_000,
    minimum: 1,
    maximum: 1_000_000,
    help: 'Most entries of one correlationKey that a gateway sends to its partition in a second; further ones go to any partition, and their order is lost.',
  },
  REQUEST_DEADLINE_MS: {
    type: 'integer',
    default: 10_000,
    minimum: 100,
    maximum: 120_000,
    help: 'Longest time an ingestion request waits for the journal.',
  },
  BODY_TIMEOUT_MS: {
    type: 'integer',
    default: 15_000,
    minimum: 100,
    maximum: 600_000,
    help: 'Longest time from the headers of a request to the end of its body.',
  },
  REQUEST_TIMEOUT_MS: {
    type: 'integer',
    default: 30_000,
    minimum: 1_100,
    maximum: 1_200_000,
    help: 'Longest time from the first byte of a request to the last one of its body, on every path; at least 1,000 more than BODY_TIMEOUT_MS.',
  },
  IDLE_TIMEOUT_MS: {
    type: 'integer',
    default: 75_000,
    minimum: 1_000,
    maximum: 3_600_000,
    help: 'How long a connection without a request is kept; longer than a load balancer keeps it, so that the balancer and not the server closes it.',
  },
  MAX_CONNECTIONS: {
    type: 'integer',
    default: 2_000,
    minimum: 10,
    maximum: 1_000_000,
    help: 'Most connections at a time; beyond, new ones take the place of those without a request, or are closed at once. From nine tenths on, idle ones are closed to make room.',
  },
  TRUSTED_PROXIES: {
    type: 'list',
    default: null,
    help: 'Addresses and networks (10.0.0.0/8, fd00::/8) of the proxies whose X-Forwarded-For, -Proto and -Host are believed, separated by commas; unset: none is.',
    form: NETWORKS,
  },
  PUBLISH_BUFFER_BYTES: {
    type: 'integer',
    default: 64 * MEBIBYTE,
    minimum: MEBIBYTE,
    maximum: 4 * GIBIBYTE,
    help: 'Most bytes of entries that wait for the journal to confirm them; beyond, requests are refused at once. At least MAX_INFLATED_BYTES.',
  },
  READ_BUFFER_BYTES: {
    type: 'integer',
    default: 64 * MEBIBYTE,
    minimum: 8 * MEBIBYTE,
    maximum: 4 * GIBIBYTE,
    help: 'Most bytes that all reads hold while rows come out of the store and until their readers have taken them; beyond, reads wait.',
  },
  READ_DEADLINE_MS: {
    type: 'integer',
    default: 10_000,
    minimum: 100,
    maximum: 120_000,
    help: 'Longest time of a read; then the store cancels it, and the answer says how to narrow it.',
  },
  DRAIN_TIMEOUT_MS: {
    type: 'integer',
    default: 10_000,
    minimum: 100,
    maximum: 120_000,
    help: 'Longest time from SIGTERM to exit.',
  },
  RETENTION_DAYS: {
    type: 'integer',
    default: 30,
    minimum: 1,
    maximum: 3_650,
    help: 'Days for which entries are kept for the views.',
  },
  RETENTION_BYTES: {
    type: 'integer',
    default: null,
    minimum: 10 * MEBIBYTE,
    maximum: Number.MAX_SAFE_INTEGER,
    help: 'Embedded mode: most bytes of the log store; beyond, the oldest days go first. Unset: no limit.',
  },
  JOURNAL_RETENTION_BYTES: {
    type: 'integer',
    default: 2 * GIBIBYTE,
    minimum: 10 * MEBIBYTE,
    maximum: Number.MAX_SAFE_INTEGER,
    help: 'Embedded mode: most bytes of a topic; beyond, records that every projection has read go first.',
  },
  VIEWS: {
    type: 'list',
    default: VIEWS,
    help: 'Projections that this process keeps up to date, separated by commas; every projection needs a process.',
    form: { expected: `one or more of ${VIEWS}`, takes: (view) => VIEWS.split(',').includes(view) },
  },
  DEAD_LETTER_RUN_MAX: {
    type: 'integer',
    default: 100,
    minimum: 1,
    maximum: 1_000_000_000,
    help: 'Most bad records in a row in one partition; one more halts the projection.',
  },
  DEAD_LETTER_PERCENT_MAX: {
    type: 'integer',
    default: 50,
    minimum: 1,
    maximum: 100,
    help: "Greatest percentage of bad records among a partition's last 1,000; above it the projection halts.",
  },
  CORS_ORIGINS: {
    type: 'list',
    default: null,
    help: 'Origins of browser apps that may send logs, separated by commas; `*` for all.',
    form: { expected: '* or origins such as https://app.example or http://localhost:5000', takes: isOrigin },
  },
  CANARY_API_KEY: {
    type: 'text',
    secret: true,
    default: null,
    help: 'Key of the Team of `sluice canary`.',
    form: {
      // Errors of fetch quote headers that it cannot send. It leaves out white space around them.
      expected: 'one key: 1 to 256 visible ASCII characters',
      takes: (key) => /^[!-~]{1,256}$/.test(key.trim()),
    },
  },
  CANARY_INTERVAL_MS: {
    type: 'integer',
    default: 30_000,
    minimum: 1_000,
    maximum: 120_000,
    help: 'Time between two rounds of `sluice canary`.',
  },
  CANARY_DEADLINE_MS: {
    type: 'integer',
    default: 15_000,
    minimum: 100,
    maximum: 120_000,
    help: 'Longest time that `sluice canary` gives the gateway to accept an entry, and then each projection to show it.',
  },
  PAGE_URL: {
    type: 'url',
    default: null,
    help: 'Address of the page, with its base path, for the links in messages of watches; unset: they have none.',
  },
  WEBHOOK_ALLOWED_NETWORKS: {
    type: 'list',
    default: null,
    help: 'Networks of private addresses (10.1.2.3, 10.0.0.0/8, fd00::/8) that webhooks may be posted to, also by http, separated by commas; unset: only to public addresses, by https. Give the roles views and watches the same value.',
    form: NETWORKS,
  },
  WATCH_INTERVAL_MS: {
    type: 'integer',
    default: 30_000,
    minimum: 1_000,
    maximum: 3_600_000,
    help: 'Time from one evaluation of a watch to the next.',
  },
  SESSION_SECRET: {
    type: 'list',
    secret: true,
    default: null,
    help: "Signs the page's session cookie; 32 characters or more, the same in every process with the role views, and in the gateways that take its sample flows. During a change it holds both secrets, separated by a comma: the first one signs, and signatures of either are accepted. Unset: the embedded mode creates one and keeps it in DATA_DIR; other processes create one at start, and sessions end with the process.",
    form: { expected: 'secrets of 32 characters or more', takes: (secret) => secret.length >= 32 },
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof SETTINGS

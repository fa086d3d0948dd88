import { DRAFT } from '../../shared/contract/json-schema.ts'
import { SETTINGS, type Setting, type SettingName } from '../../shared/runtime/config-schema.ts'

/** The settings that the chart itself gives each process. */
const OF_CHART: ReadonlySet<string> = new Set<SettingName>([
  'HOST',
  'PORT',
  'METRICS_PORT',
  'OTLP_GRPC_PORT',
  'GATEWAY_INTERNAL_URL',
  'VIEWS_URL',
  'DATA_DIR',
  'REGISTRY_FILE',
  'AUTO_CREATE',
  'VIEWS',
])

const settings = Object.entries<Setting>(SETTINGS).filter(([name]) => !OF_CHART.has(name))

const object = (properties: object, required: readonly string[] = Object.keys(properties)): object => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required.length === 0 ? {} : { required }),
})
const described = (description: string, schema: object): object => ({ description, ...schema })

const TEXT = { type: 'string', minLength: 1 }
const FLAG = { type: 'boolean' }
const COUNT = { type: 'integer', minimum: 1, maximum: 1_000 }
const PORTS = { type: 'array', items: { type: 'integer', minimum: 1, maximum: 65_535 }, minItems: 1 }
/** Kubernetes objects, for which Kubernetes has schemas of its own. */
const FOREIGN = { type: 'object' }
const PEERS = { type: 'array', items: FOREIGN }
const RESOURCES = object({ requests: FOREIGN, limits: FOREIGN }, [])
const DESTINATIONS = object({ ports: PORTS, to: described('Empty: anywhere.', PEERS) })
const SECRET_KEY = object({ name: TEXT, key: TEXT })
const MAP_OF_TEXT = { type: 'object', additionalProperties: { type: 'string' } }

function settingOf({ help, ...setting }: Setting): object {
  switch (setting.type) {
    case 'integer':
      return { description: help, type: 'integer', minimum: setting.minimum, maximum: setting.maximum }
    case 'flag':
      return { description: help, type: 'boolean' }
    case 'choice':
      return { description: help, enum: setting.choices }
    case 'url':
      return { description: help, type: 'string', pattern: '^https?://' }
    case 'list':
    case 'text':
      return { description: help, ...TEXT }
  }
}

const VALUES = {
  mode: described('roles: a Deployment for each role, on Kafka and Elasticsearch; embedded: one process on SQLite.', {
    enum: ['roles', 'embedded'],
  }),
  image: object({
    repository: TEXT,
    tag: described('Empty: the version of the chart.', { type: 'string' }),
    pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
    pullSecrets: { type: 'array', items: object({ name: TEXT }) },
  }),
  settings: described(
    'Settings of docs/operations.md, by name. Lists are texts, separated by commas.',
    object(
      Object.fromEntries(settings.filter(([, { secret }]) => !secret).map(([name, each]) => [name, settingOf(each)])),
      [],
    ),
  ),
  secretSettings: described(
    'Settings that are secret, each with the Secret and the key in it.',
    object(
      Object.fromEntries(
        settings
          .filter(([, { secret }]) => secret)
          .map(([name, { help }]) => [name, { description: help, ...SECRET_KEY }]),
      ),
      [],
    ),
  ),
  certificates: described(
    'A Secret whose keys are files under /etc/sluice/certificates, for the settings *_FILE; empty: none.',
    object({ secret: { type: 'string' } }),
  ),
  gateway: object({
    replicas: COUNT,
    resources: RESOURCES,
    otlpGrpc: described('Whether gateways take OTLP over gRPC on port 4317.', FLAG),
    preStopSeconds: described(
      'How long a gateway that is to end goes on taking requests, until no balancer sends it any.',
      {
        type: 'integer',
        minimum: 0,
        maximum: 300,
      },
    ),
    autoscaling: object({
      enabled: FLAG,
      minReplicas: COUNT,
      maxReplicas: COUNT,
      cpuPercent: { type: 'integer', minimum: 10, maximum: 100 },
    }),
  }),
  consumers: object({
    groups: described('A Deployment each. Together they have to keep every projection up to date.', {
      type: 'array',
      minItems: 1,
      items: object({
        name: { type: 'string', pattern: '^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$' },
        views: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: SETTINGS.VIEWS.default.split(',') } },
        replicas: COUNT,
      }),
    }),
    resources: RESOURCES,
  }),
  views: object({ replicas: COUNT, resources: RESOURCES }),
  watches: described(
    'One process evaluates watches; further ones wait to take its place.',
    object({ replicas: COUNT, resources: RESOURCES }),
  ),
  canary: described(
    'A Deployment of one pod that runs `sluice canary`.',
    object({ enabled: FLAG, resources: RESOURCES }),
  ),
  embedded: object({
    storage: object({ size: TEXT, className: described('Empty: the default one.', { type: 'string' }) }),
    resources: RESOURCES,
  }),
  jobs: object({
    topics: FLAG,
    indices: FLAG,
    registry: described(
      'A Secret with a registry file that is applied before each install and upgrade; an empty name: none.',
      object({ name: { type: 'string' }, key: TEXT }),
    ),
  }),
  ingress: object({
    enabled: FLAG,
    className: { type: 'string' },
    annotations: MAP_OF_TEXT,
    gatewayHost: { type: 'string' },
    viewsHost: { type: 'string' },
    tlsSecret: { type: 'string' },
  }),
  networkPolicy: object({
    enabled: FLAG,
    clients: described('Peers that may send logs and read them; empty: all.', PEERS),
    prometheus: described('Peers that may scrape; empty: all.', PEERS),
    kafka: DESTINATIONS,
    elasticsearch: DESTINATIONS,
    webhooks: described('Where watches post to.', DESTINATIONS),
    traces: described('Where traces are sent, with OTEL_EXPORTER_OTLP_ENDPOINT.', DESTINATIONS),
  }),
  podDisruptionBudget: object({ enabled: FLAG }),
  podMonitor: object({ enabled: FLAG, interval: TEXT, labels: MAP_OF_TEXT }),
  prometheusRule: object({
    enabled: FLAG,
    labels: MAP_OF_TEXT,
    runbooksUrl: { type: 'string', pattern: '^https?://.*/$' },
  }),
  dashboard: described(
    'A ConfigMap that the sidecar of Grafana finds by its label.',
    object({ enabled: FLAG, labels: MAP_OF_TEXT }),
  ),
  podAnnotations: MAP_OF_TEXT,
  nodeSelector: MAP_OF_TEXT,
  tolerations: PEERS,
} as const

/** Helm's own values, which every chart gets. */
const OF_HELM = { global: FOREIGN }

const having = (path: string, schema: object): object => ({ properties: { [path]: schema }, required: [path] })
const settingsWith = (...names: readonly string[]): object => having('settings', { required: names })

/** `values.schema.json`: closed, so that a misspelt value is refused; settings are as in the table of configuration. */
export const valuesSchema = (): string =>
  `${JSON.stringify(
    {
      $schema: DRAFT,
      title: 'Values of the chart of Sluice',
      ...object({ ...VALUES, ...OF_HELM }, Object.keys(VALUES)),
      allOf: [
        {
          if: having('mode', { const: 'roles' }),
          // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
          then: {
            allOf: [
              settingsWith('KAFKA_BROKERS', 'ELASTICSEARCH_URL'),
              having('secretSettings', { required: ['SESSION_SECRET'] }),
            ],
          },
          else: {
            allOf: ['KAFKA_BROKERS', 'ELASTICSEARCH_URL'].map((name) => ({ not: settingsWith(name) })),
          },
        },
        {
          if: having('canary', having('enabled', { const: true })),
          // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
          then: having('secretSettings', { required: ['CANARY_API_KEY'] }),
        },
        {
          if: having('settings', having('KAFKA_SASL_MECHANISM', { not: { const: 'none' } })),
          // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
          then: {
            allOf: [
              settingsWith('KAFKA_SASL_USERNAME'),
              having('secretSettings', { required: ['KAFKA_SASL_PASSWORD'] }),
            ],
          },
        },
      ],
    },
    null,
    2,
  )}\n`

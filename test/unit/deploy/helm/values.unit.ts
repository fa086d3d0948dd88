import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../../../shared/runtime/config.ts'
import { SETTINGS } from '../../../../shared/runtime/config-schema.ts'

const HELM = join(import.meta.dirname, '../../../../deploy/helm')
const read = (file: string): string => readFileSync(join(HELM, file), 'utf8')

type Values = { readonly [name: string]: unknown }

const DEFAULTS: Values = parse(read('sluice/values.yaml'))
const EXAMPLES = globSync('examples/*.yaml', { cwd: HELM })
const schema = JSON.parse(read('sluice/values.schema.json'))
const fits = new Ajv({ allErrors: true, strict: true, strictTypes: false, strictRequired: false }).compile(schema)

/** Values over the defaults, as Helm lays them. */
function merged(below: Values, above: Values): Values {
  const isMap = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const changed = Object.entries(above).map(([name, value]) => {
    const known = below[name]
    return [name, isMap(value) && isMap(known) ? merged(known, value) : value]
  })
  return { ...below, ...Object.fromEntries(changed) }
}

/** The places where values do not fit, and why. */
function faultsOf(values: Values): readonly string[] {
  fits(merged(DEFAULTS, values))
  return (fits.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

const ROLES: Values = {
  settings: { KAFKA_BROKERS: 'kafka:9092', ELASTICSEARCH_URL: 'http://elasticsearch:9200' },
  secretSettings: { SESSION_SECRET: { name: 'session', key: 'secret' } },
}

describe.each(EXAMPLES)('%s', (file) => {
  const values: Values = parse(read(file))

  test('fits the schema', () => {
    expect(faultsOf(values)).toEqual([])
  })

  test('has settings that the program takes', () => {
    const { settings = {}, secretSettings = {} } = values as Record<string, Record<string, unknown> | undefined>
    const environment = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
    const secrets = Object.fromEntries(Object.keys(secretSettings).map((name) => [name, 'x'.repeat(32)]))
    expect(() => loadConfig({ ...environment, ...secrets })).not.toThrow()
  })
})

describe('the schema of the values', () => {
  test('takes the least that each mode needs', () => {
    expect(faultsOf(ROLES)).toEqual([])
    expect(faultsOf({ mode: 'embedded' })).toEqual([])
  })

  test.each<[string, Values, string]>([
    ['a misspelt value', { gatway: {} }, 'gatway'],
    ['a misspelt setting', { settings: { KAFKA_BROKER: 'x:1' } }, 'KAFKA_BROKER'],
    ['a setting of the chart', { settings: { METRICS_PORT: 1 } }, 'METRICS_PORT'],
    ['a secret among the settings', { settings: { SESSION_SECRET: 'x' } }, 'SESSION_SECRET'],
    ['a number that is too large', { settings: { RETENTION_DAYS: 5_000 } }, '/settings/RETENTION_DAYS must be <= 3650'],
    ['a number as text', { settings: { RETENTION_DAYS: '14' } }, '/settings/RETENTION_DAYS must be integer'],
    ['a canary without a key', { canary: { enabled: true } }, 'CANARY_API_KEY'],
    ['SASL without a user', { settings: { KAFKA_SASL_MECHANISM: 'PLAIN' } }, 'KAFKA_SASL_USERNAME'],
    ['SASL without a password', { settings: { KAFKA_SASL_MECHANISM: 'PLAIN' } }, 'KAFKA_SASL_PASSWORD'],
    [
      'a projection that there is not',
      { consumers: { groups: [{ name: 'a', views: ['spans'], replicas: 1 }] } },
      'views',
    ],
    ['no gateway', { gateway: { replicas: 0 } }, '/gateway/replicas must be >= 1'],
  ])('refuses %s', (_, values, fault) => {
    expect(faultsOf(merged(ROLES, values)).join('\n')).toContain(fault)
  })

  test.each(['KAFKA_BROKERS', 'ELASTICSEARCH_URL', 'SESSION_SECRET'])('refuses roles without %s', (name) => {
    const without = JSON.parse(JSON.stringify(ROLES, (key, value) => (key === name ? undefined : value)))
    expect(faultsOf(without).join('\n')).toContain(name)
  })

  test('refuses Kafka in the embedded mode', () => {
    expect(faultsOf({ ...ROLES, mode: 'embedded' })).not.toEqual([])
  })

  test('has every setting, but those of the chart, and each once', () => {
    const { settings, secretSettings } = schema.properties
    const known = [...Object.keys(settings.properties), ...Object.keys(secretSettings.properties)]
    expect(new Set(known).size).toBe(known.length)
    const ofChart = Object.keys(SETTINGS).filter((name) => !known.includes(name))
    expect(ofChart.toSorted()).toEqual([
      'AUTO_CREATE',
      'DATA_DIR',
      'GATEWAY_INTERNAL_URL',
      'HOST',
      'METRICS_PORT',
      'OTLP_GRPC_PORT',
      'PORT',
      'REGISTRY_FILE',
      'VIEWS',
      'VIEWS_URL',
    ])
  })

  test('is closed', () => {
    const open: string[] = []
    const look = (part: unknown, path: string): void => {
      if (typeof part !== 'object' || part === null) return
      if ('properties' in part && 'type' in part && !('additionalProperties' in part)) open.push(path)
      for (const [name, inner] of Object.entries(part)) look(inner, `${path}/${name}`)
    }
    look(schema, '')
    expect(open).toEqual([])
  })
})

test('the chart has the version of the program', () => {
  const { version } = JSON.parse(readFileSync(join(HELM, '../../package.json'), 'utf8'))
  expect(parse(read('sluice/Chart.yaml'))).toMatchObject({ version, appVersion: version })
})

test('together the consumers of the defaults keep every projection up to date', () => {
  const { groups } = DEFAULTS['consumers'] as { groups: readonly { views: readonly string[] }[] }
  expect(groups.flatMap(({ views }) => views).join(',')).toBe(SETTINGS.VIEWS.default)
})

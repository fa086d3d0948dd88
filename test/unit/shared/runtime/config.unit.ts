import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PROJECTION_NAMES } from '../../../../consumers/projection.ts'
import { ConfigError, describeConfig, loadConfig, newestSecret } from '../../../../shared/runtime/config.ts'
import { pairsOf, SETTINGS, type Setting } from '../../../../shared/runtime/config-schema.ts'
import * as fc from '../../../support/fast-check.ts'

const SECRET = 'a-secret-of-more-than-32-characters!'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-config-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function fileWith(text: string): string {
  const path = join(folder, 'secret')
  writeFileSync(path, text)
  return path
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('settings come from the environment', () => {
  test('an empty environment gives every default', () => {
    const config = loadConfig({})
    expect(config).toMatchObject({ HOST: '127.0.0.1', PORT: 8080, DATA_DIR: './data', TOPIC_PREFIX: 'sluice' })
    expect(config).toMatchObject({ MAX_BATCH_ENTRIES: 100, MAX_BODY_BYTES: 5_242_880, MAX_ENTRY_BYTES: 1_000_000 })
    expect(config).toMatchObject({
      INVALID_LEVEL: 'reject',
      RETENTION_DAYS: 30,
      AUTO_CREATE: true,
      SESSION_SECRET: [],
    })
    expect(config.CORS_ORIGINS).toEqual([])
  })

  test('each kind of setting is read', () => {
    const config = loadConfig({
      HOST: '0.0.0.0',
      PORT: '0',
      MAX_BODY_BYTES: '1_000_000',
      AUTO_CREATE: 'false',
      INVALID_LEVEL: 'information',
      CORS_ORIGINS: ' https://a.example , https://b.example,',
    })
    expect(config).toMatchObject({ HOST: '0.0.0.0', PORT: 0, MAX_BODY_BYTES: 1_000_000, AUTO_CREATE: false })
    expect(config.INVALID_LEVEL).toBe('information')
    expect(config.CORS_ORIGINS).toEqual(['https://a.example', 'https://b.example'])
  })

  test('an empty variable counts as unset', () => {
    expect(loadConfig({ PORT: '', METRICS_PORT: '', SESSION_SECRET: '' })).toMatchObject({
      PORT: 8080,
      METRICS_PORT: null,
      SESSION_SECRET: [],
    })
  })

  test('the configuration cannot be changed afterwards', () => {
    expect(Object.isFrozen(loadConfig({}))).toBe(true)
  })

  test('every default lies within its own bounds', () => {
    for (const setting of Object.values<Setting>(SETTINGS)) {
      if (setting.type !== 'integer' || setting.default === null) continue
      expect(setting.default).toBeGreaterThanOrEqual(setting.minimum)
      expect(setting.default).toBeLessThanOrEqual(setting.maximum)
    }
  })
})

test.each([
  [undefined, '/'],
  ['/', '/'],
  ['//', '/'],
  ['/logs', '/logs'],
  ['/logs/', '/logs'],
  ['/a/b//', '/a/b'],
  ['/a.b/..c/~d_-', '/a.b/..c/~d_-'],
])('the base path %s is %s', (BASE_PATH, expected) => {
  expect(loadConfig({ BASE_PATH }).BASE_PATH).toBe(expected)
})

test.each(['/a b', '/ä', '/a%20b', '/a{b}', '/a*b', '/a:b', '/a(b', '/a?b', '//x', '/a//b', '/.', '/a/../b'])(
  'the base path %s is refused, as no request would reach it',
  (BASE_PATH) => {
    expect(problemsOf({ BASE_PATH })).toEqual([
      expect.stringMatching(/^BASE_PATH must be a path that begins with a slash and has only/),
    ])
  },
)

test('addresses of the gateway have no slash at their end', () => {
  const { GATEWAY_URL, GATEWAY_INTERNAL_URL } = loadConfig({ GATEWAY_URL: 'https://logs.example.com/a/' })
  expect([GATEWAY_URL, GATEWAY_INTERNAL_URL]).toEqual(['https://logs.example.com/a', null])
})

describe('what is wrong is refused, all of it at once', () => {
  test('every problem is listed', () => {
    const problems = problemsOf({
      PORT: 'http',
      MAX_BATCH_ENTRIES: '0',
      AUTO_CREATE: 'yes',
      INVALID_LEVEL: 'ignore',
      BASE_PATH: 'logs',
      SESSION_SECRET: 'short',
      SLUICE_PORT: '80',
    })
    expect(problems).toEqual([
      'PORT must be a whole number from 0 to 65535, got "http"',
      expect.stringMatching(/^BASE_PATH must be a path .*, got "logs"$/),
      'AUTO_CREATE must be true or false, got "yes"',
      'INVALID_LEVEL must be one of reject, information, got "ignore"',
      'MAX_BATCH_ENTRIES must be a whole number from 1 to 10000, got "0"',
      'SESSION_SECRET must be secrets of 32 characters or more, separated by commas',
      'SLUICE_PORT is not a setting, as settings have no SLUICE_ prefix; use PORT',
    ])
  })

  test('variables that Kubernetes makes of Services are none of ours', () => {
    const service = {
      SLUICE_GATEWAY_SERVICE_HOST: '10.0.0.1',
      SLUICE_GATEWAY_SERVICE_PORT_HTTP: '8080',
      SLUICE_GATEWAY_PORT_8080_TCP_ADDR: '10.0.0.1',
      SLUICE_PORT: 'tcp://10.0.0.1:8080',
    }
    expect(problemsOf(service)).toEqual([])
  })

  test('the error says how many there are and names each', () => {
    expect(() => loadConfig({ PORT: 'x', HOST: 'y', DRAIN_TIMEOUT_MS: '1' })).toThrow(
      /2 problems:\n {2}- PORT must .*\n {2}- DRAIN_TIMEOUT_MS must /,
    )
  })

  test('an unknown SLUICE_ name is an error', () => {
    expect(problemsOf({ SLUICE_COLOUR: 'blue' })).toEqual([
      'SLUICE_COLOUR is not a setting, as settings have no SLUICE_ prefix; see `sluice config print`',
    ])
  })

  test('other names of the environment are nobody’s business', () => {
    expect(problemsOf({ PATH: '/bin', MAX_BATCH: '5' })).toEqual([])
  })

  test.each(['1.5', '1e3', '0x10', ' 80', '80 ', '_80', '8__0', '٣', '-1', 'NaN', '99999999999999999999'])(
    'a whole number is not %j',
    (text) => {
      expect(problemsOf({ PORT: text })).toHaveLength(1)
    },
  )

  test('a number is taken within its bounds only', () => {
    const { minimum, maximum } = SETTINGS.MAX_ENTRY_BYTES
    fc.assert(
      fc.property(fc.integer({ min: -10, max: maximum * 2 }), (value) => {
        const fits = value >= minimum && value <= maximum
        expect(problemsOf({ MAX_ENTRY_BYTES: String(value) })).toHaveLength(fits ? 0 : 1)
      }),
    )
    expect(problemsOf({ MAX_ENTRY_BYTES: String(minimum) })).toEqual([])
    expect(problemsOf({ MAX_ENTRY_BYTES: String(maximum) })).toEqual([])
  })
})

describe('settings are checked against each other', () => {
  test('an inflated body is at least as large as one on the wire, and fits into the buffer', () => {
    expect(problemsOf({ MAX_INFLATED_BYTES: '5242879' })).toEqual([
      'MAX_INFLATED_BYTES (5242879) must be at least MAX_BODY_BYTES (5242880)',
    ])
    expect(problemsOf({ PUBLISH_BUFFER_BYTES: '1048576' })).toEqual([
      'PUBLISH_BUFFER_BYTES (1048576) must be at least MAX_INFLATED_BYTES (20971520)',
    ])
    expect(problemsOf({ BODY_BUFFER_BYTES: '26214399' })).toEqual([
      'BODY_BUFFER_BYTES (26214399) must be at least MAX_BODY_BYTES and MAX_INFLATED_BYTES together (26214400)',
    ])
  })

  test('the time of a request has room for its headers beside its body', () => {
    expect(problemsOf({ REQUEST_TIMEOUT_MS: '15999' })).toEqual([
      'REQUEST_TIMEOUT_MS (15999) must be at least 1,000 more than BODY_TIMEOUT_MS (15000)',
    ])
    expect(problemsOf({ BODY_TIMEOUT_MS: '600000' })).toHaveLength(1)
    expect(problemsOf({ BODY_TIMEOUT_MS: '600000', REQUEST_TIMEOUT_MS: '601000' })).toEqual([])
  })

  test('trusted proxies are addresses and networks', () => {
    expect(loadConfig({}).TRUSTED_PROXIES).toEqual([])
    expect(problemsOf({ TRUSTED_PROXIES: '10.0.0.7, 10.0.0.0/8, fd00::/8, ::1' })).toEqual([])
    expect(problemsOf({ TRUSTED_PROXIES: '10.0.0.0/8, proxy.example.com, 10.0.0.0/33' })).toEqual([
      'TRUSTED_PROXIES must be addresses or networks such as 10.0.0.7, 10.0.0.0/8 or fd00::/8, separated by commas, got "proxy.example.com", "10.0.0.0/33"',
    ])
  })

  test('resource attributes are names, or the beginning of names before a dot and a star', () => {
    expect(loadConfig({}).OTLP_RESOURCE_ATTRIBUTES).toEqual([])
    expect(problemsOf({ OTLP_RESOURCE_ATTRIBUTES: 'cloud.region, cloud.*, team, a.b.*' })).toEqual([])
    const wrong = ['*', '.*', 'cloud*', 'a.*.b', 'a b', `${'x'.repeat(256)}`]
    expect(problemsOf({ OTLP_RESOURCE_ATTRIBUTES: wrong.join(',') })).toEqual([
      expect.stringContaining(`got ${wrong.map((name) => JSON.stringify(name)).join(', ')}`),
    ])
  })

  test('traces have an address without credentials, a share and pairs, whose values no problem repeats', () => {
    const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG, OTEL_RESOURCE_ATTRIBUTES } = loadConfig({})
    expect([OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG, OTEL_RESOURCE_ATTRIBUTES]).toEqual([null, '0.01', []])
    const good = loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20a2V5==, x-scope = a',
      OTEL_TRACES_SAMPLER_ARG: '1.0',
    })
    expect(pairsOf(good.OTEL_EXPORTER_OTLP_HEADERS)).toEqual([
      ['authorization', 'Basic a2V5=='],
      ['x-scope', 'a'],
    ])
    for (const ratio of ['2', '-1', '1%', 'all']) expect(problemsOf({ OTEL_TRACES_SAMPLER_ARG: ratio })).toHaveLength(1)
    for (const pairs of ['hidden', '=hidden', 'a b=hidden', 'a=hidden%', 'a=hidden%0d%0a', 'a=hidden%c3%a9']) {
      const problems = problemsOf({ OTEL_EXPORTER_OTLP_HEADERS: pairs })
      expect(problems).toHaveLength(1)
      expect(problems[0]).not.toContain('hidden')
    }
    expect(problemsOf({ OTEL_RESOURCE_ATTRIBUTES: 'team=K%C3%B6ln,k8s.pod.name=a=b,empty=' })).toEqual([])
    for (const pairs of ['team=100%', 'team'])
      expect(problemsOf({ OTEL_RESOURCE_ATTRIBUTES: pairs })).toEqual([expect.stringContaining(`got "${pairs}"`)])
    for (const user of ['me:hidden', 'hidden', ':hidden']) {
      const [credentials] = problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://${user}@collector:4318` })
      expect(credentials).toContain('use OTEL_EXPORTER_OTLP_HEADERS')
      expect(credentials).not.toContain('hidden')
    }
  })

  test('origins of browser apps are written as browsers send them', () => {
    const taken = [
      '*',
      'null',
      'https://app.example',
      'http://localhost:5000',
      'http://[::1]:8080',
      'capacitor://localhost',
    ]
    const wrong = [
      'app.example',
      'localhost:5000',
      'https://app.example/',
      'https://app.example/a',
      'https://a.example:443',
    ]
    const all = [...wrong, 'https://App.example', 'https://*.app.example', 'https://']
    expect(problemsOf({ CORS_ORIGINS: taken.join() })).toEqual([])
    expect(problemsOf({ CORS_ORIGINS: [...taken, ...all].join() })).toEqual([
      `CORS_ORIGINS must be * or origins such as https://app.example or http://localhost:5000, separated by commas, got ${all.map((each) => `"${each}"`).join(', ')}`,
    ])
  })

  test.each(['KAFKA_BROKERS', 'TRUSTED_PROXIES'])('%s that lists nothing is no list', (name) => {
    expect(problemsOf({ [name]: ' , ' })).toEqual([
      `${name} must be one or more values, separated by commas, got " , "`,
    ])
  })

  test('a process keeps some views up to date, by default all that there are', () => {
    expect(loadConfig({}).VIEWS).toEqual(PROJECTION_NAMES)
    expect(loadConfig({ VIEWS: 'flows, event-logs' }).VIEWS).toEqual(['flows', 'event-logs'])
    expect(problemsOf({ VIEWS: 'flows,event_logs' })).toEqual([
      'VIEWS must be one or more of event-logs,application-logs,flows, separated by commas, got "event_logs"',
    ])
    expect(problemsOf({ VIEWS: ',' })).toHaveLength(1)
  })

  test('a setting that is wrong by itself is not judged by its default as well', () => {
    expect(problemsOf({ MAX_BODY_BYTES: 'many', MAX_INFLATED_BYTES: '2048' })).toHaveLength(1)
  })

  test.each<[Record<string, string>, string]>([
    [{ KAFKA_BROKERS: 'one:9092,two' }, 'host:port or [IPv6]:port, separated by commas, got "two"'],
    [{ KAFKA_BROKERS: 'one:65536' }, 'KAFKA_BROKERS must be host:port or [IPv6]:port, separated by commas'],
    [{ KAFKA_BROKERS: 'one:0' }, 'KAFKA_BROKERS must be host:port or [IPv6]:port, separated by commas'],
    [{ KAFKA_BROKERS: '::1:9092' }, 'KAFKA_BROKERS must be host:port or [IPv6]:port, separated by commas'],
    [{ KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'me' }, 'KAFKA_SASL_PASSWORD must be set together'],
    [{ KAFKA_SASL_USERNAME: 'me', KAFKA_SASL_PASSWORD: 'hunter2' }, 'KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and'],
    [{ KAFKA_SSL: 'true', KAFKA_SSL_KEY_FILE: 'key.pem' }, 'KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE must be set'],
    [{ KAFKA_SSL_CA_FILE: 'ca.pem' }, 'KAFKA_SSL must be true where'],
    [{ ELASTICSEARCH_USERNAME: 'me' }, 'ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD must be set together'],
    [
      { ELASTICSEARCH_API_KEY: 'k', ELASTICSEARCH_USERNAME: 'me', ELASTICSEARCH_PASSWORD: 'p' },
      'ELASTICSEARCH_API_KEY and ELASTICSEARCH_USERNAME are both set',
    ],
  ])('a login is whole or not there: %j', (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(problem)])
  })

  test('whole logins are taken', () => {
    expect(
      problemsOf({
        KAFKA_BROKERS: 'one:9092, [::1]:9093',
        KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
        KAFKA_SASL_USERNAME: 'me',
        KAFKA_SASL_PASSWORD: 'hunter2',
        KAFKA_SSL: 'true',
        KAFKA_SSL_CERT_FILE: 'cert.pem',
        KAFKA_SSL_KEY_FILE: 'key.pem',
        ELASTICSEARCH_URL: 'https://search:9200',
        ELASTICSEARCH_API_KEY: 'k',
      }),
    ).toEqual([])
  })

  test('the metrics port is another one than the main port', () => {
    expect(problemsOf({ METRICS_PORT: '8080' })).toHaveLength(1)
    expect(problemsOf({ PORT: '0', METRICS_PORT: '0', OTLP_GRPC_PORT: '0' })).toEqual([])
    expect(problemsOf({ OTLP_GRPC_PORT: '8080' })).toHaveLength(1)
    expect(problemsOf({ OTLP_GRPC_PORT: '4317', METRICS_PORT: '4317' })).toHaveLength(1)
  })

  test.each([
    ['TOPIC_PREFIX', 'my topic'],
    ['TOPIC_PREFIX', '-a'],
    ['TOPIC_PREFIX', 'a'.repeat(101)],
    ['INDEX_PREFIX', 'Sluice'],
    ['INDEX_PREFIX', '_logs'],
  ])('%s takes only what a server takes: not %j', (name, value) => {
    expect(problemsOf({ [name]: value })).toHaveLength(1)
  })
})

describe('secrets', () => {
  test('may be given as a file, whose last line break is not part of it', () => {
    expect(loadConfig({ SESSION_SECRET_FILE: fileWith(`${SECRET}\n`) }).SESSION_SECRET).toEqual([SECRET])
  })

  test('given as files are read again, and the value before stays while the file is unusable', () => {
    const [first, second] = [SECRET, SECRET.toUpperCase()]
    const file = fileWith(first)
    const told: string[] = []
    const config = loadConfig({ SESSION_SECRET_FILE: file })
    const newest = newestSecret(config, 'SESSION_SECRET', ({ message }) => told.push(message), 0)
    const reread = (text: string): readonly string[] => {
      writeFileSync(file, text)
      newest()
      return newest()
    }
    expect(reread(`${second},${first}\n`)).toEqual([second, first])
    expect(reread('short')).toEqual([second, first])
    expect(reread('')).toEqual([second, first])
    rmSync(file)
    expect(newest()).toEqual([second, first])
    expect(reread(second)).toEqual([second])
    expect(told).toEqual([
      'SESSION_SECRET must be secrets of 32 characters or more, separated by commas',
      expect.stringContaining('SESSION_SECRET_FILE names an empty file'),
      expect.stringContaining('SESSION_SECRET_FILE cannot be read'),
    ])
  })

  test('given as files are not read for every call', () => {
    const file = fileWith(SECRET)
    const newest = newestSecret(loadConfig({ SESSION_SECRET_FILE: file }), 'SESSION_SECRET', () => undefined)
    writeFileSync(file, 'x'.repeat(32))
    expect(newest()).toEqual([SECRET])
  })

  test('given as values stay', () => {
    const newest = newestSecret(loadConfig({ CANARY_API_KEY: 'key' }), 'CANARY_API_KEY', () => undefined, 0)
    expect([newest(), newest()]).toEqual(['key', 'key'])
  })

  test('are given once', () => {
    expect(problemsOf({ SESSION_SECRET: SECRET, SESSION_SECRET_FILE: fileWith(SECRET) })).toEqual([
      'SESSION_SECRET and SESSION_SECRET_FILE are both set; keep one',
    ])
    expect(problemsOf({ SESSION_SECRET: '', SESSION_SECRET_FILE: fileWith(SECRET) })).toEqual([])
  })

  test('a file that is not there or empty is a problem, not a missing secret', () => {
    expect(problemsOf({ SESSION_SECRET_FILE: join(folder, 'absent') })).toEqual([
      expect.stringMatching(/^SESSION_SECRET_FILE cannot be read: ENOENT/),
    ])
    expect(problemsOf({ SESSION_SECRET_FILE: fileWith('\n') })).toEqual([
      expect.stringMatching(/^SESSION_SECRET_FILE names an empty file/),
    ])
  })

  test('are never shown, neither as a value nor in a problem', () => {
    const shown = describeConfig(loadConfig({ SESSION_SECRET: SECRET }))
    expect(shown.find(({ name }) => name === 'SESSION_SECRET')?.value).toBe('[redacted]')
    expect(JSON.stringify(shown)).not.toContain(SECRET)
    expect(problemsOf({ SESSION_SECRET: 'hunter2' }).join()).not.toContain('hunter2')
  })

  test('credentials in a URL are masked, also where it is none', () => {
    const urlOf = (text: string) =>
      describeConfig(loadConfig({ ELASTICSEARCH_URL: text })).find(({ name }) => name === 'ELASTICSEARCH_URL')?.value
    expect(urlOf('https://me:hunter2@search:9200/x')).toBe('https://[redacted]@search:9200/x')
    expect(urlOf('https://search:9200')).toBe('https://search:9200')
    for (const text of ['me:hunter2@search:9200', 'https://me:hunt/er2@search', 'ftp://me:hunter2@search']) {
      const [problem] = problemsOf({ ELASTICSEARCH_URL: text })
      expect(problem).toMatch(/^ELASTICSEARCH_URL must be an http or https URL, got ".*\[redacted\]@search/)
      expect(problem).not.toContain('hunt')
    }
  })

  test('one that is unset is shown as unset', () => {
    expect(describeConfig(loadConfig({})).find(({ name }) => name === 'SESSION_SECRET')?.value).toBe('')
  })
})

test('a key of the canary that no header can have is refused, and not quoted', () => {
  const problem = 'CANARY_API_KEY must be one key: 1 to 256 visible ASCII characters'
  for (const key of ['sl_one\nsl_two', 'sl_one sl_two', 'sl_s\u00e9cret'])
    expect(problemsOf({ CANARY_API_KEY: key })).toEqual([problem])
  expect(loadConfig({ CANARY_API_KEY: 'sl_one\n' }).CANARY_API_KEY).toBe('sl_one\n')
})

test.each([' ', '\r', '\n'])('a URL is taken without the %j after it', (more) => {
  expect(loadConfig({ GATEWAY_URL: `http://gateway:8080/logs/${more}` }).GATEWAY_URL).toBe('http://gateway:8080/logs')
})

test('the description has every setting with its value, default and help', () => {
  const described = describeConfig(loadConfig({ PORT: '9000', CORS_ORIGINS: 'http://a,http://b' }))
  expect(described.map(({ name }) => name)).toEqual(Object.keys(SETTINGS))
  expect(described).toContainEqual({ name: 'PORT', value: '9000', default: '8080', help: SETTINGS.PORT.help })
  expect(described).toContainEqual(
    expect.objectContaining({ name: 'CORS_ORIGINS', value: 'http://a,http://b', default: '' }),
  )
  expect(described.every(({ help }) => help !== '')).toBe(true)
})

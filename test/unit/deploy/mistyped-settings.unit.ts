import { expect, test } from 'vitest'
import { mistypedNames } from '../../../deploy/mistyped-settings.ts'
import { SETTINGS } from '../../../shared/runtime/config-schema.ts'

test('a name that is nearly that of a setting is told, unless that is set', () => {
  const meant = (env: Record<string, string>) => mistypedNames(env).map(({ name, meant: other }) => [name, other])
  expect(meant({ KAFKA_BROKER: 'kafka:9092', LOG_LEVLE: 'debug', log_level: 'debug' })).toEqual([
    ['KAFKA_BROKER', 'KAFKA_BROKERS'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['log_level', 'LOG_LEVEL'],
  ])
  expect(meant({ KAFKA_BROKER: 'kafka:9092', KAFKA_BROKERS: 'kafka:9092' })).toEqual([])
  const others = {
    HOSTNAME: 'pod-1',
    BASE_URL: 'x',
    POST: '1',
    MAX_BATCH: '5',
    KAFKA_PORT: '1',
    NODE_OPTIONS: 'x',
    HTTP_PROXY: 'x',
  }
  expect(meant(others)).toEqual([])
  for (const name of Object.keys(SETTINGS)) expect(meant({ [name]: 'x' })).toEqual([])
  for (const name of Object.keys(SETTINGS)) expect(meant({ [`${name}_FILE`]: '/x' })).toEqual([])
})

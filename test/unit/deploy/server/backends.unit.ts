import { describe, expect, test } from 'vitest'
import { usesFiles } from '../../../../deploy/server/backends.ts'
import { ROLES, type Role } from '../../../../deploy/server/roles.ts'
import { loadConfig } from '../../../../shared/runtime/config.ts'

const KAFKA = { KAFKA_BROKERS: 'kafka:9092' }
const ELASTICSEARCH = { ELASTICSEARCH_URL: 'http://elasticsearch:9200' }

const rolesWithFiles = (env: Record<string, string>): readonly Role[] =>
  ROLES.filter((role) => usesFiles(loadConfig(env), role))

describe('files under DATA_DIR', () => {
  test.each([
    ['without servers: of every role, for the journal', {}, ROLES],
    ['with Elasticsearch alone: of every role, for the journal', ELASTICSEARCH, ROLES],
    [
      'with Kafka alone: of the roles with a log store, so of no gateway',
      KAFKA,
      ['all', 'consumers', 'views', 'watches'],
    ],
    ['with both: of none', { ...KAFKA, ...ELASTICSEARCH }, []],
  ])('%s', (_, env, roles) => {
    expect(rolesWithFiles(env)).toEqual(roles)
  })
})

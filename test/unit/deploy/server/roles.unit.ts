import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lockDataDir } from '../../../../deploy/server/data-dir-lock.ts'
import { ROLES, type Role, usesFiles } from '../../../../deploy/server/roles.ts'
import { openDatabase } from '../../../../shared/journal/sqlite/database.ts'
import { loadConfig } from '../../../../shared/runtime/config.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

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

  test('are in a folder for its owner alone, unless there was one', () => {
    const { path, remove } = temporaryFolder()
    const modeOf = (name: string): string => (statSync(join(path, name)).mode & 0o777).toString(8)
    lockDataDir(join(path, 'locked'))()
    openDatabase({ file: join(path, 'opened', 'journal.db') }).close()
    mkdirSync(join(path, 'present'), { mode: 0o755 })
    lockDataDir(join(path, 'present'))()
    expect(['locked', 'opened', 'present'].map(modeOf)).toEqual(['700', '700', '755'])
    remove()
  })
})

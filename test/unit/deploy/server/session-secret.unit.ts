import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sessionSecrets } from '../../../../deploy/server/session-secret.ts'
import { loadConfig } from '../../../../shared/runtime/config.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

let folder: ReturnType<typeof temporaryFolder>
let warned: string[]

beforeEach(() => {
  folder = temporaryFolder()
  warned = []
})
afterEach(() => folder.remove())

const secretsOf = (env: Record<string, string>) =>
  sessionSecrets(
    loadConfig({ DATA_DIR: folder.path, ...env }),
    'views',
    pino({ level: 'warn', base: { role: 'views' } }, { write: (line: string) => void warned.push(line) }),
  )!()

const secretOf = (env: Record<string, string>): string => secretsOf(env)[0]

const REAL = { KAFKA_BROKERS: 'kafka:9092', ELASTICSEARCH_URL: 'http://elasticsearch:9200' }
const file = (): string => join(folder.path, 'session-secret')

describe('the secret of sessions', () => {
  test('is the setting, and nothing is written', () => {
    const secret = 's'.repeat(32)
    expect([secretOf({ SESSION_SECRET: secret }), secretOf({ SESSION_SECRET: secret, ...REAL })]).toEqual([
      secret,
      secret,
    ])
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('may be two, of which the first one signs', () => {
    const [first, second] = ['f'.repeat(32), 's'.repeat(32)]
    expect(secretsOf({ SESSION_SECRET: ` ${first}, ${second}` })).toEqual([first, second])
    expect(() => secretsOf({ SESSION_SECRET: `${first},short` })).toThrow(
      'secrets of 32 characters or more, separated by commas',
    )
  })

  test('of the embedded mode is made once, kept with the data and readable by its owner alone', () => {
    const secret = secretOf({})
    expect(secret.length).toBeGreaterThanOrEqual(43)
    expect(secretOf({})).toBe(secret)
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    chmodSync(file(), 0o644)
    expect(secretOf({})).toBe(secret)
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(warned).toEqual([])
  })

  test('that cannot be read is refused by the name of the folder', () => {
    mkdirSync(file())
    expect(() => secretOf({})).toThrow(`DATA_DIR=${folder.path} cannot be used (EISDIR`)
  })

  // Only root can leave a file to another user.
  test.runIf(process.getuid?.() === 0)('that belongs to another user is used where it can be read', () => {
    const secret = secretOf({})
    chmodSync(folder.path, 0o755)
    chmodSync(file(), 0o644)
    process.seteuid?.(65_534)
    try {
      expect(secretOf({})).toBe(secret)
    } finally {
      process.seteuid?.(0)
    }
  })

  test('that was cut short is made anew', () => {
    writeFileSync(file(), 'short\n')
    expect(secretOf({})).toBe(readFileSync(file(), 'utf8').trim())
    expect(secretOf({})).not.toContain('short')
  })

  test('of a process without data ends with it, and its log says so', () => {
    expect(secretOf(REAL)).not.toBe(secretOf(REAL))
    expect(readdirSync(folder.path)).toEqual([])
    expect(warned).toHaveLength(2)
    expect(warned[0]).toContain('SESSION_SECRET')
    expect(warned[0]?.match(/"role":/g)).toHaveLength(1)
  })
})
